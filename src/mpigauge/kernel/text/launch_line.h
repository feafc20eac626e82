/* launch_line.h - the first line of a journal: the facts of the launch. */
#ifndef MG_LAUNCH_LINE_H
#define MG_LAUNCH_LINE_H

void mg_journal_launch(int ranks_asked); /* collective: gathers the facts of every rank */

#endif

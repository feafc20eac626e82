/* volume.h - bytes as a function of the number of ranks p and the size n of a message or block. */
#ifndef MG_VOLUME_H
#define MG_VOLUME_H

enum { MG_VOLUME_TERMS = 4 };

/* n * (terms[0] / p + terms[1] + terms[2] * p + terms[3] * p * p) */
struct mg_volume {
    double terms[MG_VOLUME_TERMS];
};

/* Per direction of a mode. */
#define MG_ONE_MESSAGE  {{0, 1, 0, 0}}
#define MG_TWO_MESSAGES {{0, 2, 0, 0}}
#define MG_ONE_EACH     {{0, 0, 1, 0}} /* one per rank */
#define MG_ONE_OF_BOTH \
    {{0, 0, 0.5, 0}} /* half of one per rank: each is sent once and received once */
#define MG_TO_OTHERS     {{0, -1, 1, 0}} /* to or from all ranks but one */
#define MG_THERE_BACK    {{0, -2, 2, 0}}
#define MG_ALL_TO_OTHERS {{0, 0, -1, 1}} /* from every rank to all others */

#endif

/* hosts.h - which ranks share a host, and a tree of two levels over them. */
#ifndef MG_HOSTS_H
#define MG_HOSTS_H

/* The leader of a host is its lowest rank.  In the tree, leaders are children of rank 0, and the
 * other ranks of a host children of its leader. */
struct mg_hosts {
    int  rank;
    int  ranks;
    int *leader_of; /* of every rank; the same on all ranks */
    int  parent;    /* -1 for rank 0 */
    int *children;
    int  children_count;
};

/* By MPI_Get_processor_name.  The first call gathers them and is collective over the world. */
const struct mg_hosts *mg_hosts(void);
void                   mg_hosts_free(void);

#endif

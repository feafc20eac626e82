/* hosts.h - which ranks share a host, and a tree of two levels over them. */
#ifndef MG_HOSTS_H
#define MG_HOSTS_H

/* The leader of a host is its lowest rank.  Leaders are the children of rank 0, the other ranks of
 * a host those of its leader. */
struct mg_hosts {
    int  rank;
    int  ranks;
    int *leader_of; /* of every rank; the same on all ranks */
    int  parent;    /* of this rank; -1 for rank 0 */
    int *children;  /* of this rank */
    int  children_count;
};

/* By the names that MPI gives to hosts, gathered once as numbers of 8 bytes.  Collective over the
 * world when it is called first. */
const struct mg_hosts *mg_hosts(void);
void                   mg_hosts_free(void);

#endif

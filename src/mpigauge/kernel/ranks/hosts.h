/* hosts.h - which ranks share a host, and a tree of two levels over them. */
#ifndef MG_HOSTS_H
#define MG_HOSTS_H

/* The leader of a host is its lowest rank.  In the tree, leaders are children of rank 0, and the
 * other ranks of a host children of its leader. */
struct mg_hosts {
    int  rank;
    int  ranks;
    int *leader_of;  /* of every rank; the same on all ranks */
    int *machine_of; /* of every rank: the lowest rank whose processors the same system schedules */
    int  parent;     /* -1 for rank 0 */
    int *children;
    int  children_count;
};

/* Hosts by MPI_Get_processor_name, machines by their boot id: emulated hosts and containers have
 * names of their own and share the processors of one machine.  The first call gathers them and is
 * collective over the world. */
const struct mg_hosts *mg_hosts(void);
void                   mg_hosts_free(void);

#endif

/* volume.h - bytes, by the number of ranks p and the bytes n of one rank's message or block. */
#ifndef MG_VOLUME_H
#define MG_VOLUME_H

enum { MG_VOLUME_TERMS = 4 };

/* n times the sum of these coefficients of 1/p, 1, p and p * p. */
struct mg_volume {
    double terms[MG_VOLUME_TERMS];
};

/* Of each direction of a mode. */
#define MG_ONE_MESSAGE   {{0, 1, 0, 0}}
#define MG_TWO_MESSAGES  {{0, 2, 0, 0}}
#define MG_ONE_EACH      {{0, 0, 1, 0}}   /* from every rank */
#define MG_ONE_OF_BOTH   {{0, 0, 0.5, 0}} /* each is one rank's out and another's in */
#define MG_TO_OTHERS     {{0, -1, 1, 0}}  /* to or from all ranks but one */
#define MG_THERE_BACK    {{0, -2, 2, 0}}
#define MG_ALL_TO_OTHERS {{0, 0, -1, 1}} /* the same for every rank */

#endif

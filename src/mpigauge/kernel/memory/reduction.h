/* reduction.h - datatypes and operations of reductions, their contributions and expected results.
 */
#ifndef MG_REDUCTION_H
#define MG_REDUCTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mg_operation {
    const char *name;
    MPI_Op      op;
};

struct mg_datatype {
    const char  *name;
    MPI_Datatype type;
    size_t       bytes;
    bool         floating; /* logical and bitwise operations need integers */
};

/* NULL if there is none of this name, or none with this index. */
const struct mg_datatype  *mg_datatype_find(const char *name);
const struct mg_operation *mg_operation_find(const char *name);
const struct mg_datatype  *mg_datatype_at(size_t i);
const struct mg_operation *mg_operation_at(size_t i);
bool mg_operation_fits(const struct mg_operation *operation, const struct mg_datatype *datatype);

/* A reduction of a visit. */
struct mg_reduction {
    int64_t                    visit;
    int                        ranks; /* that may contribute */
    const struct mg_datatype  *datatype;
    const struct mg_operation *operation;
};

/* Fills data with what `rank` contributes to a reduction. */
void mg_elements_fill(const struct mg_reduction *reduction, unsigned char *data, size_t count,
                      int rank);

/* The index in data, whose first element has number `first`, of the first element that is not the
 * reduction over `ranks` ranks from source on; count if there is none. */
size_t mg_elements_differ(const struct mg_reduction *reduction, const unsigned char *data,
                          size_t first, size_t count, int source, int ranks);

#endif

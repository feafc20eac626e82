/* reduction - the datatypes and operations that reductions may use, and what they must give.
 *
 * What a rank contributes is small whole numbers, so that every datatype holds every result exactly
 * and rounding cannot hide an error.  An element's number depends on its rank and on one of a few
 * columns, chosen anew for every element: results are known after one reduction a column. */
#include "memory/reduction.h"

#include "memory/content.h"

#include <string.h>

enum {
    COLUMNS         = 16,
    SUM_VALUES      = 4,
    EXTREMUM_VALUES = 101,
    BYTE_VALUES     = 256,
    TRUTH_VALUES    = 2,
    FACTORS         = 7, /* ranks that may contribute a 2 to a product: 128 fits every datatype */
    WIDEST          = 8,
    COLUMN_RANK     = -2, /* whose content chooses the columns: nobody's */
};

static const struct mg_datatype datatypes[] = {
    {"double", MPI_DOUBLE, 8, true},  {"float", MPI_FLOAT, 4, true},
    {"int64", MPI_INT64_T, 8, false}, {"int32", MPI_INT32_T, 4, false},
    {"uint8", MPI_UINT8_T, 1, false},
};

static const struct mg_operation operations[] = {
    {"sum", MPI_SUM}, {"prod", MPI_PROD}, {"min", MPI_MIN},   {"max", MPI_MAX}, {"land", MPI_LAND},
    {"lor", MPI_LOR}, {"lxor", MPI_LXOR}, {"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR},
};

enum { FOR_ALL_TYPES = 4 }; /* the first so many operations */

const struct mg_datatype *mg_datatype_find(const char *name)
{
    for (size_t i = 0; i < sizeof datatypes / sizeof *datatypes; i++)
        if (strcmp(datatypes[i].name, name) == 0)
            return &datatypes[i];
    return NULL;
}

const struct mg_operation *mg_operation_find(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

bool mg_operation_fits(const struct mg_operation *operation, const struct mg_datatype *datatype)
{
    return !datatype->floating || operation - operations < FOR_ALL_TYPES;
}

const struct mg_datatype *mg_datatype_at(size_t i)
{
    return i < sizeof datatypes / sizeof *datatypes ? &datatypes[i] : NULL;
}

const struct mg_operation *mg_operation_at(size_t i)
{
    return i < sizeof operations / sizeof *operations ? &operations[i] : NULL;
}

/* ---- Contributions --------------------------------------------------------------------------- */

/* What a rank contributes to the elements of a column. */
static int64_t contribution(const struct mg_reduction *reduction, int column, int rank)
{
    const uint64_t draw = mg_content_word(reduction->visit + 1, rank, (size_t) column);
    const MPI_Op   op   = reduction->operation->op;

    if (op == MPI_SUM)
        return (int64_t) (draw % SUM_VALUES);
    if (op == MPI_PROD)
        return rank < FACTORS ? 1 + (int64_t) (draw % 2) : 1;
    if (op == MPI_MIN || op == MPI_MAX)
        return (int64_t) (draw % EXTREMUM_VALUES);
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return (int64_t) (draw % BYTE_VALUES);
    return (int64_t) (draw % TRUTH_VALUES);
}

static int64_t combine(MPI_Op op, int64_t a, int64_t b)
{
    if (op == MPI_SUM)
        return a + b;
    if (op == MPI_PROD)
        return a * b;
    if (op == MPI_MIN)
        return a < b ? a : b;
    if (op == MPI_MAX)
        return a > b ? a : b;
    if (op == MPI_LAND)
        return a && b;
    if (op == MPI_LOR)
        return a || b;
    if (op == MPI_LXOR || op == MPI_BXOR)
        return a ^ b;
    return op == MPI_BAND ? (a & b) : (a | b);
}

static int column_of(const struct mg_reduction *reduction, size_t element)
{
    return (int) (mg_content_word(reduction->visit, COLUMN_RANK, element) % COLUMNS);
}

/* A number as the datatype stores it; whole numbers wrap around as they do in MPI. */
static void encode(const struct mg_datatype *datatype, int64_t value, unsigned char *bytes)
{
    const double  as_double = (double) value;
    const float   as_float  = (float) value;
    const int32_t as_int32  = (int32_t) (uint32_t) (uint64_t) value;
    const uint8_t as_uint8  = (uint8_t) (uint64_t) value;

    if (datatype->type == MPI_DOUBLE)
        memcpy(bytes, &as_double, sizeof as_double);
    else if (datatype->type == MPI_FLOAT)
        memcpy(bytes, &as_float, sizeof as_float);
    else if (datatype->type == MPI_INT64_T)
        memcpy(bytes, &value, sizeof value);
    else if (datatype->type == MPI_INT32_T)
        memcpy(bytes, &as_int32, sizeof as_int32);
    else
        memcpy(bytes, &as_uint8, sizeof as_uint8);
}

/* The columns of a reduction over some ranks, as they are stored. */
static void take_columns(const struct mg_reduction *reduction, int source, int ranks,
                         unsigned char columns[COLUMNS][WIDEST])
{
    for (int column = 0; column < COLUMNS; column++) {
        int64_t value = contribution(reduction, column, source);

        for (int rank = source + 1; rank < source + ranks; rank++)
            value = combine(reduction->operation->op, value, contribution(reduction, column, rank));
        encode(reduction->datatype, value, columns[column]);
    }
}

void mg_elements_fill(const struct mg_reduction *reduction, unsigned char *data, size_t count,
                      int rank)
{
    const size_t  width = reduction->datatype->bytes;
    unsigned char columns[COLUMNS][WIDEST];

    take_columns(reduction, rank, 1, columns);
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * width, columns[column_of(reduction, i)], width);
}

size_t mg_elements_differ(const struct mg_reduction *reduction, const unsigned char *data,
                          size_t first, size_t count, int source, int ranks)
{
    const size_t  width = reduction->datatype->bytes;
    unsigned char columns[COLUMNS][WIDEST];

    take_columns(reduction, source, ranks, columns);
    for (size_t i = 0; i < count; i++)
        if (memcmp(data + i * width, columns[column_of(reduction, first + i)], width) != 0)
            return i;
    return count;
}

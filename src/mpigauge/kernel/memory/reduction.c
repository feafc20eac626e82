/* reduction - datatypes and operations of reductions, their contributions and expected results.
 *
 * Contributions are small integers, so that every datatype holds every result exactly and rounding
 * cannot hide an error.  For sums, products and exclusive ors a contribution depends on the rank
 * and on one of a few columns, chosen at random per element, so that expected results take one
 * reduction per column.  The other operations would give the same result for nearly all random
 * contributions: so each element has one rank, its decider, whose contribution is the result. */
#include "memory/reduction.h"

#include "memory/content.h"

#include <string.h>

enum {
    COLUMNS      = 16,
    SUM_VALUES   = 4,
    VALUES       = 256, /* contributions and results are below it, except for sums */
    EXTREMUM_MAX = 100,
    BYTE_MAX     = 255,
    TRUTH_VALUES = 2,
    FACTORS      = 7, /* ranks that may contribute 2 to a product: 128 fits every datatype */
    WIDEST       = 8,
    COLUMN_RANK  = -2, /* no rank: seeds the choice of columns and of deciders */
    DECIDER_RANK = -3,
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

/* Operations that give the same result for nearly all random contributions. */
static bool has_decider(MPI_Op op)
{
    return op == MPI_MIN || op == MPI_MAX || op == MPI_LAND || op == MPI_LOR || op == MPI_BAND ||
           op == MPI_BOR;
}

/* The neutral element of such an operation. */
static int64_t neutral_of(MPI_Op op)
{
    if (op == MPI_MIN)
        return EXTREMUM_MAX;
    if (op == MPI_LAND)
        return 1;
    if (op == MPI_BAND)
        return BYTE_MAX;
    return 0;
}

/* What a rank contributes to the elements of a column. */
static int64_t contribution(const struct mg_reduction *reduction, int column, int rank)
{
    const uint64_t draw = mg_content_word(reduction->visit + 1, rank, (size_t) column);
    const MPI_Op   op   = reduction->operation->op;

    if (op == MPI_SUM)
        return (int64_t) (draw % SUM_VALUES);
    if (op == MPI_PROD)
        return rank < FACTORS ? 1 + (int64_t) (draw % 2) : 1;
    return (int64_t) (draw % (op == MPI_BXOR ? BYTE_MAX + 1 : TRUTH_VALUES));
}

static int64_t combine(MPI_Op op, int64_t a, int64_t b)
{
    if (op == MPI_SUM)
        return a + b;
    return op == MPI_PROD ? a * b : (a ^ b);
}

static int column_of(const struct mg_reduction *reduction, size_t element)
{
    return (int) (mg_content_word(reduction->visit, COLUMN_RANK, element) % COLUMNS);
}

/* Stores a number as the datatype; integers wrap around as in MPI. */
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

/* The result of each column over some ranks, as stored. */
static void take_columns(const struct mg_reduction *reduction, int source, int ranks,
                         unsigned char columns[][WIDEST])
{
    for (int column = 0; column < COLUMNS; column++) {
        int64_t value = contribution(reduction, column, source);

        for (int rank = source + 1; rank < source + ranks; rank++)
            value = combine(reduction->operation->op, value, contribution(reduction, column, rank));
        encode(reduction->datatype, value, columns[column]);
    }
}

/* ---- Elements that one rank decides ---- */

/* All small integers, as stored. */
static void take_values(const struct mg_reduction *reduction, unsigned char values[VALUES][WIDEST])
{
    for (int value = 0; value < VALUES; value++)
        encode(reduction->datatype, value, values[value]);
}

/* The result of an element over some ranks: the decider's contribution if it is one of them. */
static int64_t decided(const struct mg_reduction *reduction, size_t element, int source, int ranks)
{
    const MPI_Op   op      = reduction->operation->op;
    const int64_t  neutral = neutral_of(op);
    const uint64_t draw    = mg_content_word(reduction->visit, DECIDER_RANK, element);
    const int      decider = (int) (draw % (uint64_t) reduction->ranks);
    const uint64_t value   = draw >> 32;

    if (decider < source || decider >= source + ranks)
        return neutral;
    if (op == MPI_MIN || op == MPI_MAX)
        return (int64_t) (value % (EXTREMUM_MAX + 1));
    return (int64_t) (value % (op == MPI_BAND || op == MPI_BOR ? BYTE_MAX + 1 : TRUTH_VALUES));
}

/* ---- Both ---- */

/* All values that an element may have, as stored. */
struct table {
    bool          by_decider;
    unsigned char values[VALUES][WIDEST];
};

static void make_table(const struct mg_reduction *reduction, int source, int ranks,
                       struct table *table)
{
    table->by_decider = has_decider(reduction->operation->op);
    if (table->by_decider)
        take_values(reduction, table->values);
    else
        take_columns(reduction, source, ranks, table->values);
}

static const unsigned char *element_of(const struct mg_reduction *reduction,
                                       const struct table *table, size_t element, int source,
                                       int ranks)
{
    return table->values[table->by_decider ? decided(reduction, element, source, ranks)
                                           : column_of(reduction, element)];
}

void mg_elements_fill(const struct mg_reduction *reduction, unsigned char *data, size_t count,
                      int rank)
{
    const size_t width = reduction->datatype->bytes;
    struct table table;

    make_table(reduction, rank, 1, &table);
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * width, element_of(reduction, &table, i, rank, 1), width);
}

size_t mg_elements_differ(const struct mg_reduction *reduction, const unsigned char *data,
                          size_t first, size_t count, int source, int ranks)
{
    const size_t width = reduction->datatype->bytes;
    struct table table;

    make_table(reduction, source, ranks, &table);
    for (size_t i = 0; i < count; i++)
        if (memcmp(data + i * width, element_of(reduction, &table, first + i, source, ranks),
                   width) != 0)
            return i;
    return count;
}

/* type_commit - a datatype for a payload in blocks is made, committed and freed: what
 * MPI_Type_create_* is told is worked out before. */
#include "patterns/blocks.h"
#include "rounds/sampling.h"

static struct {
    const struct mg_layout *layout;
    struct mg_shape         shape;
} own;

static MPI_Datatype committed(const struct mg_state *state)
{
    MPI_Datatype type = own.layout->type(state, &own.shape);

    MG_MPI(MPI_Type_commit(&type));
    return type;
}

static void call(struct mg_state *state)
{
    MPI_Datatype type = committed(state);

    MG_MPI(MPI_Type_free(&type));
}

static void begin(const struct mg_state *state, const struct mg_layout *layout)
{
    own.layout = layout;
    own.shape  = mg_shape_of(state, layout);
}

static void finish(struct mg_state *state)
{
    (void) state;
    mg_free_shape(&own.shape);
}

static const char *refuse(const struct mg_mode *mode, const struct mg_state *state)
{
    struct mg_state tried = *state;

    mode->begin(&tried);
    MPI_Datatype type = committed(&tried);
    const char  *why  = mg_wrong_type(&tried, own.layout, type);
    MG_MPI(MPI_Type_free(&type));
    mode->finish(&tried);
    return why;
}

MG_BEGIN_OF_EACH_LAYOUT

#define MADE(word, words, begins, ...)                          \
    {.name       = (word),                                      \
     .about      = words ", MPI_Type_commit and MPI_Type_free", \
     .begin      = (begins),                                    \
     .call       = call,                                        \
     .finish     = finish,                                      \
     .directions = 1,                                           \
     __VA_ARGS__}

const struct mg_pattern mg_type_commit = {
    .name         = "type_commit",
    .about        = "a datatype for a payload in blocks is made, committed and freed",
    .time_of      = "all calls that make, commit and free one datatype",
    .family       = MG_STARTUP,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 1,
    .active_ranks = 1,
    .trips        = 1,
    .unit_bytes   = 1,
    .moves_bytes  = true,
    .no_rate      = true,
    .counts_int   = true,
    .refuse       = refuse,
    .modes        = MG_MODES(
        MADE("derived", "MPI_Type_create_hvector", vector_begin, .strided = true),
        MADE("elements", "MPI_Type_create_resized", elements_begin, .strided = true),
        MADE("struct", "MPI_Type_create_struct, MPI_Type_create_resized", struct_begin,
             .unit_bytes = MG_PARTICLE_BYTES),
        MADE("indexed", "MPI_Type_indexed", indexed_begin, .unit_bytes = MG_WORD_BYTES),
        MADE("subarray-x", "MPI_Type_create_subarray", x_begin, .unit_bytes = MG_WORD_BYTES),
        MADE("subarray-y", "MPI_Type_create_subarray", y_begin, .unit_bytes = MG_WORD_BYTES),
        MADE("subarray-z", "MPI_Type_create_subarray", z_begin, .unit_bytes = MG_WORD_BYTES)),
};

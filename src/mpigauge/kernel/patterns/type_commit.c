/* type_commit - a datatype for a payload in blocks is made, committed and freed: what
 * MPI_Type_create_* is told is worked out before. */
#include "patterns/blocks.h"
#include "patterns/calls.h"
#include "rounds/sampling.h"

#include <string.h>

struct own {
    const struct mg_layout *layout;
    struct mg_shape         shape;
};

static struct own *own_of(const struct mg_state *state)
{
    return (struct own *) state->own;
}

static MPI_Datatype committed(const struct mg_state *state)
{
    MPI_Datatype type = own_of(state)->layout->type(state, &own_of(state)->shape);

    MG_MPI(MPI_Type_commit(&type));
    return type;
}

static void call(struct mg_state *state)
{
    MPI_Datatype type = committed(state);

    MG_MPI(MPI_Type_free(&type));
}

static void begin(struct mg_state *state, const struct mg_layout *layout)
{
    struct own *own = (struct own *) mg_kept(state, sizeof *own);

    own->layout = layout;
    own->shape  = mg_shape_of(state, layout);
}

static void finish(struct mg_state *state)
{
    mg_free_shape(&own_of(state)->shape);
}

static const char *refuse(const struct mg_mode *mode, const struct mg_state *state)
{
    union mg_room   room;
    struct mg_state tried = *state;

    tried.room = &room;

    mode->begin(&tried);
    MPI_Datatype type = committed(&tried);
    const char  *why  = mg_wrong_type(&tried, own_of(&tried)->layout, type);
    MG_MPI(MPI_Type_free(&type));
    mode->finish(&tried);
    return why;
}

/* The payload, spread into scratch memory, and as MPI packs it from there; to be freed. */
static unsigned char *packed(const struct mg_state *state)
{
    MPI_Datatype type  = committed(state);
    const int    count = own_of(state)->layout->count(state);
    int          most  = 0;
    int          at    = 0;

    for (struct mg_block block = {0}; mg_next_block(state, own_of(state)->layout, &block);)
        memcpy(state->scratch + block.at, state->send + block.from, block.bytes);
    MG_MPI(MPI_Pack_size(count, type, state->comm, &most));
    unsigned char *bytes = calloc((size_t) most + 1, 1);
    if (bytes == NULL)
        MG_DIE("no memory for a packed payload of %d B", most);
    MG_MPI(MPI_Pack(state->scratch, count, type, bytes, most, &at, state->comm));
    MG_MPI(MPI_Type_free(&type));
    return bytes;
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    size_t at = 0;

    own_of(state)->shape = mg_shape_of(state, own_of(state)->layout);
    unsigned char *bytes = packed(state);
    mg_free_shape(&own_of(state)->shape);
    while (at < state->bytes && bytes[at] == state->send[at])
        at++;
    if (at < state->bytes)
        (void) snprintf(
            error, error_bytes,
            "the datatype has another layout: byte %zu of its payload is 0x%02x instead "
            "of 0x%02x",
            at, bytes[at], state->send[at]);
    free(bytes);
    return at == state->bytes;
}

MG_BEGIN_OF_EACH_LAYOUT

#define A_BOX {{0, MG_BOX_DEPTH, 0, 0}}

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
    .check        = check,
    .modes =
        MG_MODES(MADE("derived", "MPI_Type_create_hvector", vector_begin, .strided = true,
                      .scratch = MG_ONE_MESSAGE),
                 MADE("elements", "MPI_Type_create_resized", elements_begin, .strided = true,
                      .scratch = MG_ONE_MESSAGE),
                 MADE("struct", "MPI_Type_create_struct, MPI_Type_create_resized", struct_begin,
                      .unit_bytes = MG_PARTICLE_BYTES, .scratch = MG_TWO_MESSAGES),
                 MADE("indexed", "MPI_Type_indexed", indexed_begin, .unit_bytes = MG_WORD_BYTES,
                      .scratch = MG_TWO_MESSAGES),
                 MADE("subarray-x", "MPI_Type_create_subarray", x_begin,
                      .unit_bytes = MG_WORD_BYTES, .scratch = A_BOX),
                 MADE("subarray-y", "MPI_Type_create_subarray", y_begin,
                      .unit_bytes = MG_WORD_BYTES, .scratch = A_BOX),
                 MADE("subarray-z", "MPI_Type_create_subarray", z_begin,
                      .unit_bytes = MG_WORD_BYTES, .scratch = A_BOX)),
};

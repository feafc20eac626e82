/* layout - a ping-pong of a payload that lies in blocks with gaps between them: described by a
 * datatype, packed by MPI, or copied by hand; and as one block, to compare with.
 *
 * The payload is spread into scratch memory in begin and collected from there in finish, both
 * untimed.  What lies between the blocks must be unchanged when it was received around. */
#include "memory/plain_copy.h"
#include "patterns/blocks.h"
#include "patterns/calls.h"
#include "rounds/sampling.h"

#include <string.h>

enum {
    GAP        = 0x5a, /* what lies between blocks */
    LINE_BYTES = 64,
    LONG_BYTES = 128, /* from here on a block is copied by a function */
};

struct own {
    const struct mg_layout *layout;
    MPI_Datatype            type;
    int                     count;
    unsigned char          *out; /* spread payloads, ... */
    unsigned char          *in;
    unsigned char          *packed_out; /* ... and packed ones */
    unsigned char          *packed_in;
    size_t                  room;         /* of each of them */
    int                     packed_bytes; /* what MPI says that a packed payload may take */
};

/* NULL: one block */
static struct own *own_of(const struct mg_state *state)
{
    return (struct own *) state->own;
}

/* ---- Spread and collected -------------------------------------------------------------------- */

static void spread(const struct mg_state *state)
{
    const struct own *own = own_of(state);

    for (struct mg_block block = {0}; mg_next_block(state, own->layout, &block);)
        memcpy(own->out + block.at, state->send + block.from, block.bytes);
}

static void collect(const struct mg_state *state)
{
    const struct own *own = own_of(state);

    for (struct mg_block block = {0}; mg_next_block(state, own->layout, &block);)
        memcpy(state->recv + block.from, own->in + block.at, block.bytes);
}

static void begin(struct mg_state *state, const struct mg_layout *layout)
{
    struct own *own = (struct own *) mg_kept(state, sizeof *own);

    own->layout     = layout;
    own->room       = (layout->extent(state) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    own->out        = state->scratch;
    own->in         = own->out + own->room;
    own->packed_out = own->in + own->room;
    own->packed_in  = own->packed_out + own->room;
    memset(own->out, GAP, 2 * own->room);
    spread(state);
    struct mg_shape shape = mg_shape_of(state, layout);

    own->type  = layout->type(state, &shape);
    own->count = layout->count(state);
    mg_free_shape(&shape);
    MG_MPI(MPI_Type_commit(&own->type));
    MG_MPI(MPI_Pack_size(own->count, own->type, state->comm, &own->packed_bytes));
}

static void finish(struct mg_state *state)
{
    MG_MPI(MPI_Type_free(&own_of(state)->type));
    collect(state);
}

/* Whether the bytes of what was received are a gap that nobody has written. */
static bool is_gap(const struct mg_state *state, size_t from, size_t end, const char *where,
                   char *error, size_t error_bytes)
{
    const unsigned char *in = own_of(state)->in;

    while (from < end && in[from] == GAP)
        from++;
    if (from < end)
        (void) snprintf(error, error_bytes, "rank %d received 0x%02x at byte %zu, which lies %s",
                        state->rank, in[from], from, where);
    return from >= end;
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    const struct own *own    = own_of(state);
    size_t            behind = 0; /* the last block */

    if (own == NULL)
        return true;
    for (struct mg_block block = {0}; mg_next_block(state, own->layout, &block);
         behind                = block.at + block.bytes)
        if (!is_gap(state, behind, block.at, "between two blocks", error, error_bytes))
            return false;
    return is_gap(state, behind, own->room, "behind the last block", error, error_bytes);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

MG_BEGIN_OF_EACH_LAYOUT

/* ---- Sent ------------------------------------------------------------------------------------ */

#define PING_PONG(name, sending, receiving) MG_PING_PONG(name, sending(state), receiving(state))

static inline void send_block(const struct mg_state *state)
{
    mg_send(state, mg_other(state));
}

static inline void recv_block(const struct mg_state *state)
{
    mg_recv(state, mg_other(state));
}

static inline void send_typed(const struct mg_state *state)
{
    MG_MPI(MPI_Send(own_of(state)->out, own_of(state)->count, own_of(state)->type, mg_other(state),
                    MG_TAG, state->comm));
}

static inline void recv_typed(const struct mg_state *state)
{
    MG_MPI(MPI_Recv(own_of(state)->in, own_of(state)->count, own_of(state)->type, mg_other(state),
                    MG_TAG, state->comm, MPI_STATUS_IGNORE));
}

static inline void send_packed(const struct mg_state *state)
{
    int packed = 0;

    MG_MPI(MPI_Pack(own_of(state)->out, own_of(state)->count, own_of(state)->type,
                    own_of(state)->packed_out, own_of(state)->packed_bytes, &packed, state->comm));
    MG_MPI(MPI_Send(own_of(state)->packed_out, packed, MPI_PACKED, mg_other(state), MG_TAG,
                    state->comm));
}

static inline void recv_packed(const struct mg_state *state)
{
    int unpacked = 0;

    MG_MPI(MPI_Recv(own_of(state)->packed_in, own_of(state)->packed_bytes, MPI_PACKED,
                    mg_other(state), MG_TAG, state->comm, MPI_STATUS_IGNORE));
    MG_MPI(MPI_Unpack(own_of(state)->packed_in, own_of(state)->packed_bytes, &unpacked,
                      own_of(state)->in, own_of(state)->count, own_of(state)->type, state->comm));
}

/* May alias whatever type the memory was written as. */
typedef uint64_t word __attribute__((may_alias));

static inline void copy_words(unsigned char *to, const unsigned char *from, size_t bytes)
{
    const word *words = (const word *) (const void *) from;
    word       *out   = (word *) (void *) to;

    for (size_t i = 0; i < bytes / sizeof *words; i++)
        out[i] = words[i];
}

/* The loop that a program would have, over blocks at two distances. */
static void copy_blocks(const struct mg_state *state, unsigned char *to, size_t to_step,
                        const unsigned char *from, size_t from_step)
{
    const size_t block  = state->block_bytes;
    const size_t blocks = mg_blocks_of(state);

    if (!mg_in_words(state))
        for (size_t i = 0; i < blocks; i++)
            memcpy(to + i * to_step, from + i * from_step, block);
    else if (block == MG_WORD_BYTES)
        for (size_t i = 0; i < blocks; i++)
            copy_words(to + i * to_step, from + i * from_step, MG_WORD_BYTES);
    else if (block < LONG_BYTES)
        for (size_t i = 0; i < blocks; i++)
            copy_words(to + i * to_step, from + i * from_step, block);
    else
        for (size_t i = 0; i < blocks; i++)
            mg_copy_o3(to + i * to_step, from + i * from_step, block);
}

static inline void send_copied(const struct mg_state *state)
{
    copy_blocks(state, own_of(state)->packed_out, state->block_bytes, own_of(state)->out,
                state->stride_bytes);
    MG_MPI(MPI_Send(own_of(state)->packed_out, (int) state->bytes, MPI_BYTE, mg_other(state),
                    MG_TAG, state->comm));
}

static inline void recv_copied(const struct mg_state *state)
{
    MG_MPI(MPI_Recv(own_of(state)->packed_in, (int) state->bytes, MPI_BYTE, mg_other(state), MG_TAG,
                    state->comm, MPI_STATUS_IGNORE));
    copy_blocks(state, own_of(state)->in, state->stride_bytes, own_of(state)->packed_in,
                state->block_bytes);
}

PING_PONG(contiguous, send_block, recv_block)
PING_PONG(typed, send_typed, recv_typed)
PING_PONG(packed, send_packed, recv_packed)
PING_PONG(manual, send_copied, recv_copied)

/* ---- What cannot be measured ----------------------------------------------------------------- */

static const char *wrong_type(const struct mg_mode *mode, const struct mg_state *state)
{
    const struct own *own = own_of(state);
    const char       *why = mg_wrong_type(state, own->layout, own->type);

    if (why != NULL || mode->call != packed)
        return why;
    if (own->packed_bytes < 0 || (size_t) own->packed_bytes < state->bytes)
        return "an int cannot count the bytes that MPI_Pack makes of a payload of this size";
    return (size_t) own->packed_bytes <= own->room
               ? NULL
               : "this MPI library packs a payload into more than the memory it lies in";
}

static const char *refuse(const struct mg_mode *mode, const struct mg_state *state)
{
    union mg_room   room;
    struct mg_state tried = *state;

    tried.room = &room;

    if (mode->begin == NULL)
        return NULL;
    mode->begin(&tried);
    const char *why = wrong_type(mode, &tried);
    mode->finish(&tried);
    return why;
}

/* Spread twice, with gaps as large as they may be for the mode. */
#define TWO_PARTICLES {{0, 3, 0, 0}}
#define TWO_DOUBLED   {{0, 4, 0, 0}}
#define TWO_BOXES     {{0, 16, 0, 0}}
/* Spread twice and packed twice. */
#define FOUR_SPREAD {{0, 4, 0, 0}}

/* A mode that sends a datatype. */
#define TYPED(word, words, begins, ...) \
    {.name          = (word),           \
     .about         = words,            \
     .begin         = (begins),         \
     .call          = typed,            \
     .finish        = finish,           \
     .source        = mg_other,         \
     .directions    = 1,                \
     .binds_buffers = true,             \
     __VA_ARGS__}

const struct mg_pattern mg_layout = {
    .name         = "layout",
    .about        = "a payload in blocks with gaps, there and back between ranks 0 and 1",
    .time_of      = "one way: half a round trip, with packing and unpacking",
    .family       = MG_MESSAGE,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 2,
    .unit_bytes   = 1,
    .sizes_usual  = "64,4KiB,64KiB,1MiB",
    .moves_bytes  = true,
    .counts_int   = true,
    .wire         = MG_ONE_MESSAGE,
    .refuse       = refuse,
    .check        = check,
    .modes        = MG_MODES(
        {.name          = "contiguous",
         .about         = "one block without gaps: what the others are compared with",
         .call          = contiguous,
         .source        = mg_other,
         .directions    = 1,
         .binds_buffers = true},
        TYPED("derived", "MPI_Send and MPI_Recv of one element of MPI_Type_create_hvector",
              vector_begin, .strided = true, .beside_first = true, .scratch = MG_TWO_MESSAGES),
        TYPED("elements", "MPI_Send and MPI_Recv of as many elements of MPI_Type_create_resized",
              elements_begin, .strided = true, .scratch = MG_TWO_MESSAGES),
        {.name          = "pack",
         .about         = "MPI_Pack, MPI_Send, MPI_Recv, MPI_Unpack",
         .begin         = vector_begin,
         .call          = packed,
         .finish        = finish,
         .source        = mg_other,
         .directions    = 1,
         .binds_buffers = true,
         .beside_first  = true,
         .instead_of    = "derived",
         .strided       = true,
         .scratch       = FOUR_SPREAD},
        {.name          = "manual",
         .about         = "a loop that copies the blocks, MPI_Send, MPI_Recv, a loop "
                          "that copies them back",
         .begin         = vector_begin,
         .call          = manual,
         .finish        = finish,
         .source        = mg_other,
         .directions    = 1,
         .binds_buffers = true,
         .beside_first  = true,
         .by_hand       = true,
         .strided       = true,
         .scratch       = FOUR_SPREAD},
        TYPED("struct", "elements of MPI_Type_create_struct: int, double, float", struct_begin,
              .unit_bytes = MG_PARTICLE_BYTES, .scratch = TWO_PARTICLES),
        TYPED("indexed",
              "MPI_Type_indexed: blocks of 1 to 16 doubles, each before a gap of its "
              "size",
              indexed_begin, .unit_bytes = MG_WORD_BYTES, .scratch = TWO_DOUBLED),
        TYPED("subarray-x",
              "MPI_Type_create_subarray: a face across the fastest dimension of a "
              "box, single doubles",
              x_begin, .unit_bytes = MG_WORD_BYTES, .scratch = TWO_BOXES),
        TYPED("subarray-y", "MPI_Type_create_subarray: a face across the middle dimension, rows",
              y_begin, .unit_bytes = MG_WORD_BYTES, .scratch = TWO_BOXES),
        TYPED("subarray-z",
              "MPI_Type_create_subarray: a face across the slowest dimension, one "
              "block",
              z_begin, .unit_bytes = MG_WORD_BYTES, .scratch = TWO_BOXES)),
};

/* layout - a ping-pong of a payload that lies in blocks with gaps between them: described by a
 * datatype, packed by MPI, or copied by hand; and as one block, to compare with.
 *
 * The payload is spread into scratch memory in begin and collected from there in finish, both
 * untimed.  What lies between the blocks must be unchanged when it was received around. */
#include "memory/plain_copy.h"
#include "patterns/calls.h"
#include "rounds/sampling.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAP          = 0x5a, /* what lies between blocks */
    LINE_BYTES   = 64,
    WORD_BYTES   = 8,
    LONG_BYTES   = 128, /* from here on a block is copied by a function */
    INDEXED_MOST = 16,  /* words of a block of mode `indexed` */
    BOX_DEPTH    = 8,   /* of the box whose face is sent, in words */
    FACE_AT      = 1,   /* the layer that is sent: next to the one that a halo receives */
};

/* Block i of a layout: where it lies, where it begins in the payload, and its size. */
struct block {
    size_t i;
    size_t at;
    size_t from;
    size_t bytes;
};

struct layout {
    size_t (*extent)(const struct mg_state *state); /* from the first byte to behind the last */
    /* Sets `at` and `bytes` of block i, whose i and from are set. */
    void (*place)(const struct mg_state *state, struct block *block);
    MPI_Datatype (*type)(const struct mg_state *state);
    int (*count)(const struct mg_state *state); /* of the datatype, which has the whole payload */
};

static struct {
    const struct layout *layout; /* NULL: one block */
    MPI_Datatype         type;
    int                  count;
    unsigned char       *out; /* spread payloads, ... */
    unsigned char       *in;
    unsigned char       *packed_out; /* ... and packed ones */
    unsigned char       *packed_in;
    size_t               room; /* of each of them */
} own;

static int other(const struct mg_state *state)
{
    return 1 - state->rank;
}

static int one(const struct mg_state *state)
{
    (void) state;
    return 1;
}

/* ---- Spread and collected -------------------------------------------------------------------- */

/* Moves on to the next block, from {0} to the first; false after the last. */
static bool next(const struct mg_state *state, struct block *block)
{
    const bool   begun = block->bytes > 0;
    struct block after = {.i = begun ? block->i + 1 : 0, .from = block->from + block->bytes};

    if (after.from >= state->bytes)
        return false;
    own.layout->place(state, &after);
    *block = after;
    return true;
}

static void spread(const struct mg_state *state)
{
    for (struct block block = {0}; next(state, &block);)
        memcpy(own.out + block.at, state->send + block.from, block.bytes);
}

static void collect(const struct mg_state *state)
{
    for (struct block block = {0}; next(state, &block);)
        memcpy(state->recv + block.from, own.in + block.at, block.bytes);
}

static void begin(struct mg_state *state, const struct layout *layout)
{
    own.layout     = layout;
    own.room       = (layout->extent(state) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    own.out        = state->scratch;
    own.in         = own.out + own.room;
    own.packed_out = own.in + own.room;
    own.packed_in  = own.packed_out + own.room;
    memset(own.out, GAP, 2 * own.room);
    spread(state);
    own.type  = layout->type(state);
    own.count = layout->count(state);
    MG_MPI(MPI_Type_commit(&own.type));
}

static void finish(struct mg_state *state)
{
    MG_MPI(MPI_Type_free(&own.type));
    collect(state);
}

/* The first byte of a gap that was written, or `end`. */
static size_t first_written(size_t from, size_t end)
{
    while (from < end && own.in[from] == GAP)
        from++;
    return from;
}

static bool check(const struct mg_state *state, char *error, size_t error_bytes)
{
    size_t behind = 0; /* the last block */

    if (own.layout == NULL)
        return true;
    for (struct block block = {0}; next(state, &block); behind = block.at + block.bytes) {
        const size_t at = first_written(behind, block.at);

        if (at < block.at) {
            (void) snprintf(error, error_bytes,
                            "rank %d received 0x%02x at byte %zu, which lies between two blocks",
                            state->rank, own.in[at], at);
            return false;
        }
    }
    return true;
}

/* ---- Blocks of one size ---------------------------------------------------------------------- */

static size_t blocks_of(const struct mg_state *state)
{
    return state->bytes / state->block_bytes;
}

static size_t strided_extent(const struct mg_state *state)
{
    return (blocks_of(state) - 1) * state->stride_bytes + state->block_bytes;
}

static void strided_place(const struct mg_state *state, struct block *block)
{
    block->at    = block->i * state->stride_bytes;
    block->bytes = state->block_bytes;
}

static bool in_words(const struct mg_state *state)
{
    return state->block_bytes % WORD_BYTES == 0 && state->stride_bytes % WORD_BYTES == 0;
}

/* As programs would: of doubles where there are whole ones. */
static MPI_Datatype element_of(const struct mg_state *state)
{
    return in_words(state) ? MPI_DOUBLE : MPI_BYTE;
}

static int elements_of_block(const struct mg_state *state)
{
    return (int) (state->block_bytes / (in_words(state) ? WORD_BYTES : 1));
}

static MPI_Datatype vector_type(const struct mg_state *state)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;

    MG_MPI(MPI_Type_create_hvector((int) blocks_of(state), elements_of_block(state),
                                   (MPI_Aint) state->stride_bytes, element_of(state), &type));
    return type;
}

static MPI_Datatype block_type(const struct mg_state *state)
{
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Datatype type  = MPI_DATATYPE_NULL;

    MG_MPI(MPI_Type_contiguous(elements_of_block(state), element_of(state), &block));
    MG_MPI(MPI_Type_create_resized(block, 0, (MPI_Aint) state->stride_bytes, &type));
    MG_MPI(MPI_Type_free(&block));
    return type;
}

static int block_count(const struct mg_state *state)
{
    return (int) blocks_of(state);
}

static const struct layout vector   = {strided_extent, strided_place, vector_type, one};
static const struct layout elements = {strided_extent, strided_place, block_type, block_count};

static void vector_begin(struct mg_state *state)
{
    begin(state, &vector);
}

static void elements_begin(struct mg_state *state)
{
    begin(state, &elements);
}

/* ---- Other layouts --------------------------------------------------------------------------- */

struct particle {
    int    kind;
    double mass;
    float  charge;
};

enum { PARTICLE_BYTES = sizeof(int) + sizeof(double) + sizeof(float), PARTICLE_MEMBERS = 3 };

static const size_t member_at[PARTICLE_MEMBERS]    = {offsetof(struct particle, kind),
                                                      offsetof(struct particle, mass),
                                                      offsetof(struct particle, charge)};
static const size_t member_bytes[PARTICLE_MEMBERS] = {sizeof(int), sizeof(double), sizeof(float)};

static int particles_of(const struct mg_state *state)
{
    return (int) (state->bytes / PARTICLE_BYTES);
}

static size_t struct_extent(const struct mg_state *state)
{
    return (size_t) particles_of(state) * sizeof(struct particle);
}

static void struct_place(const struct mg_state *state, struct block *block)
{
    (void) state;
    block->at    = block->i / PARTICLE_MEMBERS * sizeof(struct particle) +
                   member_at[block->i % PARTICLE_MEMBERS];
    block->bytes = member_bytes[block->i % PARTICLE_MEMBERS];
}

static MPI_Datatype struct_type(const struct mg_state *state)
{
    const int          lengths[PARTICLE_MEMBERS] = {1, 1, 1};
    const MPI_Datatype types[PARTICLE_MEMBERS]   = {MPI_INT, MPI_DOUBLE, MPI_FLOAT};
    MPI_Aint           places[PARTICLE_MEMBERS];
    MPI_Datatype       members = MPI_DATATYPE_NULL;
    MPI_Datatype       type    = MPI_DATATYPE_NULL;

    (void) state;
    for (int i = 0; i < PARTICLE_MEMBERS; i++)
        places[i] = (MPI_Aint) member_at[i];
    MG_MPI(MPI_Type_create_struct(PARTICLE_MEMBERS, lengths, places, types, &members));
    MG_MPI(MPI_Type_create_resized(members, 0, sizeof(struct particle), &type));
    MG_MPI(MPI_Type_free(&members));
    return type;
}

static const struct layout particles = {struct_extent, struct_place, struct_type, particles_of};

static void struct_begin(struct mg_state *state)
{
    begin(state, &particles);
}

/* Blocks of 1 to 16 words, by chance but always the same; a gap as long as its block follows. */
static size_t indexed_words(size_t i)
{
    uint64_t word = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    word ^= word >> 29;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t) (word >> 60) % INDEXED_MOST + 1;
}

static size_t indexed_extent(const struct mg_state *state)
{
    return 2 * state->bytes;
}

static void indexed_place(const struct mg_state *state, struct block *block)
{
    const size_t wanted = indexed_words(block->i) * WORD_BYTES;
    const size_t rest   = state->bytes - block->from;

    block->at    = 2 * block->from;
    block->bytes = wanted < rest ? wanted : rest;
}

static MPI_Datatype indexed_type(const struct mg_state *state)
{
    const size_t most    = state->bytes / WORD_BYTES;
    int         *lengths = calloc(2 * most, sizeof *lengths);
    int         *places  = lengths + most;
    MPI_Datatype type    = MPI_DATATYPE_NULL;
    int          count   = 0;

    if (lengths == NULL)
        MG_DIE("no memory for the blocks of a datatype of %zu B", state->bytes);
    for (struct block block = {0}; next(state, &block); count++) {
        lengths[count] = (int) (block.bytes / WORD_BYTES);
        places[count]  = (int) (block.at / WORD_BYTES);
    }
    MG_MPI(MPI_Type_indexed(count, lengths, places, MPI_DOUBLE, &type));
    free(lengths);
    return type;
}

static const struct layout irregular = {indexed_extent, indexed_place, indexed_type, one};

static void indexed_begin(struct mg_state *state)
{
    begin(state, &irregular);
}

/* ---- Faces of a box -------------------------------------------------------------------------- */

/* Sides of the face in words: as near to a square as its words allow. */
static size_t face_width(const struct mg_state *state)
{
    const size_t words = state->bytes / WORD_BYTES;
    size_t       width = 1;

    for (size_t i = 1; i * i <= words; i++)
        if (words % i == 0)
            width = i;
    return width;
}

static size_t face_height(const struct mg_state *state)
{
    return state->bytes / WORD_BYTES / face_width(state);
}

static size_t box_extent(const struct mg_state *state)
{
    return BOX_DEPTH * state->bytes;
}

/* A face across x: single words. */
static void x_place(const struct mg_state *state, struct block *block)
{
    (void) state;
    block->at    = (block->i * BOX_DEPTH + FACE_AT) * WORD_BYTES;
    block->bytes = WORD_BYTES;
}

/* Across y: rows. */
static void y_place(const struct mg_state *state, struct block *block)
{
    block->bytes = face_width(state) * WORD_BYTES;
    block->at    = (block->i * BOX_DEPTH + FACE_AT) * block->bytes;
}

/* Across z: one block. */
static void z_place(const struct mg_state *state, struct block *block)
{
    block->at    = FACE_AT * state->bytes;
    block->bytes = state->bytes;
}

/* across: the dimension that has one layer in the face, of z, y, x */
static MPI_Datatype face_type(const struct mg_state *state, int across)
{
    enum { DIMENSIONS = 3 };
    int          sizes[DIMENSIONS];
    int          parts[DIMENSIONS];
    int          starts[DIMENSIONS] = {0};
    const int    sides[]            = {(int) face_height(state), (int) face_width(state)};
    MPI_Datatype type               = MPI_DATATYPE_NULL;

    for (int i = 0, side = 0; i < DIMENSIONS; i++) {
        sizes[i] = i == across ? BOX_DEPTH : sides[side++];
        parts[i] = i == across ? 1 : sizes[i];
    }
    starts[across] = FACE_AT;
    MG_MPI(
        MPI_Type_create_subarray(DIMENSIONS, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type));
    return type;
}

static MPI_Datatype x_type(const struct mg_state *state)
{
    return face_type(state, 2);
}

static MPI_Datatype y_type(const struct mg_state *state)
{
    return face_type(state, 1);
}

static MPI_Datatype z_type(const struct mg_state *state)
{
    return face_type(state, 0);
}

static const struct layout face_x = {box_extent, x_place, x_type, one};
static const struct layout face_y = {box_extent, y_place, y_type, one};
static const struct layout face_z = {box_extent, z_place, z_type, one};

static void x_begin(struct mg_state *state)
{
    begin(state, &face_x);
}

static void y_begin(struct mg_state *state)
{
    begin(state, &face_y);
}

static void z_begin(struct mg_state *state)
{
    begin(state, &face_z);
}

/* ---- Sent ------------------------------------------------------------------------------------ */

/* Rank 0 sends first, rank 1 answers. */
#define PING_PONG(name, sending, receiving)  \
    static void name(struct mg_state *state) \
    {                                        \
        if (state->rank == 0) {              \
            sending(state);                  \
            receiving(state);                \
        } else {                             \
            receiving(state);                \
            sending(state);                  \
        }                                    \
    }

static inline void send_block(const struct mg_state *state)
{
    mg_send(state, other(state));
}

static inline void recv_block(const struct mg_state *state)
{
    mg_recv(state, other(state));
}

static inline void send_typed(const struct mg_state *state)
{
    MG_MPI(MPI_Send(own.out, own.count, own.type, other(state), MG_TAG, state->comm));
}

static inline void recv_typed(const struct mg_state *state)
{
    MG_MPI(MPI_Recv(own.in, own.count, own.type, other(state), MG_TAG, state->comm,
                    MPI_STATUS_IGNORE));
}

static inline void send_packed(const struct mg_state *state)
{
    int packed = 0;

    MG_MPI(MPI_Pack(own.out, own.count, own.type, own.packed_out, (int) own.room, &packed,
                    state->comm));
    MG_MPI(MPI_Send(own.packed_out, packed, MPI_PACKED, other(state), MG_TAG, state->comm));
}

static inline void recv_packed(const struct mg_state *state)
{
    int unpacked = 0;

    MG_MPI(MPI_Recv(own.packed_in, (int) own.room, MPI_PACKED, other(state), MG_TAG, state->comm,
                    MPI_STATUS_IGNORE));
    MG_MPI(MPI_Unpack(own.packed_in, (int) own.room, &unpacked, own.in, own.count, own.type,
                      state->comm));
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
    const size_t blocks = blocks_of(state);

    if (!in_words(state))
        for (size_t i = 0; i < blocks; i++)
            memcpy(to + i * to_step, from + i * from_step, block);
    else if (block == WORD_BYTES)
        for (size_t i = 0; i < blocks; i++)
            copy_words(to + i * to_step, from + i * from_step, WORD_BYTES);
    else if (block < LONG_BYTES)
        for (size_t i = 0; i < blocks; i++)
            copy_words(to + i * to_step, from + i * from_step, block);
    else
        for (size_t i = 0; i < blocks; i++)
            mg_copy_o3(to + i * to_step, from + i * from_step, block);
}

static inline void send_copied(const struct mg_state *state)
{
    copy_blocks(state, own.packed_out, state->block_bytes, own.out, state->stride_bytes);
    MG_MPI(
        MPI_Send(own.packed_out, (int) state->bytes, MPI_BYTE, other(state), MG_TAG, state->comm));
}

static inline void recv_copied(const struct mg_state *state)
{
    MG_MPI(MPI_Recv(own.packed_in, (int) state->bytes, MPI_BYTE, other(state), MG_TAG, state->comm,
                    MPI_STATUS_IGNORE));
    copy_blocks(state, own.in, state->stride_bytes, own.packed_in, state->block_bytes);
}

PING_PONG(contiguous, send_block, recv_block)
PING_PONG(typed, send_typed, recv_typed)
PING_PONG(packed, send_packed, recv_packed)
PING_PONG(manual, send_copied, recv_copied)

static void contiguous_begin(struct mg_state *state)
{
    (void) state;
    own.layout = NULL;
}

/* ---- What cannot be measured ----------------------------------------------------------------- */

static const char *wrong_type(const struct mg_state *state)
{
    int      size   = 0;
    int      packed = 0;
    MPI_Aint least  = 0;
    MPI_Aint extent = 0;

    MG_MPI(MPI_Type_size(own.type, &size));
    MG_MPI(MPI_Type_get_true_extent(own.type, &least, &extent));
    MG_MPI(MPI_Pack_size(own.count, own.type, state->comm, &packed));
    if ((size_t) size * (size_t) own.count != state->bytes)
        return "the datatype has another size than the payload: an error of this MPI library";
    if (least < 0 || (size_t) (least + extent) > own.layout->extent(state))
        return "the datatype reaches beyond its memory: an error of this MPI library";
    if ((size_t) packed > own.room)
        return "this MPI library packs a payload into more than the memory it lies in";
    return NULL;
}

static const char *refuse(const struct mg_mode *mode, const struct mg_state *state)
{
    struct mg_state tried = *state;

    mode->begin(&tried);
    if (own.layout == NULL)
        return NULL;
    const char *why = wrong_type(state);
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
     .source        = other,            \
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
    .moves_bytes  = true,
    .counts_int   = true,
    .wire         = MG_ONE_MESSAGE,
    .refuse       = refuse,
    .check        = check,
    .modes        = MG_MODES(
        {.name          = "contiguous",
         .about         = "one block without gaps: what the others are compared with",
         .begin         = contiguous_begin,
         .call          = contiguous,
         .source        = other,
         .directions    = 1,
         .binds_buffers = true},
        TYPED("derived", "MPI_Send and MPI_Recv of one element of MPI_Type_create_hvector",
              vector_begin, .strided = true, .scratch = MG_TWO_MESSAGES),
        TYPED("elements", "MPI_Send and MPI_Recv of as many elements of MPI_Type_create_resized",
              elements_begin, .strided = true, .scratch = MG_TWO_MESSAGES),
        {.name          = "pack",
         .about         = "MPI_Pack, MPI_Send, MPI_Recv, MPI_Unpack",
         .begin         = vector_begin,
         .call          = packed,
         .finish        = finish,
         .source        = other,
         .directions    = 1,
         .binds_buffers = true,
         .instead_of    = "derived",
         .strided       = true,
         .scratch       = FOUR_SPREAD},
        {.name          = "manual",
         .about         = "a loop that copies the blocks, MPI_Send, MPI_Recv, a loop "
                          "that copies them back",
         .begin         = vector_begin,
         .call          = manual,
         .finish        = finish,
         .source        = other,
         .directions    = 1,
         .binds_buffers = true,
         .by_hand       = true,
         .strided       = true,
         .scratch       = FOUR_SPREAD},
        TYPED("struct", "elements of MPI_Type_create_struct: int, double, float", struct_begin,
              .unit_bytes = PARTICLE_BYTES, .scratch = TWO_PARTICLES),
        TYPED("indexed",
              "MPI_Type_indexed: blocks of 1 to 16 doubles, each before a gap of its "
              "size",
              indexed_begin, .unit_bytes = WORD_BYTES, .scratch = TWO_DOUBLED),
        TYPED("subarray-x",
              "MPI_Type_create_subarray: a face across the fastest dimension of a "
              "box, single doubles",
              x_begin, .unit_bytes = WORD_BYTES, .scratch = TWO_BOXES),
        TYPED("subarray-y", "MPI_Type_create_subarray: a face across the middle dimension, rows",
              y_begin, .unit_bytes = WORD_BYTES, .scratch = TWO_BOXES),
        TYPED("subarray-z",
              "MPI_Type_create_subarray: a face across the slowest dimension, one "
              "block",
              z_begin, .unit_bytes = WORD_BYTES, .scratch = TWO_BOXES)),
};

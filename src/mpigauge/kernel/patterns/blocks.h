/* blocks.h - payloads in blocks with gaps between them, and the datatypes that describe them. */
#ifndef MG_BLOCKS_H
#define MG_BLOCKS_H

#include "patterns/pattern.h"
#include "ranks/abort.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MG_WORD_BYTES   = 8,
    MG_INDEXED_MOST = 16, /* words of a block of mode `indexed` */
    MG_BOX_DEPTH    = 8,  /* of the box whose face is sent, in words */
    MG_FACE_AT      = 1,  /* the layer that is sent: next to the one that a halo receives */
};

/* Block i of a layout: where it lies, where it begins in the payload, and its size. */
struct mg_block {
    size_t i;
    size_t at;
    size_t from;
    size_t bytes;
    size_t width; /* of all blocks, in words, where the first one found it */
};

/* What MPI is told of a layout beside block_bytes and stride_bytes, in words: worked out before its
 * datatype is made, which is timed. */
struct mg_shape {
    int *lengths; /* of single blocks, ... */
    int *places;
    int  count;
    int  height; /* ... or of a face */
    int  width;
};

struct mg_layout {
    size_t (*extent)(const struct mg_state *state); /* from the first byte to behind the last */
    /* Sets `at` and `bytes` of block i, whose i and from are set. */
    void (*place)(const struct mg_state *state, struct mg_block *block);
    MPI_Datatype (*type)(const struct mg_state *state, const struct mg_shape *shape);
    int (*count)(const struct mg_state *state); /* of the datatype, which has the whole payload */
    /* What .type needs; NULL: nothing. */
    struct mg_shape (*shape)(const struct mg_state *state);
};

static inline int mg_one_element(const struct mg_state *state)
{
    (void) state;
    return 1;
}

/* Moves on to the next block, from {0} to the first; false after the last. */
static inline bool mg_next_block(const struct mg_state *state, const struct mg_layout *layout,
                                 struct mg_block *block)
{
    const bool      begun = block->bytes > 0;
    struct mg_block after = {
        .i = begun ? block->i + 1 : 0, .from = block->from + block->bytes, .width = block->width};

    if (after.from >= state->bytes)
        return false;
    layout->place(state, &after);
    *block = after;
    return true;
}

/* To be freed by mg_free_shape. */
static inline struct mg_shape mg_shape_of(const struct mg_state  *state,
                                          const struct mg_layout *layout)
{
    return layout->shape == NULL ? (struct mg_shape) {0} : layout->shape(state);
}

static inline void mg_free_shape(struct mg_shape *shape)
{
    free(shape->lengths);
    *shape = (struct mg_shape) {0};
}

/* A sentence about a datatype that is not what was asked for, or NULL. */
static inline const char *mg_wrong_type(const struct mg_state  *state,
                                        const struct mg_layout *layout, MPI_Datatype type)
{
    int      size   = 0;
    MPI_Aint least  = 0;
    MPI_Aint extent = 0;

    MG_MPI(MPI_Type_size(type, &size));
    MG_MPI(MPI_Type_get_true_extent(type, &least, &extent));
    if ((size_t) size * (size_t) layout->count(state) != state->bytes)
        return "the datatype has another size than the payload: an error of this MPI library";
    if (least < 0 || (size_t) (least + extent) > layout->extent(state))
        return "the datatype reaches beyond its memory: an error of this MPI library";
    return NULL;
}

/* ---- Blocks of one size ---------------------------------------------------------------------- */

static inline size_t mg_blocks_of(const struct mg_state *state)
{
    return state->bytes / state->block_bytes;
}

static inline size_t mg_strided_extent(const struct mg_state *state)
{
    return (mg_blocks_of(state) - 1) * state->stride_bytes + state->block_bytes;
}

static inline void mg_strided_place(const struct mg_state *state, struct mg_block *block)
{
    block->at    = block->i * state->stride_bytes;
    block->bytes = state->block_bytes;
}

static inline bool mg_in_words(const struct mg_state *state)
{
    return state->block_bytes % MG_WORD_BYTES == 0 && state->stride_bytes % MG_WORD_BYTES == 0;
}

/* As programs would: of doubles where there are whole ones. */
static inline MPI_Datatype mg_element_of(const struct mg_state *state)
{
    return mg_in_words(state) ? MPI_DOUBLE : MPI_BYTE;
}

static inline int mg_elements_of_block(const struct mg_state *state)
{
    return (int) (state->block_bytes / (mg_in_words(state) ? MG_WORD_BYTES : 1));
}

static inline MPI_Datatype mg_vector_type(const struct mg_state *state,
                                          const struct mg_shape *shape)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;

    (void) shape;
    MG_MPI(MPI_Type_create_hvector((int) mg_blocks_of(state), mg_elements_of_block(state),
                                   (MPI_Aint) state->stride_bytes, mg_element_of(state), &type));
    return type;
}

static inline MPI_Datatype mg_block_type(const struct mg_state *state, const struct mg_shape *shape)
{
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Datatype type  = MPI_DATATYPE_NULL;

    (void) shape;
    MG_MPI(MPI_Type_contiguous(mg_elements_of_block(state), mg_element_of(state), &block));
    MG_MPI(MPI_Type_create_resized(block, 0, (MPI_Aint) state->stride_bytes, &type));
    MG_MPI(MPI_Type_free(&block));
    return type;
}

static inline int mg_block_count(const struct mg_state *state)
{
    return (int) mg_blocks_of(state);
}

static const struct mg_layout mg_vector   = {mg_strided_extent, mg_strided_place, mg_vector_type,
                                             mg_one_element, NULL};
static const struct mg_layout mg_elements = {mg_strided_extent, mg_strided_place, mg_block_type,
                                             mg_block_count, NULL};

/* ---- Other layouts --------------------------------------------------------------------------- */

struct mg_particle {
    int    kind;
    double mass;
    float  charge;
};

enum { MG_PARTICLE_BYTES = sizeof(int) + sizeof(double) + sizeof(float), MG_PARTICLE_MEMBERS = 3 };

static const size_t mg_member_at[MG_PARTICLE_MEMBERS]    = {offsetof(struct mg_particle, kind),
                                                            offsetof(struct mg_particle, mass),
                                                            offsetof(struct mg_particle, charge)};
static const size_t mg_member_bytes[MG_PARTICLE_MEMBERS] = {sizeof(int), sizeof(double),
                                                            sizeof(float)};

static inline int mg_particles_of(const struct mg_state *state)
{
    return (int) (state->bytes / MG_PARTICLE_BYTES);
}

static inline size_t mg_struct_extent(const struct mg_state *state)
{
    return (size_t) mg_particles_of(state) * sizeof(struct mg_particle);
}

static inline void mg_struct_place(const struct mg_state *state, struct mg_block *block)
{
    (void) state;
    block->at    = block->i / MG_PARTICLE_MEMBERS * sizeof(struct mg_particle) +
                   mg_member_at[block->i % MG_PARTICLE_MEMBERS];
    block->bytes = mg_member_bytes[block->i % MG_PARTICLE_MEMBERS];
}

static inline MPI_Datatype mg_struct_type(const struct mg_state *state,
                                          const struct mg_shape *shape)
{
    const int          lengths[MG_PARTICLE_MEMBERS] = {1, 1, 1};
    const MPI_Datatype types[MG_PARTICLE_MEMBERS]   = {MPI_INT, MPI_DOUBLE, MPI_FLOAT};
    MPI_Aint           places[MG_PARTICLE_MEMBERS];
    MPI_Datatype       members = MPI_DATATYPE_NULL;
    MPI_Datatype       type    = MPI_DATATYPE_NULL;

    (void) state;
    (void) shape;
    for (int i = 0; i < MG_PARTICLE_MEMBERS; i++)
        places[i] = (MPI_Aint) mg_member_at[i];
    MG_MPI(MPI_Type_create_struct(MG_PARTICLE_MEMBERS, lengths, places, types, &members));
    MG_MPI(MPI_Type_create_resized(members, 0, sizeof(struct mg_particle), &type));
    MG_MPI(MPI_Type_free(&members));
    return type;
}

static const struct mg_layout mg_particles = {mg_struct_extent, mg_struct_place, mg_struct_type,
                                              mg_particles_of, NULL};

/* Blocks of 1 to 16 words, by chance but always the same; a gap as long as its block follows. */
static inline size_t mg_indexed_words(size_t i)
{
    uint64_t word = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    word ^= word >> 29;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t) (word >> 60) % MG_INDEXED_MOST + 1;
}

static inline size_t mg_indexed_extent(const struct mg_state *state)
{
    return 2 * state->bytes;
}

static inline void mg_indexed_place(const struct mg_state *state, struct mg_block *block)
{
    const size_t wanted = mg_indexed_words(block->i) * MG_WORD_BYTES;
    const size_t rest   = state->bytes - block->from;

    block->at    = 2 * block->from;
    block->bytes = wanted < rest ? wanted : rest;
}

static inline struct mg_shape mg_indexed_shape(const struct mg_state *state);

static inline MPI_Datatype mg_indexed_type(const struct mg_state *state,
                                           const struct mg_shape *shape)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;

    (void) state;
    MG_MPI(MPI_Type_indexed(shape->count, shape->lengths, shape->places, MPI_DOUBLE, &type));
    return type;
}

static const struct mg_layout mg_irregular = {mg_indexed_extent, mg_indexed_place, mg_indexed_type,
                                              mg_one_element, mg_indexed_shape};

static inline struct mg_shape mg_indexed_shape(const struct mg_state *state)
{
    const size_t    most  = state->bytes / MG_WORD_BYTES;
    struct mg_shape shape = {.lengths = calloc(2 * most, sizeof *shape.lengths)};

    if (shape.lengths == NULL)
        MG_DIE("no memory for the blocks of a datatype of %zu B", state->bytes);
    shape.places = shape.lengths + most;
    for (struct mg_block block = {0}; mg_next_block(state, &mg_irregular, &block); shape.count++) {
        shape.lengths[shape.count] = (int) (block.bytes / MG_WORD_BYTES);
        shape.places[shape.count]  = (int) (block.at / MG_WORD_BYTES);
    }
    return shape;
}

/* ---- Faces of a box -------------------------------------------------------------------------- */

/* Sides of the face in words: as near to a square as its words allow. */
static inline size_t mg_face_width(const struct mg_state *state)
{
    const size_t words = state->bytes / MG_WORD_BYTES;
    size_t       width = 1;

    for (size_t i = 1; i * i <= words; i++)
        if (words % i == 0)
            width = i;
    return width;
}

static inline struct mg_shape mg_face_shape(const struct mg_state *state)
{
    const size_t width = mg_face_width(state);

    return (struct mg_shape) {.height = (int) (state->bytes / MG_WORD_BYTES / width),
                              .width  = (int) width};
}

static inline size_t mg_box_extent(const struct mg_state *state)
{
    return MG_BOX_DEPTH * state->bytes;
}

/* A face across x: single words. */
static inline void mg_x_place(const struct mg_state *state, struct mg_block *block)
{
    (void) state;
    block->at    = (block->i * MG_BOX_DEPTH + MG_FACE_AT) * MG_WORD_BYTES;
    block->bytes = MG_WORD_BYTES;
}

/* Across y: rows. */
static inline void mg_y_place(const struct mg_state *state, struct mg_block *block)
{
    if (block->i == 0)
        block->width = mg_face_width(state);
    block->bytes = block->width * MG_WORD_BYTES;
    block->at    = (block->i * MG_BOX_DEPTH + MG_FACE_AT) * block->bytes;
}

/* Across z: one block. */
static inline void mg_z_place(const struct mg_state *state, struct mg_block *block)
{
    block->at    = MG_FACE_AT * state->bytes;
    block->bytes = state->bytes;
}

/* across: the dimension that has one layer in the face, of z, y, x */
static inline MPI_Datatype mg_face_type(const struct mg_shape *shape, int across)
{
    enum { DIMENSIONS = 3 };
    int          sizes[DIMENSIONS];
    int          parts[DIMENSIONS];
    int          starts[DIMENSIONS] = {0};
    const int    sides[]            = {shape->height, shape->width};
    MPI_Datatype type               = MPI_DATATYPE_NULL;

    for (int i = 0, side = 0; i < DIMENSIONS; i++) {
        sizes[i] = i == across ? MG_BOX_DEPTH : sides[side++];
        parts[i] = i == across ? 1 : sizes[i];
    }
    starts[across] = MG_FACE_AT;
    MG_MPI(
        MPI_Type_create_subarray(DIMENSIONS, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type));
    return type;
}

static inline MPI_Datatype mg_x_type(const struct mg_state *state, const struct mg_shape *shape)
{
    (void) state;
    return mg_face_type(shape, 2);
}

static inline MPI_Datatype mg_y_type(const struct mg_state *state, const struct mg_shape *shape)
{
    (void) state;
    return mg_face_type(shape, 1);
}

static inline MPI_Datatype mg_z_type(const struct mg_state *state, const struct mg_shape *shape)
{
    (void) state;
    return mg_face_type(shape, 0);
}

static const struct mg_layout mg_face_x = {mg_box_extent, mg_x_place, mg_x_type, mg_one_element,
                                           mg_face_shape};
static const struct mg_layout mg_face_y = {mg_box_extent, mg_y_place, mg_y_type, mg_one_element,
                                           mg_face_shape};
static const struct mg_layout mg_face_z = {mg_box_extent, mg_z_place, mg_z_type, mg_one_element,
                                           mg_face_shape};

/* ---- Modes of each layout -------------------------------------------------------------------- */

/* vector_begin() to z_begin(), by the begin() of a pattern, which takes a layout. */
#define MG_BEGIN_OF_EACH_LAYOUT              \
    MG_BEGIN_OF(vector_begin, mg_vector)     \
    MG_BEGIN_OF(elements_begin, mg_elements) \
    MG_BEGIN_OF(struct_begin, mg_particles)  \
    MG_BEGIN_OF(indexed_begin, mg_irregular) \
    MG_BEGIN_OF(x_begin, mg_face_x)          \
    MG_BEGIN_OF(y_begin, mg_face_y)          \
    MG_BEGIN_OF(z_begin, mg_face_z)

#define MG_BEGIN_OF(name, layout)            \
    static void name(struct mg_state *state) \
    {                                        \
        begin(state, &(layout));             \
    }

#endif

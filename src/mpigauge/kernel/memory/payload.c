/* payload - the buffers that messages are sent from and received into, and their content. */
#include "memory/payload.h"

#include "memory/compare.h"
#include "memory/granularity.h"
#include "memory/reduction.h"
#include "patterns/rma.h"
#include "patterns/volumes.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELEMENT_MAX    = 64,    /* bytes, at least the largest datatype */
    REPEATED_BYTES = 16384, /* up to this size the call would be a notable part of a copy */
    REPEATS        = 16,
};

struct arena {
    const struct mg_memory *kind;
    unsigned char          *data;
    size_t                  bytes;
};

static struct {
    struct arena  send;
    struct arena  recv;
    struct arena  scratch;
    size_t        walked_bytes; /* where the last cold walk ended */
    int          *counts;       /* and displacements of blocks in v-variants: two per rank */
    MPI_Datatype *types;        /* of blocks in the w-variant */
    int           counts_room;
} memory;

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Distance between messages of a window, and between slots of a cold walk: whole cache lines, so
 * that all sets of a cache are used. */
static size_t stride_of(size_t bytes)
{
    return round_up(bytes > 0 ? bytes : 1, mg_line_bytes());
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* In a rooted operation only the root has the blocks of all ranks. */
static bool has_all_blocks(const struct mg_visit *visit, int rank)
{
    const bool moves_on = visit->root < 0;

    return !visit->pattern->rooted || visit->mode->room_everywhere || moves_on ||
           rank == visit->root;
}

static size_t on_rank(const struct mg_visit *visit, int rank, size_t bytes)
{
    return has_all_blocks(visit, rank) || bytes < visit->bytes ? bytes : visit->bytes;
}

/* Size of one message, or of the blocks of all ranks, on the rank that has most, ... */
static size_t sent_most(const struct mg_visit *visit)
{
    return mg_volume_bytes(mg_volume_sent(visit->pattern), visit->ranks, visit->bytes);
}

static size_t received_most(const struct mg_visit *visit)
{
    const size_t received =
        mg_volume_bytes(mg_volume_received(visit->pattern), visit->ranks, visit->bytes);

    /* In place, recv holds what is sent. */
    return visit->in_place ? larger_of(received, sent_most(visit)) : received;
}

/* ... and on one rank. */
static size_t send_bytes(const struct mg_visit *visit, int rank)
{
    return on_rank(visit, rank, sent_most(visit));
}

static size_t recv_bytes(const struct mg_visit *visit, int rank)
{
    return on_rank(visit, rank, received_most(visit));
}

/* Memory that a call uses in a cold walk, the same on all ranks. */
static size_t send_stride(const struct mg_visit *visit)
{
    return stride_of(sent_most(visit)) * mg_messages_per_call(visit);
}

static size_t recv_stride(const struct mg_visit *visit)
{
    return stride_of(received_most(visit)) * mg_messages_per_call(visit);
}

/* Memory of a call.  Receives of a window need buffers of their own, since overlapping ones are an
 * MPI error. */
static size_t send_places(const struct mg_visit *visit, int rank)
{
    return stride_of(send_bytes(visit, rank)) * mg_messages_per_call(visit);
}

static size_t recv_places(const struct mg_visit *visit, int rank)
{
    return stride_of(recv_bytes(visit, rank)) * mg_messages_per_call(visit);
}

/* The bytes of a message with the gaps between its blocks, or of all messages of a queue. */
static size_t spread_bytes(const struct mg_visit *visit)
{
    if (visit->mode->strided && visit->block_bytes > 0)
        return visit->bytes / visit->block_bytes * visit->stride_bytes;
    if (visit->mode->message_each)
        return stride_of(visit->bytes) * (size_t) visit->depth;
    return visit->bytes;
}

size_t mg_payload_exposed(const struct mg_visit *visit)
{
    const size_t stride = visit->pattern->exposes_send ? send_stride(visit) : recv_stride(visit);

    return larger_of(stride, visit->pool_bytes);
}

/* Scratch memory, for messages padded to a multiple of the ranks, each from a cache line on. */
static size_t scratch_need(const struct mg_visit *visit)
{
    const size_t padded =
        spread_bytes(visit) + (size_t) visit->ranks * ELEMENT_MAX + MG_LINE_MAX_BYTES;

    return mg_volume_bytes(visit->mode->scratch, visit->ranks, padded);
}

static void arena_free(struct arena *arena)
{
    if (arena->data != NULL)
        arena->kind->release(arena->data, arena->bytes);
    *arena = (struct arena){0};
}

static bool arena_reserve(struct arena *arena, const struct mg_memory *kind, size_t bytes)
{
    if (bytes <= arena->bytes && (bytes == 0 || arena->kind == kind))
        return true;
    unsigned char *data = kind->allocate(bytes);
    if (data == NULL)
        return false; /* the old memory stays for smaller visits */
    arena_free(arena);
    *arena = (struct arena){.kind = kind, .data = data, .bytes = bytes};
    return true;
}

struct need {
    const struct mg_memory *kind;
    size_t                  send;
    size_t                  recv;
    size_t                  scratch;
};

/* What others reach is in a window and not here. */
static struct need need_of(const struct mg_visit *visit, int rank)
{
    const bool exposes_send = visit->pattern->one_sided && visit->pattern->exposes_send;
    const bool exposes_recv = visit->pattern->one_sided && !visit->pattern->exposes_send;

    if (visit->pattern->spans_bytes)
        return (struct need){.kind = mg_memory_of(visit)}; /* it works on memory of its own */
    return (struct need){
        .kind    = mg_memory_of(visit),
        .send    = exposes_send ? 0 : larger_of(send_places(visit, rank), visit->pool_bytes),
        .recv    = exposes_recv ? 0 : larger_of(recv_places(visit, rank), visit->pool_bytes),
        .scratch = scratch_need(visit)};
}

static bool reserve(const struct need *need)
{
    return arena_reserve(&memory.send, need->kind, need->send) &&
           arena_reserve(&memory.recv, need->kind, need->recv) &&
           arena_reserve(&memory.scratch, need->kind, need->scratch);
}

bool mg_payload_reserve(const struct mg_visit *visit, int rank)
{
    const struct need need = need_of(visit, rank);

    return reserve(&need);
}

static void free_arenas(void)
{
    arena_free(&memory.send);
    arena_free(&memory.recv);
    arena_free(&memory.scratch);
}

static void free_counts(void)
{
    free(memory.counts);
    free((void *) memory.types);
    memory.counts      = NULL;
    memory.types       = NULL;
    memory.counts_room = 0;
}

/* At once, since growing would need the old and the new memory together. */
void mg_payload_reserve_all(const struct mg_plan *plan, int world_rank)
{
    struct need all = {0};

    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];
        const int              place = mg_own_place(visit, world_rank);

        if (place < 0)
            continue;
        const struct need need = need_of(visit, place);

        all.kind    = need.kind;
        all.send    = larger_of(all.send, need.send);
        all.recv    = larger_of(all.recv, need.recv);
        all.scratch = larger_of(all.scratch, need.scratch);
    }
    if (reserve(&all))
        return;
    free_arenas();
    for (int i = 0; i < plan->visits_count; i++)
        if (mg_takes_part(&plan->visits[i], world_rank))
            (void) mg_payload_reserve(&plan->visits[i], mg_own_place(&plan->visits[i], world_rank));
}

void mg_payload_free(void)
{
    free_arenas();
    free_counts();
}

static int common_divisor(int a, int b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* The step of a cold walk: large, so that nothing is prefetched, and coprime to the number of
 * slots, so that the walk visits all of them before it repeats one. */
static int step_through(int slots)
{
    int step = (int) (0.618 * slots);

    while (step > 1 && common_divisor(slots, step) != 1)
        step--;
    return step > 0 ? step : 1;
}

struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots)
{
    struct mg_walk walk = {.send_first  = state->send,
                           .recv_first  = state->recv,
                           .send_stride = send_stride(visit),
                           .recv_stride = recv_stride(visit),
                           .slots       = slots,
                           .step        = step_through(slots)};

    /* After the end of the last walk: what it has used last may still be in a cache. */
    walk.slot = (int) (memory.walked_bytes / larger_of(walk.send_stride, walk.recv_stride) %
                       (size_t) slots);
    return walk;
}

void mg_payload_walk_end(const struct mg_walk *walk)
{
    if (walk->slots > 1)
        memory.walked_bytes = (size_t) walk->slot * larger_of(walk->send_stride, walk->recv_stride);
}

/* ---- Before a visit -------------------------------------------------------------------------- */

/* All blocks have the same size, as in other benchmarks, to measure the cost of the v-interface.
 * Displacements are used only where an int can hold them. */
static void lay_out_blocks(const struct mg_visit *visit, struct mg_state *state)
{
    if (visit->ranks > memory.counts_room) {
        free_counts();
        memory.counts = malloc(2 * (size_t) visit->ranks * sizeof *memory.counts);
        memory.types  = (MPI_Datatype *) malloc((size_t) visit->ranks * sizeof *memory.types);
        if (memory.counts == NULL || memory.types == NULL)
            MG_DIE("no memory for the counts of %d ranks", visit->ranks);
        memory.counts_room = visit->ranks;
    }
    state->counts        = memory.counts;
    state->displacements = memory.counts + visit->ranks;
    state->types         = memory.types;
    for (int rank = 0; rank < visit->ranks; rank++) {
        const int64_t place = (int64_t) rank * state->count;

        state->types[rank]         = MPI_BYTE;
        state->counts[rank]        = state->count;
        state->displacements[rank] = (int) (place <= INT_MAX ? place : 0);
    }
}

static void prepare_collective(const struct mg_visit *visit, struct mg_state *state)
{
    const bool   reduces  = visit->pattern->reduces;
    const size_t width    = reduces ? visit->datatype->bytes : 1;
    const size_t elements = visit->bytes / width;
    const bool   all      = has_all_blocks(visit, state->rank);
    const bool   sends    = visit->pattern->send_each;
    const bool   receives = visit->pattern->recv_each || (visit->in_place && sends);

    state->datatype = reduces ? visit->datatype->type : MPI_BYTE;
    state->op       = reduces ? visit->operation->op : MPI_OP_NULL;
    state->count    = elements <= INT_MAX ? (int) elements : 0;
    state->in_place = visit->in_place;
    /* All ranks compare with what the root sends, so all know its blocks. */
    state->send_blocks  = sends ? visit->ranks : 1;
    state->recv_blocks  = all && receives ? visit->ranks : 1;
    state->root         = visit->root < 0 ? (int) (visit->id % visit->ranks) : visit->root;
    state->turn         = 1 % visit->ranks;
    state->depth        = visit->depth;
    state->block_bytes  = visit->block_bytes;
    state->stride_bytes = visit->stride_bytes;
    state->partitions   = visit->partitions;
    state->tests        = visit->tests;
    state->repeats      = visit->bytes <= REPEATED_BYTES && visit->pool_bytes == 0 ? REPEATS : 1;
    lay_out_blocks(visit, state);
}

/* Fills data with message i of what `rank` sends. */
static void fill_with(const struct mg_visit *visit, unsigned char *data, size_t bytes, int rank,
                      size_t i)
{
    const struct mg_reduction reduction = mg_reduction_of(visit);

    if (visit->pattern->reduces)
        mg_memory_of(visit)->fill_elements(&reduction, data, bytes / visit->datatype->bytes, rank);
    else
        mg_memory_of(visit)->fill(data, bytes, visit->id, rank, i * visit->bytes);
}

/* Fills recv for a call that also reads it. */
static void fill_operand(const struct mg_visit *visit, const struct mg_state *state)
{
    const struct mg_pattern *pattern = visit->pattern;
    const size_t             bytes   = send_bytes(visit, state->rank);
    const bool               among =
        has_all_blocks(visit, state->rank) && pattern->recv_each && !pattern->send_each;

    if (pattern->accumulates)
        fill_with(visit, state->recv, bytes, state->rank + (pattern->one_sided ? 0 : 1), 0);
    else if (visit->in_place)
        fill_with(visit, state->recv + (among ? (size_t) state->rank * visit->bytes : 0), bytes,
                  state->rank, 0);
}

static void fill_messages(const struct mg_visit *visit, const struct mg_state *state)
{
    const size_t messages = state->send_step > 0 ? mg_messages_per_call(visit) : 1;

    for (size_t i = 0; i < messages; i++)
        fill_with(visit, state->send + i * state->send_step, send_bytes(visit, state->rank),
                  state->rank, i);
}

void mg_payload_prepare(const struct mg_visit *visit, struct mg_state *state, int *slots_p)
{
    const size_t stride = larger_of(send_stride(visit), recv_stride(visit));

    const bool exposed = visit->pattern->one_sided;
    const bool to_read = visit->pattern->exposes_send;

    state->send      = exposed && to_read ? state->rma->here : memory.send.data;
    state->recv      = exposed && !to_read ? state->rma->here : memory.recv.data;
    state->scratch   = memory.scratch.data;
    state->recv_step = stride_of(recv_bytes(visit, state->rank));
    /* A warm window sends the same buffer many times, which MPI allows. */
    state->send_step = visit->pool_bytes > 0 ? stride_of(send_bytes(visit, state->rank)) : 0;
    *slots_p         = visit->pool_bytes > stride ? (int) (visit->pool_bytes / stride) : 1;
    prepare_collective(visit, state);
    if (visit->pattern->spans_bytes)
        return;
    fill_messages(visit, state);
    fill_operand(visit, state);
    if (exposed)
        mg_window_settle(state);
}

/* ---- After a visit --------------------------------------------------------------------------- */

/* Poisons what is received into.  All messages of a window are made different, so that swapped ones
 * are found. */
static void prepare_check(const struct mg_visit *visit, struct mg_state *state)
{
    mg_memory_of(visit)->poison(state->recv, recv_places(visit, state->rank));
    if (visit->pattern->shares_memory && state->rank == state->ranks - 1)
        memset(state->shared + MG_PAGE_MAX_BYTES, MG_POISON, visit->bytes);
    state->send_step = stride_of(send_bytes(visit, state->rank));
    fill_messages(visit, state);
    fill_operand(visit, state);
}

bool mg_payload_compares(const struct mg_visit *visit)
{
    return mg_mode_compares(visit->pattern, visit->mode) &&
           (visit->bytes > 0 || !visit->pattern->moves_bytes);
}

bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *error,
                       size_t error_bytes)
{
    memset(error, 0, error_bytes);
    if (!visit->pattern->spans_bytes)
        prepare_check(visit, state);
    if (visit->pattern->one_sided)
        mg_window_settle(state);
    mg_handshake(state->comm); /* no rank sends before all have poisoned their memory */
    state->calls = 1;
    if (visit->mode->begin != NULL)
        visit->mode->begin(state);
    if (visit->pattern->prepare != NULL)
        visit->pattern->prepare(state);
    if (visit->mode->prepare != NULL)
        visit->mode->prepare(state);
    visit->mode->call(state);
    if (visit->mode->finish != NULL)
        visit->mode->finish(state);
    if (visit->pattern->one_sided) {
        mg_handshake(state->comm);
        mg_window_settle(state);
    }
    mg_payload_compare(visit, state, error, error_bytes);
    return error[0] == '\0';
}

/* payload - the memory that messages are sent from and received into, and what is in it. */
#include "memory/payload.h"

#include "memory/compare.h"
#include "memory/content.h"
#include "memory/granularity.h"
#include "memory/reduction.h"
#include "patterns/volumes.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ELEMENT_MOST   = 64,    /* bytes, of all datatypes */
    REPEATED_BYTES = 16384, /* up to here calling a function would be a notable part of a copy */
    REPEATS        = 16,
    POISON         = 0xa5, /* what a place holds that no message has reached */
};

struct arena {
    unsigned char *data;
    size_t         bytes;
};

static struct {
    struct arena send;
    struct arena recv;
    struct arena scratch;
    size_t       walked_bytes; /* where the last cold walk ended */
    int         *counts;       /* and places, of the blocks of v-variants: two numbers a rank */
    int          counts_room;
} memory;

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Distance between the messages of a window, and of the places of a cold walk: lines, so that all
 * sets of a cache have their share of them. */
static size_t stride_of(size_t bytes)
{
    return round_up(bytes > 0 ? bytes : 1, mg_line_bytes());
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Blocks of all ranks pass by the root of a rooted operation alone: the others have their own. */
static bool has_all_blocks(const struct mg_visit *visit, int rank)
{
    const bool moves_on = visit->root < 0;

    return !visit->pattern->rooted || visit->mode->room_everywhere || moves_on ||
           rank == visit->root;
}

static size_t of_role(const struct mg_visit *visit, int rank, size_t bytes)
{
    return has_all_blocks(visit, rank) || bytes < visit->bytes ? bytes : visit->bytes;
}

/* What one message, or the blocks for all ranks together, take up: wherever most of them are, */
static size_t sent_most(const struct mg_visit *visit)
{
    return mg_volume_bytes(mg_volume_sent(visit->pattern), visit->ranks, visit->bytes);
}

static size_t received_most(const struct mg_visit *visit)
{
    const size_t received =
        mg_volume_bytes(mg_volume_received(visit->pattern), visit->ranks, visit->bytes);

    /* In place, what is sent lies where the result will be. */
    return visit->in_place ? most(received, sent_most(visit)) : received;
}

/* and of one rank. */
static size_t send_bytes(const struct mg_visit *visit, int rank)
{
    return of_role(visit, rank, sent_most(visit));
}

static size_t recv_bytes(const struct mg_visit *visit, int rank)
{
    return of_role(visit, rank, received_most(visit));
}

/* How far a cold walk goes from one call to the next, on all ranks alike. */
static size_t send_stride(const struct mg_visit *visit)
{
    return stride_of(sent_most(visit)) * mg_messages_per_call(visit);
}

static size_t recv_stride(const struct mg_visit *visit)
{
    return stride_of(received_most(visit)) * mg_messages_per_call(visit);
}

/* The places of a call: receives under way at once need some of their own, since overlapping ones
 * are an MPI error. */
static size_t send_places(const struct mg_visit *visit, int rank)
{
    return stride_of(send_bytes(visit, rank)) * mg_messages_per_call(visit);
}

static size_t recv_places(const struct mg_visit *visit, int rank)
{
    return stride_of(recv_bytes(visit, rank)) * mg_messages_per_call(visit);
}

/* Room for messages that are made a multiple of the ranks, each beginning at a line. */
static size_t scratch_need(const struct mg_visit *visit)
{
    const size_t padded = visit->bytes + (size_t) visit->ranks * ELEMENT_MOST + MG_LINE_MOST_BYTES;

    return mg_volume_bytes(visit->mode->scratch, visit->ranks, padded);
}

static void arena_free(struct arena *arena)
{
    if (arena->data != NULL)
        (void) munmap(arena->data, arena->bytes);
    *arena = (struct arena){0};
}

/* What a cold walk finds beyond the place that is checked: not constant, and whole numbers of every
 * datatype, since arithmetic with arbitrary bits would be slower. */
static void fill_with_numbers(struct arena *arena)
{
    for (size_t i = 0; (i + 1) * sizeof(double) <= arena->bytes; i++)
        ((double *) (void *) arena->data)[i] = 1.0 + (double) (i % 16) / 16;
}

static bool arena_reserve(struct arena *arena, size_t bytes)
{
    if (bytes <= arena->bytes)
        return true;
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return false; /* smaller visits go on where they were */
    arena_free(arena);
    *arena = (struct arena){.data = data, .bytes = bytes};
    fill_with_numbers(arena);
    return true;
}

struct need {
    size_t send;
    size_t recv;
    size_t scratch;
};

static struct need need_of(const struct mg_visit *visit, int rank)
{
    if (visit->pattern->spans_bytes)
        return (struct need){0}; /* it works on memory of its own */
    return (struct need){.send    = most(send_places(visit, rank), visit->pool_bytes),
                         .recv    = most(recv_places(visit, rank), visit->pool_bytes),
                         .scratch = scratch_need(visit)};
}

static bool reserve(const struct need *need)
{
    return arena_reserve(&memory.send, need->send) && arena_reserve(&memory.recv, need->recv) &&
           arena_reserve(&memory.scratch, need->scratch);
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

/* In one piece: what grew would for a moment need its old and its new size together. */
void mg_payload_reserve_all(const struct mg_plan *plan, int world_rank)
{
    struct need all = {0};

    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];
        const struct need      need  = need_of(visit, world_rank);

        if (!mg_takes_part(visit, world_rank))
            continue;
        all.send    = most(all.send, need.send);
        all.recv    = most(all.recv, need.recv);
        all.scratch = most(all.scratch, need.scratch);
    }
    if (reserve(&all))
        return;
    free_arenas();
    for (int i = 0; i < plan->visits_count; i++)
        if (mg_takes_part(&plan->visits[i], world_rank))
            (void) mg_payload_reserve(&plan->visits[i], world_rank);
}

void mg_payload_free(void)
{
    free_arenas();
    free(memory.counts);
    memory.counts = NULL;
}

static int common_divisor(int a, int b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* From a place to the next of a cold walk: far apart, so that nothing fetches it beforehand, and
 * such that the walk comes to all places before it comes to one again. */
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

    /* Not where the last visit of the cell began: those places may still be in a cache. */
    walk.slot =
        (int) (memory.walked_bytes / most(walk.send_stride, walk.recv_stride) % (size_t) slots);
    return walk;
}

void mg_payload_walked(const struct mg_walk *walk)
{
    if (walk->slots > 1)
        memory.walked_bytes = (size_t) walk->slot * most(walk->send_stride, walk->recv_stride);
}

/* ---- Before a visit -------------------------------------------------------------------------- */

/* All blocks have the same size, as other tools have them: what the v-interface itself costs. Where
 * they lie is asked of those alone whose blocks together an int can count. */
static void lay_out_blocks(const struct mg_visit *visit, struct mg_state *state)
{
    if (visit->ranks > memory.counts_room) {
        free(memory.counts);
        memory.counts = malloc(2 * (size_t) visit->ranks * sizeof *memory.counts);
        if (memory.counts == NULL)
            MG_DIE("no memory for the counts of %d ranks", visit->ranks);
        memory.counts_room = visit->ranks;
    }
    state->counts        = memory.counts;
    state->displacements = memory.counts + visit->ranks;
    for (int rank = 0; rank < visit->ranks; rank++) {
        const int64_t place = (int64_t) rank * state->count;

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
    /* All compare with what the root sends, so that all know where its parts lie. */
    state->send_blocks = sends ? visit->ranks : 1;
    state->recv_blocks = all && receives ? visit->ranks : 1;
    state->root        = visit->root < 0 ? (int) (visit->id % visit->ranks) : visit->root;
    state->turn        = 1 % visit->ranks;
    state->repeats     = visit->bytes <= REPEATED_BYTES && visit->pool_bytes == 0 ? REPEATS : 1;
    lay_out_blocks(visit, state);
}

/* Message i of what `rank` sends, wherever it lies: so many bytes. */
static void fill_with(const struct mg_visit *visit, unsigned char *data, size_t bytes, int rank,
                      size_t i)
{
    const struct mg_reduction reduction = mg_reduction_of(visit);

    if (visit->pattern->reduces)
        mg_elements_fill(&reduction, data, bytes / visit->datatype->bytes, rank);
    else
        mg_content_fill(data, bytes, visit->id, rank, i * visit->bytes);
}

/* What must lie in recv before a call that also reads it. */
static void fill_operand(const struct mg_visit *visit, const struct mg_state *state)
{
    const struct mg_pattern *pattern = visit->pattern;
    const size_t             bytes   = send_bytes(visit, state->rank);
    const bool               among =
        has_all_blocks(visit, state->rank) && pattern->recv_each && !pattern->send_each;

    if (pattern->accumulates)
        fill_with(visit, state->recv, bytes, state->rank + 1, 0);
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
    const size_t stride = most(send_stride(visit), recv_stride(visit));

    state->send      = memory.send.data;
    state->recv      = memory.recv.data;
    state->scratch   = memory.scratch.data;
    state->recv_step = stride_of(recv_bytes(visit, state->rank));
    /* A warm window sends one buffer many times, which MPI allows. */
    state->send_step = visit->pool_bytes > 0 ? stride_of(send_bytes(visit, state->rank)) : 0;
    *slots_p         = visit->pool_bytes > stride ? (int) (visit->pool_bytes / stride) : 1;
    prepare_collective(visit, state);
    if (visit->pattern->spans_bytes)
        return;
    fill_messages(visit, state);
    fill_operand(visit, state);
}

/* ---- After a visit --------------------------------------------------------------------------- */

/* What lies where something is to arrive says nothing of what was sent.  Every message of a window
 * is another one now, or those that change places would not be seen. */
static void prepare_check(const struct mg_visit *visit, struct mg_state *state)
{
    memset(state->recv, POISON, recv_places(visit, state->rank));
    if (visit->pattern->shares_memory && state->rank == state->ranks - 1)
        memset(state->shared + MG_PAGE_MOST_BYTES, POISON, visit->bytes);
    state->send_step = stride_of(send_bytes(visit, state->rank));
    fill_messages(visit, state);
    fill_operand(visit, state);
}

bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *words,
                       size_t words_bytes)
{
    memset(words, 0, words_bytes);
    if (!visit->pattern->spans_bytes)
        prepare_check(visit, state);
    mg_handshake(state->comm); /* nobody sends before everybody's memory is poisoned */
    if (visit->mode->begin != NULL)
        visit->mode->begin(state);
    if (visit->pattern->prepare != NULL)
        visit->pattern->prepare(state);
    visit->mode->call(state);
    if (visit->mode->finish != NULL)
        visit->mode->finish(state);
    mg_payload_compare(visit, state, words, words_bytes);
    return words[0] == '\0';
}

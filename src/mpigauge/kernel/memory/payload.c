/* payload - the memory that messages are sent from and received into, and what is in it. */
#include "memory/payload.h"

#include "memory/content.h"
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
    PAGE_BYTES     = 4096,
    LINE_BYTES     = 64,
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
    int         *counts; /* and places, of the blocks of v-variants: two numbers a rank */
    int          counts_room;
} memory;

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Distance between the messages of a window: lines when warm, since pages of their own would make
 * small messages meet in the same cache sets; pages in a cold walk. */
static size_t stride_of(const struct mg_visit *visit, size_t bytes)
{
    return round_up(bytes > 0 ? bytes : 1, visit->pool_bytes > 0 ? PAGE_BYTES : LINE_BYTES);
}

static size_t messages_per_call(const struct mg_visit *visit)
{
    return visit->pattern->windowed ? (size_t) visit->window : 1;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What one message, or the blocks for all ranks together, take up. */
static size_t send_bytes(const struct mg_visit *visit)
{
    return mg_volume_bytes(mg_volume_sent(visit->pattern), visit->ranks, visit->bytes);
}

static size_t recv_bytes(const struct mg_visit *visit)
{
    const size_t received =
        mg_volume_bytes(mg_volume_received(visit->pattern), visit->ranks, visit->bytes);

    /* In place, what is sent lies where the result will be. */
    return visit->in_place ? most(received, send_bytes(visit)) : received;
}

/* How far a cold walk goes from one call to the next. */
static size_t send_stride(const struct mg_visit *visit)
{
    return stride_of(visit, send_bytes(visit)) * messages_per_call(visit);
}

static size_t recv_stride(const struct mg_visit *visit)
{
    return stride_of(visit, recv_bytes(visit)) * messages_per_call(visit);
}

static size_t send_need(const struct mg_visit *visit)
{
    /* A warm window sends one buffer many times, which MPI allows. */
    return visit->pool_bytes > 0 ? most(send_stride(visit), visit->pool_bytes)
                                 : stride_of(visit, send_bytes(visit));
}

static size_t recv_need(const struct mg_visit *visit)
{
    /* Receives under way at once need places of their own: overlapping ones are an MPI error. */
    return most(recv_stride(visit), visit->pool_bytes);
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
    arena_free(arena);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return false;
    *arena = (struct arena){.data = data, .bytes = bytes};
    fill_with_numbers(arena);
    return true;
}

bool mg_payload_reserve(const struct mg_visit *visit)
{
    if (visit->pattern->spans_bytes)
        return true; /* it works on memory of its own */
    return arena_reserve(&memory.send, send_need(visit)) &&
           arena_reserve(&memory.recv, recv_need(visit));
}

void mg_payload_free(void)
{
    arena_free(&memory.send);
    arena_free(&memory.recv);
    free(memory.counts);
    memory.counts = NULL;
}

struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots)
{
    return (struct mg_walk){.send_first  = state->send,
                            .recv_first  = state->recv,
                            .send_stride = send_stride(visit),
                            .recv_stride = recv_stride(visit),
                            .slots       = slots};
}

/* ---- Before a visit -------------------------------------------------------------------------- */

/* All blocks have the same size, as other tools have them: what the v-interface itself costs. */
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
        state->counts[rank]        = state->count;
        state->displacements[rank] = rank * state->count;
    }
}

static void prepare_collective(const struct mg_visit *visit, struct mg_state *state)
{
    const bool   reduces = visit->pattern->reduces;
    const size_t width   = reduces ? visit->datatype->bytes : 1;

    state->datatype = reduces ? visit->datatype->type : MPI_BYTE;
    state->op       = reduces ? visit->operation->op : MPI_OP_NULL;
    state->count    = visit->bytes <= INT_MAX ? (int) (visit->bytes / width) : 0;
    state->in_place = visit->in_place;
    state->root     = visit->root < 0 ? (int) (visit->id % visit->ranks) : visit->root;
    state->turn     = 1 % visit->ranks;
    state->repeats  = visit->bytes <= REPEATED_BYTES && visit->pool_bytes == 0 ? REPEATS : 1;
    lay_out_blocks(visit, state);
}

static struct mg_reduction reduction_of(const struct mg_visit *visit)
{
    return (struct mg_reduction){
        .visit = visit->id, .datatype = visit->datatype, .operation = visit->operation};
}

/* What `rank` sends, wherever it lies. */
static void fill_with(const struct mg_visit *visit, unsigned char *data, int rank)
{
    const struct mg_reduction reduction = reduction_of(visit);

    if (visit->pattern->reduces)
        mg_elements_fill(&reduction, data, send_bytes(visit) / visit->datatype->bytes, rank);
    else
        mg_content_fill(data, send_bytes(visit), visit->id, rank);
}

/* What must lie in recv before a call that also reads it. */
static void fill_operand(const struct mg_visit *visit, const struct mg_state *state)
{
    const struct mg_pattern *pattern = visit->pattern;
    const bool               among   = pattern->recv_each && !pattern->send_each;

    if (pattern->accumulates)
        fill_with(visit, state->recv, state->rank + 1);
    else if (visit->in_place)
        fill_with(visit, state->recv + (among ? (size_t) state->rank * visit->bytes : 0),
                  state->rank);
}

void mg_payload_prepare(const struct mg_visit *visit, struct mg_state *state, int *slots_p)
{
    const size_t stride = most(send_stride(visit), recv_stride(visit));

    state->send      = memory.send.data;
    state->recv      = memory.recv.data;
    state->recv_step = stride_of(visit, recv_bytes(visit));
    state->send_step = visit->pool_bytes > 0 ? stride_of(visit, send_bytes(visit)) : 0;
    *slots_p         = visit->pool_bytes > stride ? (int) (visit->pool_bytes / stride) : 1;
    prepare_collective(visit, state);
    if (visit->pattern->spans_bytes)
        return;
    for (size_t i = 0; i < (state->send_step > 0 ? messages_per_call(visit) : 1); i++)
        fill_with(visit, state->send + i * state->send_step, state->rank);
    fill_operand(visit, state);
}

/* ---- After a visit --------------------------------------------------------------------------- */

static void describe_difference(char *words, size_t words_bytes, const struct mg_state *state,
                                const struct mg_piece *piece, size_t at, int64_t visit)
{
    const size_t         place    = piece->from + at;
    const uint64_t       word     = mg_content_word(visit, piece->source, place / sizeof word);
    const unsigned char *expected = (const unsigned char *) &word + place % sizeof word;

    (void) snprintf(words, words_bytes,
                    "rank %d received 0x%02x instead of 0x%02x from rank %d at byte %zu of %zu",
                    state->rank, (state->recv + piece->at)[at], *expected, piece->source, at,
                    piece->bytes);
}

static void compare_reduced(const struct mg_visit *visit, const struct mg_state *state,
                            const struct mg_piece *piece, char *words, size_t words_bytes)
{
    const size_t              width     = visit->datatype->bytes;
    const size_t              count     = piece->bytes / width;
    const struct mg_reduction reduction = reduction_of(visit);
    const size_t i = mg_elements_differ(&reduction, state->recv + piece->at, piece->from / width,
                                        count, piece->source, piece->ranks);

    if (i < count)
        (void) snprintf(words, words_bytes,
                        "rank %d has a wrong element %zu of %zu: not the %s over ranks %d to %d",
                        state->rank, i, count, visit->operation->name, piece->source,
                        piece->source + piece->ranks - 1);
}

/* Piece i of what must have arrived here, by the pattern or, of a window, by the mode. */
static bool piece_of(const struct mg_visit *visit, const struct mg_state *state, int i,
                     struct mg_piece *piece)
{
    if (visit->pattern->piece != NULL)
        return visit->pattern->piece(state, i, piece);
    const int source = visit->mode->source == NULL ? -1 : visit->mode->source(state);

    *piece = (struct mg_piece){
        .at = (size_t) i * state->recv_step, .bytes = visit->bytes, .source = source};
    return source >= 0 && i < (int) messages_per_call(visit);
}

/* Compares what has arrived here; the words stay empty if it is right. */
static void compare(const struct mg_visit *visit, const struct mg_state *state, char *words,
                    size_t words_bytes)
{
    struct mg_piece piece = {0};

    for (int i = 0;
         !visit->pattern->spans_bytes && words[0] == '\0' && piece_of(visit, state, i, &piece);
         i++) {
        if (visit->pattern->reduces) {
            compare_reduced(visit, state, &piece, words, words_bytes);
            continue;
        }
        const size_t at = mg_content_differs(state->recv + piece.at, piece.bytes, visit->id,
                                             piece.source, piece.from);
        if (at < piece.bytes)
            describe_difference(words, words_bytes, state, &piece, at, visit->id);
    }
    if (words[0] == '\0' && visit->pattern->check != NULL)
        (void) visit->pattern->check(state, words, words_bytes);
}

/* Rank 0 of the group learns the words of the first rank that has any. */
static void tell_root(const struct mg_state *state, char *words, size_t words_bytes)
{
    int worst = words[0] != '\0' ? state->rank : state->ranks;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, state->comm));
    if (worst == 0 || worst == state->ranks)
        return;
    if (state->rank == worst)
        MG_MPI(MPI_Send(words, (int) words_bytes, MPI_CHAR, 0, MG_TAG_CONTROL, state->comm));
    if (state->rank == 0)
        MG_MPI(MPI_Recv(words, (int) words_bytes, MPI_CHAR, worst, MG_TAG_CONTROL, state->comm,
                        MPI_STATUS_IGNORE));
}

bool mg_payload_verify(const struct mg_visit *visit, struct mg_state *state, char *words,
                       size_t words_bytes)
{
    memset(words, 0, words_bytes);
    if (!visit->pattern->spans_bytes) {
        memset(state->recv, POISON, recv_need(visit));
        fill_operand(visit, state);
    }
    mg_handshake(state->comm); /* nobody sends before everybody's memory is poisoned */
    if (visit->mode->begin != NULL)
        visit->mode->begin(state);
    if (visit->pattern->prepare != NULL)
        visit->pattern->prepare(state);
    visit->mode->call(state);
    if (visit->mode->finish != NULL)
        visit->mode->finish(state);
    compare(visit, state, words, words_bytes);
    tell_root(state, words, words_bytes);
    return words[0] == '\0';
}

/* payload - the memory that messages are sent from and received into, and what is in it. */
#include "kernel.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BYTES = 4096,
    LINE_BYTES = 64,
    POISON     = 0xa5, /* what a place holds that no message has reached */
};

struct arena {
    unsigned char *data;
    size_t         bytes;
};

static struct arena send_arena;
static struct arena recv_arena;

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Distance between the messages of a window: lines when warm, since pages of their own would make
 * small messages meet in the same cache sets; pages in a cold walk. */
static size_t message_stride(const struct mg_visit *visit)
{
    const size_t bytes = visit->bytes > 0 ? visit->bytes : 1;

    return round_up(bytes, visit->pool_bytes > 0 ? PAGE_BYTES : LINE_BYTES);
}

static size_t messages_per_call(const struct mg_visit *visit)
{
    return visit->pattern->windowed ? (size_t) visit->window : 1;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t send_need(const struct mg_visit *visit)
{
    /* A warm window sends one buffer many times, which MPI allows. */
    const size_t once =
        message_stride(visit) * (visit->pool_bytes > 0 ? messages_per_call(visit) : 1);

    return most(once, visit->pool_bytes);
}

static size_t recv_need(const struct mg_visit *visit)
{
    /* Receives under way at once need places of their own: overlapping ones are an MPI error. */
    return most(message_stride(visit) * messages_per_call(visit), visit->pool_bytes);
}

static void arena_free(struct arena *arena)
{
    if (arena->data != NULL)
        (void) munmap(arena->data, arena->bytes);
    *arena = (struct arena){0};
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
    memset(arena->data, POISON, bytes);
    return true;
}

bool mg_payload_reserve(const struct mg_visit *visit)
{
    return arena_reserve(&send_arena, send_need(visit)) &&
           arena_reserve(&recv_arena, recv_need(visit));
}

void mg_payload_free(void)
{
    arena_free(&send_arena);
    arena_free(&recv_arena);
}

struct mg_walk mg_payload_walk(const struct mg_visit *visit, const struct mg_state *state,
                               int slots)
{
    const size_t stride = message_stride(visit) * messages_per_call(visit);

    return (struct mg_walk){.send_first  = state->send,
                            .recv_first  = state->recv,
                            .send_stride = stride,
                            .recv_stride = stride,
                            .slots       = slots};
}

/* ---- Content --------------------------------------------------------------------------------- */

/* Word i of what `rank` sends in a visit: different for every rank, visit and place, and never
 * constant, which could travel faster. */
static uint64_t content_word(int64_t visit, int rank, size_t i)
{
    uint64_t word = (uint64_t) visit * 0x9e3779b97f4a7c15u + (uint64_t) rank + 1 + (uint64_t) i;

    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

static void fill(unsigned char *data, size_t bytes, int64_t visit, int rank)
{
    for (size_t at = 0, i = 0; at < bytes; at += sizeof(uint64_t), i++) {
        const uint64_t word = content_word(visit, rank, i);
        const size_t   left = bytes - at;

        memcpy(data + at, &word, left < sizeof word ? left : sizeof word);
    }
}

/* Where data stops being what `rank` sent, or bytes if it never does. */
static size_t first_difference(const unsigned char *data, size_t bytes, int64_t visit, int rank)
{
    for (size_t at = 0, i = 0; at < bytes; at += sizeof(uint64_t), i++) {
        const uint64_t word = content_word(visit, rank, i);
        const size_t   left = bytes - at < sizeof word ? bytes - at : sizeof word;

        if (memcmp(data + at, &word, left) == 0)
            continue;
        for (size_t b = 0; b < left; b++)
            if (data[at + b] != ((const unsigned char *) &word)[b])
                return at + b;
    }
    return bytes;
}

void mg_payload_prepare(const struct mg_visit *visit, struct mg_state *state, int *slots_p)
{
    const size_t stride = message_stride(visit) * messages_per_call(visit);

    state->send      = send_arena.data;
    state->recv      = recv_arena.data;
    state->recv_step = message_stride(visit);
    state->send_step = visit->pool_bytes > 0 ? message_stride(visit) : 0;
    *slots_p         = visit->pool_bytes > stride ? (int) (visit->pool_bytes / stride) : 1;
    for (size_t i = 0; i < (state->send_step > 0 ? messages_per_call(visit) : 1); i++)
        fill(state->send + i * state->send_step, visit->bytes, visit->id, state->rank);
}

static void describe_difference(char *words, size_t words_bytes, const struct mg_state *state,
                                int message, size_t at, int64_t visit, int source)
{
    const uint64_t      word     = content_word(visit, source, at / sizeof(uint64_t));
    const unsigned char expected = ((const unsigned char *) &word)[at % sizeof word];
    const unsigned char found    = (state->recv + (size_t) message * state->recv_step)[at];

    (void) snprintf(words, words_bytes,
                    "rank %d received 0x%02x instead of 0x%02x from rank %d at byte %zu of %zu",
                    state->rank, found, expected, source, at, state->bytes);
}

/* Compares what has arrived here; the words stay empty if it is right. */
static void compare(const struct mg_visit *visit, const struct mg_state *state, char *words,
                    size_t words_bytes)
{
    const int source = visit->mode->source == NULL ? -1 : visit->mode->source(state);

    for (int i = 0; source >= 0 && i < (int) messages_per_call(visit); i++) {
        const unsigned char *data = state->recv + (size_t) i * state->recv_step;
        const size_t         at   = first_difference(data, visit->bytes, visit->id, source);

        if (at < visit->bytes) {
            describe_difference(words, words_bytes, state, i, at, visit->id, source);
            return;
        }
    }
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
    memset(state->recv, POISON, recv_need(visit));
    mg_handshake(state->comm); /* nobody sends before everybody's memory is poisoned */
    if (visit->mode->begin != NULL)
        visit->mode->begin(state);
    visit->mode->call(state);
    if (visit->mode->finish != NULL)
        visit->mode->finish(state);
    compare(visit, state, words, words_bytes);
    tell_root(state, words, words_bytes);
    return words[0] == '\0';
}

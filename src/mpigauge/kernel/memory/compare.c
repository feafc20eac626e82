/* compare - what has arrived against what was sent, byte by byte. */
#include "memory/compare.h"

#include "memory/content.h"
#include "patterns/parts.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <stdio.h>
#include <string.h>

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
    const struct mg_reduction reduction = mg_reduction_of(visit);
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

    *piece = (struct mg_piece){.at     = (size_t) i * state->recv_step,
                               .from   = (size_t) i * visit->bytes,
                               .bytes  = visit->bytes,
                               .source = source};
    return source >= 0 && i < (int) mg_messages_per_call(visit);
}

static void compare_piece(const struct mg_visit *visit, const struct mg_state *state,
                          const struct mg_piece *piece, char *words, size_t words_bytes)
{
    if (visit->pattern->reduces) {
        compare_reduced(visit, state, piece, words, words_bytes);
        return;
    }
    const size_t at = mg_content_differs(state->recv + piece->at, piece->bytes, visit->id,
                                         piece->source, piece->from);
    if (at < piece->bytes)
        describe_difference(words, words_bytes, state, piece, at, visit->id);
}

/* All pieces of a part, which lies in send and recv where those of the part do. */
static void compare_part(const struct mg_visit *visit, const struct mg_state *state,
                         const struct mg_state *part, char *words, size_t words_bytes)
{
    struct mg_piece piece = {0};

    for (int i = 0; words[0] == '\0' && piece_of(visit, part, i, &piece); i++) {
        piece.at += (size_t) (part->recv - state->recv);
        piece.from += (size_t) (part->send - state->send);
        compare_piece(visit, state, &piece, words, words_bytes);
    }
}

/* Compares what has arrived here; the words stay empty if it is right. */
static void compare(const struct mg_visit *visit, const struct mg_state *state, char *words,
                    size_t words_bytes)
{
    /* Only a pattern's own pieces depend on where its blocks lie; messages in parts are whole. */
    const bool in_parts = visit->mode->parts > 0 && visit->pattern->piece != NULL;
    const int  parts    = in_parts ? mg_parts_of(state, visit->mode->parts) : 1;

    for (int i = 0; !visit->pattern->spans_bytes && i < parts; i++) {
        const struct mg_state part = mg_part_of(state, parts, i);

        compare_part(visit, state, &part, words, words_bytes);
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

void mg_payload_compare(const struct mg_visit *visit, const struct mg_state *state, char *words,
                        size_t words_bytes)
{
    compare(visit, state, words, words_bytes);
    tell_root(state, words, words_bytes);
}

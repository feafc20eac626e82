/* compare - compares received payload with what was sent, byte by byte. */
#include "memory/compare.h"

#include "memory/content.h"
#include "memory/kinds.h"
#include "patterns/parts.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <stdio.h>
#include <string.h>

static void describe_difference(char *error, size_t error_bytes, const struct mg_visit *visit,
                                const struct mg_state *state, const struct mg_piece *piece,
                                size_t at)
{
    const size_t         place    = piece->from + at;
    const uint64_t       word     = mg_content_word(visit->id, piece->source, place / sizeof word);
    const unsigned char  found    = mg_memory_of(visit)->byte_at(state->recv + piece->at + at);
    const unsigned char *expected = (const unsigned char *) &word + place % sizeof word;

    (void) snprintf(error, error_bytes,
                    "rank %d received 0x%02x instead of 0x%02x from rank %d at byte %zu of %zu",
                    state->rank, found, *expected, piece->source, at, piece->bytes);
}

static void compare_reduced(const struct mg_visit *visit, const struct mg_state *state,
                            const struct mg_piece *piece, char *error, size_t error_bytes)
{
    const size_t              width     = visit->datatype->bytes;
    const size_t              count     = piece->bytes / width;
    const struct mg_reduction reduction = mg_reduction_of(visit);
    const size_t i = mg_memory_of(visit)->elements_differ(&reduction, state->recv + piece->at,
                                                          piece->from / width, count, piece->source,
                                                          piece->ranks);

    if (i < count)
        (void) snprintf(error, error_bytes,
                        "rank %d has a wrong element %zu of %zu: not the %s over ranks %d to %d",
                        state->rank, i, count, visit->operation->name, piece->source,
                        piece->source + piece->ranks - 1);
}

/* Piece i of what this rank must have received, by the pattern or by the source of the mode. */
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
                          const struct mg_piece *piece, char *error, size_t error_bytes)
{
    if (visit->pattern->reduces) {
        compare_reduced(visit, state, piece, error, error_bytes);
        return;
    }
    const size_t at = mg_memory_of(visit)->differs(state->recv + piece->at, piece->bytes, visit->id,
                                                   piece->source, piece->from);
    if (at < piece->bytes)
        describe_difference(error, error_bytes, visit, state, piece, at);
}

/* Compares all pieces of a part of the message. */
static void compare_part(const struct mg_visit *visit, const struct mg_state *state,
                         const struct mg_state *part, char *error, size_t error_bytes)
{
    struct mg_piece piece = {0};

    for (int i = 0; error[0] == '\0' && piece_of(visit, part, i, &piece); i++) {
        piece.at += (size_t) (part->recv - state->recv);
        piece.from += (size_t) (part->send - state->send);
        compare_piece(visit, state, &piece, error, error_bytes);
    }
}

/* Compares what this rank has received. */
static void compare(const struct mg_visit *visit, const struct mg_state *state, char *error,
                    size_t error_bytes)
{
    /* Parts matter only where a pattern has pieces of its own: parts of a plain message are
     * contiguous.
     */
    const bool in_parts = visit->mode->parts > 0 && visit->pattern->piece != NULL;
    const int  parts    = in_parts ? mg_parts_of(state, visit->mode->parts) : 1;

    for (int i = 0; !visit->pattern->spans_bytes && i < parts; i++) {
        const struct mg_state part = mg_part_of(state, parts, i);

        compare_part(visit, state, &part, error, error_bytes);
    }
    if (error[0] == '\0' && visit->pattern->check != NULL)
        (void) visit->pattern->check(state, error, error_bytes);
}

/* Sends the error of the first rank that has one to rank 0. */
static void send_to_root(const struct mg_state *state, char *error, size_t error_bytes)
{
    int first = error[0] != '\0' ? state->rank : state->ranks;

    MG_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, state->comm));
    if (first == 0 || first == state->ranks)
        return;
    if (state->rank == first)
        MG_MPI(MPI_Send(error, (int) error_bytes, MPI_CHAR, 0, MG_TAG_CONTROL, state->comm));
    if (state->rank == 0)
        MG_MPI(MPI_Recv(error, (int) error_bytes, MPI_CHAR, first, MG_TAG_CONTROL, state->comm,
                        MPI_STATUS_IGNORE));
}

void mg_payload_compare(const struct mg_visit *visit, const struct mg_state *state, char *error,
                        size_t error_bytes)
{
    compare(visit, state, error, error_bytes);
    send_to_root(state, error, error_bytes);
}

/* shared_content - the check of a copy from memory that ranks share, where the right content lies
 * there from the round before: `written` writes it once more, `forgotten` does not.  Prints what
 * the check says. */
#include "memory/granularity.h"
#include "memory/payload.h"
#include "patterns/pattern.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096 };

static void write_anew(struct mg_state *state)
{
    memcpy(state->shared + MG_PAGE_MAX_BYTES, state->send, state->bytes);
}

static void forget(struct mg_state *state)
{
    (void) state;
}

static void copy(struct mg_state *state)
{
    memcpy(state->recv, state->shared + MG_PAGE_MAX_BYTES, state->bytes);
}

static int from_itself(const struct mg_state *state)
{
    return state->rank;
}

int main(int argc, char **argv)
{
    const bool              writes  = argc > 1 && strcmp(argv[1], "written") == 0;
    const struct mg_mode    mode    = {.call = copy, .source = from_itself};
    const struct mg_pattern pattern = {.shares_memory = true,
                                       .prepare       = writes ? write_anew : forget};
    const struct mg_visit   visit   = {
        .id = 7, .bytes = BYTES, .ranks = 1, .window = 1, .pattern = &pattern, .mode = &mode};
    struct mg_state state = {.comm = MPI_COMM_SELF, .ranks = 1, .bytes = BYTES};
    char            words[MG_ERROR_BYTES];
    int             slots = 0;

    (void) MPI_Init(&argc, &argv);
    state.shared = calloc(1, MG_PAGE_MAX_BYTES + BYTES);
    if (state.shared == NULL || !mg_payload_reserve(&visit, 0))
        return EXIT_FAILURE;
    mg_payload_prepare(&visit, &state, &slots);
    write_anew(&state);
    (void) puts(mg_payload_verify(&visit, &state, words, sizeof words) ? "right" : "wrong");
    mg_payload_free();
    free(state.shared);
    (void) MPI_Finalize();
    return EXIT_SUCCESS;
}

/* stamps - when every rank began and ended its rounds, and samples from that. */
#include "rounds/stamps.h"

#include "clock/global_clock.h"
#include "ranks/abort.h"

#include <stdlib.h>

enum {
    GATHERED      = 64, /* rounds whose stamps are collected at once */
    SELDOM_ONE_IN = 10, /* at most, for rounds with a rank behind to be exceptions */
};

static int64_t duration(const struct mg_stamp *stamp)
{
    return stamp->end_ns - stamp->begin_ns;
}

/* A sample from the stamps of all ranks, each `stride` apart. */
static void add_sample(const struct mg_stamp *stamps, int stride, int ranks, int root, bool barrier,
                       int64_t *scratch_ns, struct mg_rounds *rounds, int i)
{
    int64_t first_begin = INT64_MAX, last_begin = INT64_MIN, first_end = INT64_MAX;
    int64_t last_end = INT64_MIN;

    rounds->late[i]   = false;
    rounds->behind[i] = false;
    for (int rank = 0; rank < ranks; rank++) {
        const struct mg_stamp *stamp = &stamps[(size_t) rank * (size_t) stride];

        first_begin = stamp->begin_ns < first_begin ? stamp->begin_ns : first_begin;
        last_begin  = stamp->begin_ns > last_begin ? stamp->begin_ns : last_begin;
        first_end   = stamp->end_ns < first_end ? stamp->end_ns : first_end;
        last_end    = stamp->end_ns > last_end ? stamp->end_ns : last_end;
        rounds->late[i] |= (stamp->lateness & MG_LATE_MESSAGE) != 0;
        rounds->behind[i] |= (stamp->lateness & MG_LATE_BEHIND) != 0;
        scratch_ns[rank] = duration(stamp);
    }
    rounds->samples_ns[i] = last_end - first_begin;
    rounds->skew_ns[i]    = last_begin - first_begin;
    rounds->root_ns[i]    = duration(&stamps[(size_t) root * (size_t) stride]);
    rounds->local_ns[i]   = mg_median_in(scratch_ns, ranks);
    rounds->left_early += barrier && first_end < last_begin;
}

/* Rounds with a late message are marked late.  Those with a rank behind are, too, if they are
 * exceptions; if they are common, they are what this machine does. */
static void mark_late(struct mg_rounds *rounds)
{
    int behind = 0;

    for (int i = 0; i < rounds->count; i++) {
        rounds->late_message_count += rounds->late[i];
        behind += rounds->behind[i];
    }
    for (int i = 0; i < rounds->count; i++) {
        rounds->late[i] |= rounds->behind[i] && behind * SELDOM_ONE_IN <= rounds->count;
        rounds->late_count += rounds->late[i];
    }
}

/* Sends the usual time of every rank to rank 0. */
static void gather_rank_times(const struct mg_stamps *series, const struct mg_state *state,
                              struct mg_rounds *rounds)
{
    int64_t *durations_ns = malloc((size_t) series->count * sizeof *durations_ns);

    if (durations_ns == NULL)
        MG_DIE("no memory for the times of %d rounds", series->count);
    for (int i = 0; i < series->count; i++)
        durations_ns[i] = duration(&series->stamps[i]);
    const int64_t own_ns = mg_median_in(durations_ns, series->count);

    mg_rounds_fit_ranks(rounds, state->ranks);
    MG_MPI(MPI_Gather(&own_ns, 1, MPI_INT64_T, rounds->rank_ns, 1, MPI_INT64_T, 0, state->comm));
    free(durations_ns);
}

/* Gathers some rounds at a time, so that memory does not grow with the length of a series. */
void mg_stamps_collect(const struct mg_stamps *series, const struct mg_visit *visit,
                       const struct mg_state *state, int first_root, struct mg_rounds *rounds)
{
    const size_t     ranks      = state->ranks > 1 ? (size_t) state->ranks : 1;
    const size_t     every      = ranks * GATHERED;
    struct mg_stamp *all        = state->rank == 0 ? malloc(every * sizeof *all) : NULL;
    int64_t         *scratch_ns = malloc(ranks * sizeof *scratch_ns);

    if (scratch_ns == NULL || (state->rank == 0 && all == NULL))
        MG_DIE("no memory for the stamps of %d ranks", state->ranks);
    for (int i = 0; i < series->count; i++) {
        series->stamps[i].begin_ns = mg_global_of(series->stamps[i].begin_ns);
        series->stamps[i].end_ns   = mg_global_of(series->stamps[i].end_ns);
    }
    rounds->left_early         = 0;
    rounds->late_count         = 0;
    rounds->late_message_count = 0;
    for (int at = 0; at < series->count; at += GATHERED) {
        const int part  = series->count - at < GATHERED ? series->count - at : GATHERED;
        const int bytes = part * (int) sizeof *all;

        MG_MPI(
            MPI_Gather(&series->stamps[at], bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, state->comm));
        for (int i = 0; state->rank == 0 && i < part; i++)
            add_sample(all + i, part, state->ranks,
                       visit->root < 0 ? (first_root + at + i) % state->ranks : visit->root,
                       visit->pattern->synchronises && mg_clocks_shared(), scratch_ns, rounds,
                       at + i);
    }
    free(all);
    free(scratch_ns);
    if (visit->pattern->rank_times)
        gather_rank_times(series, state, rounds);
    rounds->count = series->count;
    if (state->rank == 0)
        mark_late(rounds);
    rounds->cpu_ns =
        series->cpu_rounds > 0 ? series->cpu_ns * series->count / series->cpu_rounds : -1;
}

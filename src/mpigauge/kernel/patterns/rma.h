/* rma.h - one-sided operations for any number of bytes, and the ways of synchronising them.
 *
 * An operation goes from rank 0 to rank 1 unless it is said otherwise; rank 1 then has nothing to
 * do, and waits in MPI for the end of the series.  With fences both have to synchronise, and with
 * post, start, complete and wait the ranks take turns. */
#ifndef MG_RMA_H
#define MG_RMA_H

#include "patterns/calls.h"
#include "patterns/window.h"

#if MPI_VERSION >= 4
#define MG_RMA(call, data, bytes, rank, place, ...)                                             \
    MG_MPI((bytes) <= INT_MAX ? call(data, (int) (bytes), MPI_BYTE, rank, place, (int) (bytes), \
                                     MPI_BYTE, __VA_ARGS__)                                     \
                              : call##_c(data, (MPI_Count) (bytes), MPI_BYTE, rank, place,      \
                                         (MPI_Count) (bytes), MPI_BYTE, __VA_ARGS__))
#else
#define MG_RMA(call, data, bytes, rank, place, ...) \
    MG_MPI(call(data, (int) (bytes), MPI_BYTE, rank, place, (int) (bytes), MPI_BYTE, __VA_ARGS__))
#endif

/* An operation on the memory of a rank. */
typedef void (*mg_rma_fn)(struct mg_state *state, int rank);

/* Where message i is received on a rank, and where it is sent from, in its window. */
static inline MPI_Aint mg_place_received(const struct mg_state *state, int i, int rank)
{
    return state->rma->there[rank] + (state->recv - state->rma->here) +
           (MPI_Aint) ((size_t) i * state->recv_step);
}

static inline MPI_Aint mg_place_sent(const struct mg_state *state, int i, int rank)
{
    return state->rma->there[rank] + (state->send - state->rma->here) +
           (MPI_Aint) ((size_t) i * state->send_step);
}

static inline void mg_put_bytes(const struct mg_state *state, int i, int rank)
{
    MG_RMA(MPI_Put, state->send + (size_t) i * state->send_step, state->bytes, rank,
           mg_place_received(state, i, rank), state->rma->win);
}

static inline void mg_get_bytes(const struct mg_state *state, int i, int rank)
{
    MG_RMA(MPI_Get, state->recv + (size_t) i * state->recv_step, state->bytes, rank,
           mg_place_sent(state, i, rank), state->rma->win);
}

/* ---- Passive targets ---- */

/* Makes what this rank has stored in its window visible to others, and what others have put there
 * to this rank.  In no epoch. */
static inline void mg_window_settle(const struct mg_state *state)
{
    MG_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, state->rank, 0, state->rma->win));
    MG_MPI(MPI_Win_unlock(state->rank, state->rma->win));
}

/* An epoch around a series. */
static inline void mg_epoch_begin(struct mg_state *state)
{
    if (state->rank == 0)
        MG_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, state->rma->win));
}

static inline void mg_epoch_finish(struct mg_state *state)
{
    if (state->rank == 0)
        MG_MPI(MPI_Win_unlock(1, state->rma->win));
}

/* The same of every rank to all others.  Nobody asks for an exclusive lock meanwhile. */
static inline void mg_epoch_of_all_begin(struct mg_state *state)
{
    MG_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, state->rma->win));
}

static inline void mg_epoch_of_all_finish(struct mg_state *state)
{
    MG_MPI(MPI_Win_unlock_all(state->rma->win));
}

static inline void mg_with_flush(struct mg_state *state, mg_rma_fn operate)
{
    if (state->rank != 0)
        return;
    operate(state, 1);
    MG_MPI(MPI_Win_flush(1, state->rma->win));
}

static inline void mg_with_flush_local(struct mg_state *state, mg_rma_fn operate)
{
    if (state->rank != 0)
        return;
    operate(state, 1);
    MG_MPI(MPI_Win_flush_local(1, state->rma->win));
}

static inline void mg_in_lock(struct mg_state *state, mg_rma_fn operate, int type)
{
    if (state->rank != 0)
        return;
    MG_MPI(MPI_Win_lock(type, 1, 0, state->rma->win));
    operate(state, 1);
    MG_MPI(MPI_Win_unlock(1, state->rma->win));
}

static inline void mg_with_lock(struct mg_state *state, mg_rma_fn operate)
{
    mg_in_lock(state, operate, MPI_LOCK_SHARED);
}

static inline void mg_with_lock_exclusive(struct mg_state *state, mg_rma_fn operate)
{
    mg_in_lock(state, operate, MPI_LOCK_EXCLUSIVE);
}

static inline void mg_with_lock_all(struct mg_state *state, mg_rma_fn operate)
{
    if (state->rank != 0)
        return;
    MG_MPI(MPI_Win_lock_all(0, state->rma->win));
    operate(state, 1);
    MG_MPI(MPI_Win_unlock_all(state->rma->win));
}

/* ---- Active targets ---- */

static inline void mg_with_fence(struct mg_state *state, mg_rma_fn operate)
{
    MG_MPI(MPI_Win_fence(0, state->rma->win));
    if (state->rank == 0)
        operate(state, 1);
    MG_MPI(MPI_Win_fence(0, state->rma->win));
}

/* The last fence says that no epoch follows: others may lock the window then. */
static inline void mg_fence_finish(struct mg_state *state)
{
    MG_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, state->rma->win));
}

static inline void mg_pscw_access(struct mg_state *state, mg_rma_fn operate)
{
    MG_MPI(MPI_Win_start(state->rma->partner, 0, state->rma->win));
    operate(state, mg_other(state));
    MG_MPI(MPI_Win_complete(state->rma->win));
}

static inline void mg_pscw_expose(struct mg_state *state)
{
    MG_MPI(MPI_Win_post(state->rma->partner, 0, state->rma->win));
    MG_MPI(MPI_Win_wait(state->rma->win));
}

/* There and back. */
static inline void mg_with_pscw(struct mg_state *state, mg_rma_fn operate)
{
    if (state->rank == 0) {
        mg_pscw_access(state, operate);
        mg_pscw_expose(state);
    } else {
        mg_pscw_expose(state);
        mg_pscw_access(state, operate);
    }
}

/* ---- Patterns of one operation ---- */

/* Whose payload arrives: at the target of a put, at the origin of a get. */
#define MG_TO_TARGET   .source = mg_zero_to_one, .directions = 1
#define MG_FROM_TARGET .source = mg_one_to_zero, .directions = 1

/* The call of a mode, named as its way of synchronising. */
#define MG_RMA_CALL(way, operate)           \
    static void way(struct mg_state *state) \
    {                                       \
        mg_with_##way(state, operate);      \
    }

/* Modes with these calls.  words: the functions of the operation.  means: what has been reached
 * then, or "".  The other members follow, at least .directions. */
#define MG_FLUSH(words, means, begins, ...)         \
    {.name         = "flush",                       \
     .about        = words ", MPI_Win_flush" means, \
     .begin        = (begins),                      \
     .call         = flush,                         \
     .finish       = mg_epoch_finish,               \
     .target_waits = true,                          \
     __VA_ARGS__}

#define MG_FLUSH_LOCAL(words, means, ...)                 \
    {.name         = "flush_local",                       \
     .about        = words ", MPI_Win_flush_local" means, \
     .begin        = mg_epoch_begin,                      \
     .call         = flush_local,                         \
     .finish       = mg_epoch_finish,                     \
     .target_waits = true,                                \
     __VA_ARGS__}

#define MG_LOCK(words, begins, ...)                                      \
    {.name         = "lock",                                             \
     .about        = "MPI_Win_lock (shared), " words ", MPI_Win_unlock", \
     .begin        = (begins),                                           \
     .call         = lock,                                               \
     .instead_of   = "flush",                                            \
     .target_waits = true,                                               \
     __VA_ARGS__}

#define MG_LOCK_EXCLUSIVE(words, ...)                                       \
    {.name         = "lock_exclusive",                                      \
     .about        = "MPI_Win_lock (exclusive), " words ", MPI_Win_unlock", \
     .call         = lock_exclusive,                                        \
     .target_waits = true,                                                  \
     __VA_ARGS__}

#define MG_LOCK_ALL(words, ...)                                         \
    {.name         = "lock_all",                                        \
     .about        = "MPI_Win_lock_all, " words ", MPI_Win_unlock_all", \
     .call         = lock_all,                                          \
     .target_waits = true,                                              \
     __VA_ARGS__}

#define MG_REQUEST(words, means, ...)          \
    {.name         = "request",                \
     .about        = words ", MPI_Wait" means, \
     .begin        = mg_epoch_begin,           \
     .call         = request,                  \
     .finish       = mg_epoch_finish,          \
     .target_waits = true,                     \
     __VA_ARGS__}

#define MG_FENCE(words, ...)                                            \
    {.name   = "fence",                                                 \
     .about  = "MPI_Win_fence, " words ", MPI_Win_fence on both ranks", \
     .call   = fence,                                                   \
     .finish = mg_fence_finish,                                         \
     __VA_ARGS__}

#define MG_PSCW(words)                                                                             \
    {.name = "pscw",                                                                               \
     MG_OF_TURNS,                                                                                  \
     .about =                                                                                      \
         "MPI_Win_start, " words ", MPI_Win_complete; MPI_Win_post, MPI_Win_wait; there and back", \
     .call       = pscw,                                                                           \
     .source     = mg_other,                                                                       \
     .directions = 1,                                                                              \
     .trips      = 2}

/* What a time is where the target takes part, of patterns of one operation. */
#define MG_OF_FENCES .time_of = "two fences with the operation between them; both ranks take part"
#define MG_OF_TURNS \
    .time_of = "one operation of each rank in turn and its synchronisation: half of both"

/* Members of a pattern in which rank 0 works on the memory of rank 1. */
#define MG_ON_TARGET                                                                \
    .family = MG_ONE_SIDED, .min_ranks = 2, .active_ranks = 2, .moves_bytes = true, \
    .one_sided = true, .wire = MG_ONE_MESSAGE

/* Of one in which it does so once per call. */
#define MG_ONE_OPERATION                                        \
    MG_ON_TARGET, .sampling = &mg_sampling_chained, .trips = 1, \
        .time_of = "one operation and its synchronisation on rank 0; rank 1 waits in MPI"

#endif

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

static inline int mg_partner(const struct mg_state *state)
{
    return 1 - state->rank;
}

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

static inline void mg_with_lock(struct mg_state *state, mg_rma_fn operate, int type)
{
    if (state->rank != 0)
        return;
    MG_MPI(MPI_Win_lock(type, 1, 0, state->rma->win));
    operate(state, 1);
    MG_MPI(MPI_Win_unlock(1, state->rma->win));
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
    operate(state, mg_partner(state));
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

#endif

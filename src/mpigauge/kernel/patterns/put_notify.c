/* put_notify - put, and tell the target that it is there: what a message does in one call. */
#include "patterns/handover.h"
#include "patterns/rma.h"
#include "rounds/sampling.h"

enum {
    POLLS_ALONE = 200, /* of the flag, before a rank enters the progress engine, too */
    LATE_MOST   = 2,   /* flags in a row that did not come within them */
};

struct own {
    /* A store of another core is seen within some polls, and no progress of MPI delays it; a
     * library that needs its target brings no flag before that enters MPI, however long it polls.
     * Which of the two a window is shows in the first messages of a series. */
    int late;

    /* The last value of flags, on both ranks. */
    uint64_t sequence;
};

static struct own *own_of(const struct mg_state *state)
{
    return (struct own *) state->own;
}

static uint64_t *own_flag(const struct mg_state *state)
{
    return (uint64_t *) (void *) (state->rma->here + state->rma->bytes);
}

/* The data are there before the flag is sent. */
static void put_then_flag(struct mg_state *state)
{
    const int      to    = mg_other(state);
    const MPI_Aint place = state->rma->there[to] + (MPI_Aint) state->rma->bytes;

    mg_put_bytes(state, 0, to);
    MG_MPI(MPI_Win_flush(to, state->rma->win));
    MG_RMA(MPI_Put, &own_of(state)->sequence, sizeof own_of(state)->sequence, to, place,
           state->rma->win);
    MG_MPI(MPI_Win_flush(to, state->rma->win));
}

/* The flag of an earlier visit must not be taken for one of this: rank 0, which is the first to
 * send one, does so when that of rank 1 is cleared. */
static void begin_flag(struct mg_state *state)
{
    struct own *own = (struct own *) mg_kept(state, sizeof *own);

    *own = (struct own){0};
    mg_epoch_of_all_begin(state);
    __atomic_store_n(own_flag(state), 0, __ATOMIC_RELEASE);
    MG_MPI(MPI_Win_sync(state->rma->win));
    if (state->rank == 0)
        mg_await(state, 1);
    else
        mg_signal(state, 0);
}

/* What the flag tells of is read behind an MPI_Win_sync. */
static void wait_for_flag(struct mg_state *state)
{
    struct own *own      = own_of(state);
    const int   patience = own->late < LATE_MOST ? POLLS_ALONE : 0;
    int         polls    = 0;
    int         found    = 0;

    for (; __atomic_load_n(own_flag(state), __ATOMIC_ACQUIRE) != own->sequence; polls++) {
        MG_MPI(MPI_Win_sync(state->rma->win));
        if (polls >= patience)
            MG_MPI(MPI_Iprobe(mg_other(state), MG_TAG, state->comm, &found, MPI_STATUS_IGNORE));
        if (polls > MG_SPINS_MAX)
            (void) sched_yield();
    }
    MG_MPI(MPI_Win_sync(state->rma->win));
    if (patience > 0)
        own->late = polls > patience ? own->late + 1 : 0;
}

static void flag(struct mg_state *state)
{
    own_of(state)->sequence++;
    if (state->rank == 0) {
        put_then_flag(state);
        wait_for_flag(state);
    } else {
        wait_for_flag(state);
        put_then_flag(state);
    }
}

static void put_then_signal(struct mg_state *state)
{
    const int to = mg_other(state);

    mg_put_bytes(state, 0, to);
    MG_MPI(MPI_Win_flush(to, state->rma->win));
    mg_signal(state, to);
}

static void wait_for_signal(struct mg_state *state)
{
    mg_await(state, mg_other(state));
    MG_MPI(MPI_Win_sync(state->rma->win));
}

static void send(struct mg_state *state)
{
    if (state->rank == 0) {
        put_then_signal(state);
        wait_for_signal(state);
    } else {
        wait_for_signal(state);
        put_then_signal(state);
    }
}

const struct mg_pattern mg_put_notify = {
    .name         = "put-notify",
    .about        = "a put that the target is told of, there and back",
    .time_of      = "one way, until the target has seen the data: half a round trip",
    .family       = MG_ONE_SIDED,
    .sampling     = &mg_sampling_chained,
    .min_ranks    = 2,
    .active_ranks = 2,
    .trips        = 2,
    .moves_bytes  = true,
    .one_sided    = true,
    .one_way      = true,
    .wire         = MG_ONE_MESSAGE,
    .modes        = MG_MODES({.name          = "flag",
                              .about         = "MPI_Put, MPI_Win_flush, MPI_Put of a flag, MPI_Win_flush; "
                                               "the target polls its memory, with MPI_Win_sync",
                              .begin         = begin_flag,
                              .call          = flag,
                              .finish        = mg_epoch_of_all_finish,
                              .source        = mg_other,
                              .directions    = 1,
                              .needs_unified = true},
                             {.name          = "send",
                              .about         = "MPI_Put, MPI_Win_flush, an empty MPI_Send",
                              .begin         = mg_epoch_of_all_begin,
                              .call          = send,
                              .finish        = mg_epoch_of_all_finish,
                              .source        = mg_other,
                              .directions    = 1,
                              .needs_unified = true}),
};

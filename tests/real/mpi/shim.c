/* shim - preloaded into the ranks: does something to calls of SHIM_BYTES bytes.
 *
 * SHIM_CALL is the call, MPI_Send unless it says otherwise; SHIM_RANK the only rank that does it;
 * SHIM_TAG the only one of messages that MPI_Send corrupts;
 * SHIM_PAIR=1-3 the only two ranks of the world between which MPI_Send does it.
 * SHIM_ACTION is hang, crash, corrupt, exit (ends with status 0 and no word) or delay, which spins
 * for SHIM_DELAY_NS, and for twice as long in calls of SHIM_TWICE_BYTES: two delays of known
 * difference, since whatever a wait does to what follows it, both do.
 *
 * With late, MPI_Iprobe finds nothing before MPI_Probe has: as on a network where what was sent
 * first is seen no sooner than what comes after it; the first MPI_Send of SHIM_BYTES takes
 * SHIM_DELAY_NS.
 *
 * Of MPI_Allreduce of 32-bit numbers also rotate, where every number of the result is the one
 * before it, and forget, where a rank contributes what changes nothing; of MPI_Isend also repeat,
 * which sends the message before once more; of MPI_Sendrecv_replace forget, which does nothing; of
 * MPI_Recv gap, which writes byte SHIM_AT, where no block of a datatype lies.
 *
 * MPI_Init, MPI_Comm_dup and MPI_Session_init, which have no bytes, know delay; MPI_Comm_dup also
 * forget, where the copy has one rank.
 *
 * SHIM_HOSTS: MPI_Get_processor_name tells the ranks in turn the names of so many hosts.
 * SHIM_ENTRY_NS: MPI_Recv spins so long for every receive of 1 B that is posted and waits.
 * SHIM_ORDER: MPI_Type_create_subarray takes the dimensions in the other order.
 * SHIM_BLOCK_NS: MPI_Send spins so long for every eight bytes of a datatype that is not predefined.
 */
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? atol(text) : -1;
}

static long long now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(long long delay_ns)
{
    const long long until_ns = now_ns() + delay_ns;

    while (now_ns() < until_ns)
        ;
}

struct orders {
    int         known;
    const char *call;
    const char *action;
    long        bytes;
    long        twice_bytes;
    long        rank;
    long        delay_ns;
};

static const struct orders *orders(void)
{
    static struct orders given;

    if (!given.known) {
        given = (struct orders){.known       = 1,
                                .call        = getenv("SHIM_CALL"),
                                .action      = getenv("SHIM_ACTION"),
                                .bytes       = number("SHIM_BYTES"),
                                .twice_bytes = number("SHIM_TWICE_BYTES"),
                                .rank        = number("SHIM_RANK"),
                                .delay_ns    = number("SHIM_DELAY_NS")};
        if (given.call == NULL)
            given.call = "MPI_Send";
    }
    return &given;
}

/* The action for this call, or "". */
static const char *action_for(const char *call, int count, MPI_Datatype type, MPI_Comm comm)
{
    const struct orders *given = orders();
    int                  size  = 1;
    int                  rank  = 0;

    if (given->action == NULL || strcmp(given->call, call) != 0)
        return "";
    (void) PMPI_Type_size(type, &size);
    (void) PMPI_Comm_rank(comm, &rank);
    const long bytes = (long) count * size;

    if (given->rank >= 0 && given->rank != rank)
        return "";
    if (bytes == given->twice_bytes && strcmp(given->action, "delay") == 0)
        return "delay twice";
    return bytes == given->bytes ? given->action : "";
}

static void before(const char *action)
{
    static int late;

    if (strcmp(action, "late") == 0 && late++ == 0)
        spin(orders()->delay_ns);
    if (strcmp(action, "delay") == 0)
        spin(orders()->delay_ns);
    if (strcmp(action, "delay twice") == 0)
        spin(2LL * orders()->delay_ns);
    if (strcmp(action, "hang") == 0)
        for (;;)
            (void) pause();
    if (strcmp(action, "crash") == 0) {
        (void) fprintf(stderr, "shim: these are my last words\n");
        (void) raise(SIGSEGV);
    }
    if (strcmp(action, "exit") == 0)
        _exit(0);
}

/* The action for a call without bytes, on all ranks. */
static const char *action_of(const char *call)
{
    const struct orders *given = orders();

    return given->action != NULL && strcmp(given->call, call) == 0 ? given->action : "";
}

int MPI_Init(int *argc, char ***argv)
{
    before(action_of("MPI_Init"));
    return PMPI_Init(argc, argv);
}

int MPI_Get_processor_name(char *name, int *length)
{
    const long hosts = number("SHIM_HOSTS");
    int        rank  = 0;

    if (hosts <= 0)
        return PMPI_Get_processor_name(name, length);
    (void) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *length = sprintf(name, "host%ld", rank % hosts);
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    const char *action = action_of("MPI_Comm_dup");

    before(action);
    return PMPI_Comm_dup(strcmp(action, "forget") == 0 ? MPI_COMM_SELF : comm, made);
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    before(action_of("MPI_Session_init"));
    return PMPI_Session_init(info, handler, session);
}
#endif

static int rank_in_world(MPI_Comm comm, int rank)
{
    MPI_Group here    = MPI_GROUP_NULL;
    MPI_Group world   = MPI_GROUP_NULL;
    int       of_rank = -1;

    (void) PMPI_Comm_group(comm, &here);
    (void) PMPI_Comm_group(MPI_COMM_WORLD, &world);
    (void) PMPI_Group_translate_ranks(here, 1, &rank, world, &of_rank);
    (void) PMPI_Group_free(&here);
    (void) PMPI_Group_free(&world);
    return of_rank;
}

/* Whether a message goes between the two ranks of SHIM_PAIR, either way; yes if there is none. */
static int is_of_pair(MPI_Comm comm, int to)
{
    const char *pair = getenv("SHIM_PAIR");
    int         here = 0;
    char        both[2][32];

    if (pair == NULL)
        return 1;
    (void) PMPI_Comm_rank(comm, &here);
    const int from = rank_in_world(comm, here);
    const int peer = rank_in_world(comm, to);
    (void) snprintf(both[0], sizeof both[0], "%d-%d", from, peer);
    (void) snprintf(both[1], sizeof both[1], "%d-%d", peer, from);
    return strcmp(pair, both[0]) == 0 || strcmp(pair, both[1]) == 0;
}

/* How many times eight bytes a datatype has; 0 if it is predefined. */
static long blocks_of(MPI_Datatype type)
{
    int size = 0, integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;

    (void) PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    (void) PMPI_Type_size(type, &size);
    return combiner == MPI_COMBINER_NAMED ? 0 : size / 8;
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    const char *action   = action_for("MPI_Send", count, type, comm);
    const long  block_ns = number("SHIM_BLOCK_NS");

    if (block_ns > 0)
        spin(block_ns * count * blocks_of(type));
    if (action[0] != '\0' && !is_of_pair(comm, to))
        action = "";
    before(action);
    if (strcmp(action, "corrupt") == 0 && count > 5 &&
        (number("SHIM_TAG") < 0 || tag == number("SHIM_TAG"))) {
        unsigned char *copy = malloc((size_t) count);

        memcpy(copy, data, (size_t) count);
        copy[5] ^= 0x40;
        const int code = PMPI_Send(copy, count, type, to, tag, comm);
        free(copy);
        return code;
    }
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Type_create_subarray(int dimensions, const int sizes[], const int parts[],
                             const int starts[], int order, MPI_Datatype of, MPI_Datatype *made)
{
    return PMPI_Type_create_subarray(dimensions, sizes, parts, starts,
                                     getenv("SHIM_ORDER") != NULL ? MPI_ORDER_FORTRAN : order, of,
                                     made);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    before(action_for("MPI_Bcast", count, type, comm));
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *into,
                 int into_count, MPI_Datatype into_type, int from, int into_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    before(action_for("MPI_Sendrecv", count, type, comm));
    return PMPI_Sendrecv(data, count, type, to, tag, into, into_count, into_type, from, into_tag,
                         comm, status);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static const void *last;
    const char        *action = action_for("MPI_Isend", count, type, comm);
    const int          again  = strcmp(action, "repeat") == 0 && last != NULL;
    const void        *sent   = again ? last : data;

    before(action);
    last = data;
    return PMPI_Isend(sent, count, type, to, tag, comm, request);
}

int MPI_Rsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    before(action_for("MPI_Rsend", count, type, comm));
    return PMPI_Rsend(data, count, type, to, tag, comm);
}

static long queued; /* receives of 1 B that nobody sends to */

int MPI_Cancel(MPI_Request *request)
{
    queued--;
    return PMPI_Cancel(request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    before(action_for("MPI_Irecv", count, type, comm));
    queued += count == 1;
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const char *action   = action_for("MPI_Recv", count, type, comm);
    const long  entry_ns = number("SHIM_ENTRY_NS");

    before(action);
    const int code = PMPI_Recv(data, count, type, from, tag, comm, status);
    if (entry_ns > 0 && count > 1)
        spin(entry_ns * queued);
    if (strcmp(action, "gap") == 0)
        ((unsigned char *) data)[number("SHIM_AT")] ^= 0x40;
    return code;
}

int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int tag, int from,
                         int into_tag, MPI_Comm comm, MPI_Status *status)
{
    const char *action = action_for("MPI_Sendrecv_replace", count, type, comm);

    before(action);
    if (strcmp(action, "forget") == 0)
        return MPI_SUCCESS;
    return PMPI_Sendrecv_replace(data, count, type, to, tag, from, into_tag, comm, status);
}

static int probed; /* MPI_Probe has found something */

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    const char *action = orders()->action;

    if (action != NULL && strcmp(action, "late") == 0 && !probed) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return PMPI_Iprobe(from, tag, comm, flag, status);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    probed = 1;
    return PMPI_Probe(from, tag, comm, status);
}

/* What contributes nothing to an operation on 32-bit numbers. */
static int32_t neutral_of(MPI_Op op)
{
    if (op == MPI_MIN)
        return INT32_MAX;
    if (op == MPI_MAX)
        return INT32_MIN;
    if (op == MPI_BAND)
        return -1;
    return op == MPI_LAND || op == MPI_PROD ? 1 : 0;
}

static void rotate(int32_t *numbers, int count)
{
    const int32_t last = numbers[count - 1];

    memmove(numbers + 1, numbers, (size_t) (count - 1) * sizeof *numbers);
    numbers[0] = last;
}

int MPI_Allreduce(const void *data, void *result, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const char *action  = action_for("MPI_Allreduce", count, type, comm);
    int32_t    *nothing = NULL;

    before(action);
    if (strcmp(action, "forget") == 0) {
        nothing = malloc((size_t) count * sizeof *nothing);
        for (int i = 0; i < count; i++)
            nothing[i] = neutral_of(op);
    }
    const int code =
        PMPI_Allreduce(nothing != NULL ? nothing : data, result, count, type, op, comm);
    free(nothing);
    if (strcmp(action, "corrupt") == 0)
        ((unsigned char *) result)[5] ^= 0x40;
    if (strcmp(action, "rotate") == 0)
        rotate(result, count);
    return code;
}

/* windows - memory that ranks expose to one-sided operations.
 *
 * Making a window can take milliseconds, so all are made before the first visit.  Each has memory
 * of its own, which never moves. */
#include "memory/windows.h"

#include "memory/granularity.h"
#include "ranks/abort.h"
#include "ranks/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WHY_BYTES = MPI_MAX_ERROR_STRING + 64, PAGE_BYTES = 4096 };

struct made {
    int                 ranks;
    enum mg_window_kind kind;
    struct mg_window    window;
    size_t              mapped_bytes;
    char                why[WHY_BYTES]; /* there is none; empty if there is */
    struct mg_group     group;
};

static struct {
    struct made *made;
    int          count;
} windows;

/* ---- Ways of making one ---------------------------------------------------------------------- */

static const char *const function_of[MG_WINDOW_KINDS] = {
    [MG_WINDOW_ALLOCATE] = "MPI_Win_allocate",
    [MG_WINDOW_CREATE]   = "MPI_Win_create",
    [MG_WINDOW_DYNAMIC]  = "MPI_Win_create_dynamic or MPI_Win_attach",
    [MG_WINDOW_SHARED]   = "MPI_Win_allocate_shared",
};

/* The same on all ranks. */
static bool is_on_one_host(MPI_Comm comm)
{
    MPI_Comm host  = MPI_COMM_NULL;
    int      here  = 0;
    int      ranks = 0;

    MG_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    MG_MPI(MPI_Comm_size(host, &here));
    MG_MPI(MPI_Comm_free(&host));
    MG_MPI(MPI_Comm_size(comm, &ranks));
    return mg_all_true(comm, here == ranks);
}

/* Memory of this rank for a window that has none of its own. */
static bool map_memory(struct made *made, size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (data != MAP_FAILED) {
        made->window.here  = data;
        made->mapped_bytes = bytes;
    }
    return mg_all_true(made->group.comm, data != MAP_FAILED);
}

/* What a dynamic window needs beside; nothing for others. */
static int attach(struct made *made, size_t bytes)
{
    return made->kind == MG_WINDOW_DYNAMIC
               ? MPI_Win_attach(made->window.win, made->window.here, (MPI_Aint) bytes)
               : MPI_SUCCESS;
}

static void detach(struct made *made)
{
    if (made->kind == MG_WINDOW_DYNAMIC)
        MG_MPI(MPI_Win_detach(made->window.win, made->window.here));
}

static int make_of_kind(struct made *made, size_t bytes)
{
    struct mg_window *window = &made->window;
    const MPI_Aint    size   = (MPI_Aint) bytes;
    const MPI_Comm    comm   = made->group.comm;

    switch (made->kind) {
    case MG_WINDOW_CREATE:
        return MPI_Win_create(window->here, size, 1, MPI_INFO_NULL, comm, &window->win);
    case MG_WINDOW_DYNAMIC:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window->win);
    case MG_WINDOW_SHARED:
        return MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm, (void *) &window->here,
                                       &window->win);
    default:
        return MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm, (void *) &window->here, &window->win);
    }
}

/* ---- What others must know of it ------------------------------------------------------------- */

/* Displacements count from the beginning of a rank's memory, in dynamic windows from address 0. */
static void exchange_places(struct made *made)
{
    MPI_Aint here  = 0;
    int      ranks = 0;

    MG_MPI(MPI_Comm_size(made->group.comm, &ranks));
    made->window.there = calloc((size_t) ranks, sizeof *made->window.there);
    if (made->window.there == NULL)
        MG_DIE("no memory for the addresses of %d ranks", ranks);
    if (made->kind == MG_WINDOW_DYNAMIC)
        MG_MPI(MPI_Get_address(made->window.here, &here));
    MG_MPI(MPI_Allgather(&here, 1, MPI_AINT, made->window.there, 1, MPI_AINT, made->group.comm));
}

static void find_partner(struct made *made)
{
    MPI_Group all   = MPI_GROUP_NULL;
    int       other = 0;

    made->window.partner = MPI_GROUP_NULL;
    if (made->ranks != 2)
        return;
    MG_MPI(MPI_Comm_rank(made->group.comm, &other));
    other = 1 - other;
    MG_MPI(MPI_Comm_group(made->group.comm, &all));
    MG_MPI(MPI_Group_incl(all, 1, &other, &made->window.partner));
    MG_MPI(MPI_Group_free(&all));
}

static bool is_unified(MPI_Win win)
{
    int *model_p = NULL;
    int  found   = 0;

    MG_MPI(MPI_Win_get_attr(win, MPI_WIN_MODEL, (void *) &model_p, &found));
    return found && *model_p == MPI_WIN_UNIFIED;
}

/* ---- All of a plan --------------------------------------------------------------------------- */

static void remember_failure(struct made *made, int code)
{
    char reason[MPI_MAX_ERROR_STRING] = "it succeeded on this rank but not on another one";
    int  length                       = 0;

    if (code != MPI_SUCCESS)
        (void) MPI_Error_string(code, reason, &length);
    (void) snprintf(made->why, sizeof made->why, "%s failed: %s", function_of[made->kind], reason);
}

/* On all ranks; else the reason is kept. */
static bool succeeds(struct made *made, int code)
{
    if (mg_all_true(made->group.comm, code == MPI_SUCCESS))
        return true;
    remember_failure(made, code);
    return false;
}

static void make(struct made *made)
{
    const MPI_Comm comm = made->group.comm;
    const bool     ours = made->kind == MG_WINDOW_CREATE || made->kind == MG_WINDOW_DYNAMIC;
    const size_t   room = made->window.bytes + mg_line_bytes();

    if (made->kind == MG_WINDOW_SHARED && !is_on_one_host(comm)) {
        (void) snprintf(made->why, sizeof made->why,
                        "its ranks share no memory: they are on different hosts");
        return;
    }
    if (ours && !map_memory(made, room)) {
        (void) snprintf(made->why, sizeof made->why, "there is no memory for its window");
        return;
    }
    if (!succeeds(made, make_of_kind(made, room)))
        return;
    MG_MPI(MPI_Win_set_errhandler(made->window.win, MPI_ERRORS_RETURN));
    const int attached = attach(made, room);
    if (!succeeds(made, attached)) {
        if (attached == MPI_SUCCESS)
            detach(made);
        MG_MPI(MPI_Win_free(&made->window.win));
        return;
    }
    made->window.is_unified = mg_all_true(comm, is_unified(made->window.win));
    exchange_places(made);
    find_partner(made);
    memset(made->window.here, 0, room); /* touched by its owner first */
    mg_handshake(comm);
}

static struct made *find(int ranks, enum mg_window_kind kind)
{
    for (int i = 0; i < windows.count; i++)
        if (windows.made[i].ranks == ranks && windows.made[i].kind == kind)
            return &windows.made[i];
    return NULL;
}

static struct made *find_or_add(int ranks, enum mg_window_kind kind)
{
    struct made *known = find(ranks, kind);

    if (known != NULL)
        return known;
    struct made *more = realloc(windows.made, ((size_t) windows.count + 1) * sizeof *more);
    if (more == NULL)
        MG_DIE("no memory for %d windows", windows.count + 1);
    windows.made                = more;
    windows.made[windows.count] = (struct made){.ranks = ranks, .kind = kind};
    return &windows.made[windows.count++];
}

static size_t in_lines(size_t bytes)
{
    return (bytes + mg_line_bytes() - 1) / mg_line_bytes() * mg_line_bytes();
}

void mg_windows_make(const struct mg_plan *plan, size_t (*exposed_by)(const struct mg_visit *))
{
    for (int i = 0; i < plan->visits_count; i++) {
        const struct mg_visit *visit = &plan->visits[i];

        if (!visit->pattern->one_sided)
            continue;
        struct made *made  = find_or_add(visit->ranks, visit->rma_window);
        const size_t bytes = in_lines(exposed_by(visit));

        if (bytes > made->window.bytes)
            made->window.bytes = bytes;
    }
    for (int i = 0; i < windows.count; i++) {
        windows.made[i].group = mg_group_of(windows.made[i].ranks);
        if (windows.made[i].group.comm != MPI_COMM_NULL)
            make(&windows.made[i]);
    }
}

const struct mg_window *mg_window_of(const struct mg_visit *visit, const char **why_p)
{
    const struct made *made = find(visit->ranks, visit->rma_window);

    *why_p = made->why[0] != '\0' ? made->why : NULL;
    return made->why[0] != '\0' ? NULL : &made->window;
}

static void free_window(struct made *made)
{
    detach(made);
    MG_MPI(MPI_Win_free(&made->window.win));
}

void mg_window_make_and_free(MPI_Comm comm, enum mg_window_kind kind)
{
    static unsigned char page[PAGE_BYTES];
    struct made          made = {.kind = kind, .window = {.here = page}, .group = {.comm = comm}};

    MG_MPI(make_of_kind(&made, sizeof page));
    MG_MPI(attach(&made, sizeof page));
    free_window(&made);
}

static void free_one(struct made *made)
{
    if (made->group.comm != MPI_COMM_NULL && made->why[0] == '\0') {
        free_window(made);
        if (made->window.partner != MPI_GROUP_NULL)
            MG_MPI(MPI_Group_free(&made->window.partner));
    }
    if (made->mapped_bytes > 0)
        (void) munmap(made->window.here, made->mapped_bytes);
    free(made->window.there);
}

void mg_windows_free(void)
{
    for (int i = 0; i < windows.count; i++)
        free_one(&windows.made[i]);
    free(windows.made);
    windows.made  = NULL;
    windows.count = 0;
}

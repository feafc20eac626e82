/* relay - the wires and the switch of a lab: delays every packet as long as they would.
 *
 *   relay COUNTERS_FD < topology      prints "ready", then runs until it is killed
 *
 * The topology is text, written by campaign/lab/network.py:
 *
 *   hosts N                           with interfaces p1 ... pN, and last MAC bytes 1 ... N
 *   lane BYTES_PER_S                  sends one packet after another; 0 takes no time
 *   route FROM TO UP DOWN DELAY_NS    through two lanes, numbered from 0 in the order above
 *   end
 *
 * A packet waits for the lane up, is sent on it whole, waits at the switch for the lane down, is
 * sent whole again, and arrives after the delay. */
#include "die.h"
#include "events.h"
#include "stamps.h"
#include "topology.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAME_MAX      = 1514,       /* Ethernet header and 1500 bytes */
    FRAME_MIN      = 60,         /* shorter ones are padded */
    FRAMING_BYTES  = 24,         /* checksum, preamble and gap, which sockets do not see */
    BATCH          = 32,         /* packets read from one interface before the next */
    HOST_QUEUE     = 16 << 20,   /* bytes waiting to leave a host, where none may be lost */
    SWITCH_QUEUE   = 1 << 20,    /* bytes waiting at a port of the switch */
    SOCKET_BYTES   = 8 << 20,    /* buffer for while we are not scheduled */
    LATE_NS        = 50 * 1000,  /* what counts as late */
    SPIN_NS        = 40 * 1000,  /* before the due time: sleeping longer would miss it */
    AWAKE_NS       = 600 * 1000, /* after so long without sleep ... */
    SLEEP_NS       = 40 * 1000, /* ... yield the core, or Linux throttles us for 50 ms per second */
    TIMER_SLACK_NS = 1,
    MAC_LAST       = 5,
    CONTROL_BYTES  = 128,
};

/* Shared with campaign/lab/counters.py, which reads it meanwhile. */
struct counters {
    uint64_t forwarded;
    uint64_t late;
    uint64_t dropped;
    uint64_t latest_ns;
};

struct packet {
    const struct lab_route *route;
    int                     to;
    bool                    sent; /* through both lanes, and on its way to the host */
    size_t                  bytes;
    unsigned char           frame[FRAME_MAX];
};

static struct counters *counters;
static struct pollfd    ports[LAB_HOSTS_MAX + 1]; /* from 1, as hosts are */
static int64_t          arrived_ns[LAB_HOSTS_MAX + 1];

static struct packet *packets;
static uint32_t      *unused; /* a stack */
static uint32_t       unused_count;

/* ---- The path of a packet -------------------------------------------------------------------- */

static void put_back(uint32_t packet)
{
    if (unused_count < LAB_PACKETS)
        unused[unused_count++] = packet;
}

static void drop(uint32_t packet)
{
    counters->dropped++;
    put_back(packet);
}

/* When a lane has sent a packet that reaches it at at_ns; negative if its queue is full. */
static int64_t sent_ns(struct lab_lane *lane, int64_t at_ns, size_t bytes, double queue_bytes)
{
    const size_t  least   = bytes < FRAME_MIN ? FRAME_MIN : bytes;
    const int64_t took_ns = llround((double) (least + FRAMING_BYTES) * lane->ns_per_byte);
    const int64_t wait_ns = lane->free_ns > at_ns ? lane->free_ns - at_ns : 0;

    if (took_ns == 0) /* infinitely fast: no queue */
        return at_ns;
    if ((double) wait_ns > queue_bytes * lane->ns_per_byte)
        return -1;
    lane->free_ns = at_ns + wait_ns + took_ns;
    return lane->free_ns;
}

static void through_lane(struct lab_lane *lane, uint32_t packet, int64_t at_ns, double queue_bytes,
                         int64_t delay_ns)
{
    const int64_t out_ns = sent_ns(lane, at_ns, packets[packet].bytes, queue_bytes);

    if (out_ns < 0)
        drop(packet);
    else
        lab_enter(out_ns + delay_ns, packet);
}

static void deliver(uint32_t number, int64_t late_ns)
{
    struct packet *packet = &packets[number];

    if (write(ports[packet->to].fd, packet->frame, packet->bytes) < 0) {
        drop(number);
        return;
    }
    counters->forwarded++;
    if (late_ns > LATE_NS)
        counters->late++;
    if (late_ns > (int64_t) counters->latest_ns)
        counters->latest_ns = (uint64_t) late_ns;
    put_back(number);
}

static void run_due_events(void)
{
    for (;;) {
        const int64_t           now   = lab_now_ns();
        const struct lab_event *first = lab_first();

        if (first == NULL || first->at_ns > now)
            return;

        const struct lab_event  event  = lab_take_first();
        struct packet          *packet = &packets[event.packet];
        const struct lab_route *route  = packet->route;

        if (packet->sent) {
            deliver(event.packet, now - event.at_ns);
        } else {
            packet->sent = true;
            through_lane(route->down, event.packet, event.at_ns, SWITCH_QUEUE, route->delay_ns);
        }
    }
}

/* ---- Reading packets ------------------------------------------------------------------------- */

/* When a packet left its host, never before an earlier packet of it. */
static int64_t arrival_ns(int port, struct msghdr *message)
{
    int64_t at_ns = lab_stamped_ns(message);

    if (at_ns < arrived_ns[port])
        at_ns = arrived_ns[port];
    arrived_ns[port] = at_ns;
    return at_ns;
}

static void accept_packet(int port, uint32_t number, struct msghdr *message, size_t bytes)
{
    struct packet *packet = &packets[number];
    const int      to     = packet->frame[MAC_LAST];

    /* Broadcasts and multicasts have no route: neighbour tables are complete from the start. */
    if ((message->msg_flags & MSG_TRUNC) || bytes < ETH_HLEN || (packet->frame[0] & 1) ||
        to > lab_hosts || lab_routes[port][to].up == NULL) {
        put_back(number);
        return;
    }
    packet->route = &lab_routes[port][to];
    packet->to    = to;
    packet->sent  = false;
    packet->bytes = bytes;
    through_lane(packet->route->up, number, arrival_ns(port, message), HOST_QUEUE, 0);
}

static void read_port(int port)
{
    struct mmsghdr messages[BATCH];
    struct iovec   vectors[BATCH];
    uint32_t       numbers[BATCH];
    char           controls[BATCH][CONTROL_BYTES];

    if (unused_count < BATCH) { /* read and drop, so that they do not wait in the socket */
        char frame[FRAME_MAX];

        while (read(ports[port].fd, frame, sizeof frame) > 0)
            counters->dropped++;
        return;
    }
    for (int i = 0; i < BATCH; i++) {
        numbers[i]  = unused[--unused_count];
        vectors[i]  = (struct iovec){packets[numbers[i]].frame, FRAME_MAX};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov        = &vectors[i],
                                                   .msg_iovlen     = 1,
                                                   .msg_control    = controls[i],
                                                   .msg_controllen = CONTROL_BYTES}};
    }

    const int count = recvmmsg(ports[port].fd, messages, BATCH, MSG_DONTWAIT, NULL);

    for (int i = BATCH - 1; i >= (count > 0 ? count : 0); i--)
        put_back(numbers[i]);
    for (int i = 0; i < count; i++)
        accept_packet(port, numbers[i], &messages[i].msg_hdr, messages[i].msg_len);
}

/* Waits until packets arrive or an event is nearly due. */
static int wait_for_packets(void)
{
    const struct lab_event *first = lab_first();

    if (first == NULL)
        return ppoll(&ports[1], (nfds_t) lab_hosts, NULL, NULL);

    const int64_t         left_ns = first->at_ns - lab_now_ns() - SPIN_NS;
    const struct timespec time    = {left_ns / LAB_SECOND_NS, left_ns % LAB_SECOND_NS};
    const struct timespec no_time = {0, 0};

    return ppoll(&ports[1], (nfds_t) lab_hosts, left_ns > 0 ? &time : &no_time, NULL);
}

/* Counts packets that overflowed a socket while we were not scheduled. */
static void count_overflows(void)
{
    for (int port = 1; port <= lab_hosts; port++) {
        struct tpacket_stats since_last = {0};
        socklen_t            bytes      = sizeof since_last;

        if (getsockopt(ports[port].fd, SOL_PACKET, PACKET_STATISTICS, &since_last, &bytes) == 0)
            counters->dropped += since_last.tp_drops;
    }
}

/* The relay has real-time priority and must not keep a core for itself. */
static void sleep_sometimes(int64_t began_ns)
{
    static int64_t        slept_ns;
    const struct timespec rest  = {0, SLEEP_NS};
    int64_t               ended = lab_now_ns();

    if (ended - began_ns < SLEEP_NS) {
        if (ended - slept_ns < AWAKE_NS)
            return;
        nanosleep(&rest, NULL);
        ended = lab_now_ns();
    }
    slept_ns = ended;
    count_overflows();
}

static void wait_and_read(void)
{
    const int64_t began_ns = lab_now_ns();
    const int     ready    = wait_for_packets();

    sleep_sometimes(began_ns);
    if (ready <= 0)
        return;
    for (int port = 1; port <= lab_hosts; port++)
        if (ports[port].revents & POLLIN)
            read_port(port);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void set_option(int fd, int level, int name, int value)
{
    lab_check(setsockopt(fd, level, name, &value, sizeof value) == 0, "setsockopt");
}

static void open_port(int port)
{
    char name[IFNAMSIZ];

    snprintf(name, sizeof name, "p%d", port);

    struct sockaddr_ll address = {.sll_family   = AF_PACKET,
                                  .sll_protocol = htons(ETH_P_ALL),
                                  .sll_ifindex  = (int) if_nametoindex(name)};
    const int          fd      = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    lab_check(fd >= 0, "socket");
    lab_check(address.sll_ifindex != 0, name);
    set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
    set_option(fd, SOL_SOCKET, SO_RCVBUF, SOCKET_BYTES);
    set_option(fd, SOL_SOCKET, SO_SNDBUF, SOCKET_BYTES);
    set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);

    struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};

    lab_check(setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) == 0, name);
    lab_check(bind(fd, (struct sockaddr *) &address, sizeof address) == 0, name);
    ports[port] = (struct pollfd){fd, POLLIN, 0};
}

static void open_store(int counters_fd)
{
    counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, counters_fd, 0);
    packets  = calloc(LAB_PACKETS, sizeof *packets);
    unused   = calloc(LAB_PACKETS, sizeof *unused);
    lab_check(counters != MAP_FAILED && packets != NULL && unused != NULL, "memory");
    for (uint32_t packet = LAB_PACKETS; packet > 0; packet--)
        put_back(packet - 1);
}

int main(int count, char **words)
{
    if (count != 2)
        lab_die("usage", "relay COUNTERS_FD < topology");
    prctl(PR_SET_TIMERSLACK, (unsigned long) TIMER_SLACK_NS);
    open_store((int) strtol(words[1], NULL, 10));
    lab_read_topology();
    for (int port = 1; port <= lab_hosts; port++)
        open_port(port);
    puts("ready");
    fflush(stdout);
    for (;;) {
        run_due_events();
        wait_and_read();
    }
}

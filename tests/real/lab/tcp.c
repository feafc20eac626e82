/* tcp - plain TCP between two hosts, to hold the relay against what its links must make true.
 *
 *   tcp serve PORT               serves one client after the other; "listening" first
 *   tcp rate HOST PORT COUNT     bytes per second that arrived in each of COUNT windows of 0.5 s
 *   tcp ping HOST PORT COUNT     nanoseconds of each of COUNT round trips of 8 bytes
 *   tcp sleep NANOSECONDS COUNT  by how many nanoseconds each of COUNT sleeps was too long
 *
 * The first byte of a client says which of them it wants. Only what arrives is counted: rate
 * receives. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK          = 1 << 18,
    WINDOW_NS      = 500000000,
    WARMUP_WINDOWS = 1,
    MESSAGE        = 8,
    SECOND_NS      = 1000000000
};

static char chunk[CHUNK];

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t) time.tv_sec * SECOND_NS + time.tv_nsec;
}

static void check(long status, const char *what)
{
    if (status < 0) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

static struct sockaddr_in address_of(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t) atoi(port))};

    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        check(-1, host);
    return address;
}

static void no_delay(int fd)
{
    const int one = 1;

    check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "TCP_NODELAY");
}

/* Looks for the message until it is there, as MPI libraries do: to sleep would add a wake-up. */
static long receive(int fd)
{
    long bytes = -1;

    while (bytes < MESSAGE && (bytes != 0))
        bytes = recv(fd, chunk, MESSAGE, MSG_DONTWAIT | MSG_PEEK);
    return bytes == 0 ? 0 : recv(fd, chunk, MESSAGE, MSG_WAITALL);
}

static void serve(const char *port)
{
    const struct sockaddr_in address  = address_of("0.0.0.0", port);
    const int                listener = socket(AF_INET, SOCK_STREAM, 0);
    const int                one      = 1;

    check(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), "SO_REUSEADDR");
    check(bind(listener, (const struct sockaddr *) &address, sizeof address), "bind");
    check(listen(listener, 4), "listen");
    puts("listening");
    fflush(stdout);
    for (;;) {
        const int fd = accept(listener, NULL, NULL);

        check(fd, "accept");
        no_delay(fd);
        if (recv(fd, chunk, 1, 0) == 1 && chunk[0] == 'r')
            while (write(fd, chunk, CHUNK) > 0)
                continue;
        else
            while (receive(fd) == MESSAGE && write(fd, chunk, MESSAGE) == MESSAGE)
                continue;
        close(fd);
    }
}

static void rate(int fd, int count)
{
    for (int window = -WARMUP_WINDOWS; window < count; window++) {
        const int64_t start = now_ns();
        int64_t       bytes = 0;
        int64_t       end;

        do {
            const ssize_t got = read(fd, chunk, CHUNK);

            check(got, "read");
            bytes += got;
            end = now_ns();
        } while (end - start < WINDOW_NS);
        if (window >= 0)
            printf("%.0f\n", (double) bytes * SECOND_NS / (double) (end - start));
    }
}

static void ping(int fd, int count)
{
    for (int i = 0; i < count; i++) {
        const int64_t start = now_ns();

        check(write(fd, chunk, MESSAGE), "write");
        check(receive(fd), "recv");
        printf("%lld\n", (long long) (now_ns() - start));
    }
}

static void oversleep(long asked_ns, int count)
{
    const struct timespec time = {asked_ns / SECOND_NS, asked_ns % SECOND_NS};

    prctl(PR_SET_TIMERSLACK, 1UL);
    for (int i = 0; i < count; i++) {
        const int64_t start = now_ns();

        ppoll(NULL, 0, &time, NULL);
        printf("%lld\n", (long long) (now_ns() - start - asked_ns));
    }
}

int main(int words, char **word)
{
    signal(SIGPIPE, SIG_IGN);
    if (words == 3) {
        serve(word[2]);
    } else if (words == 4) {
        oversleep(atol(word[2]), atoi(word[3]));
    } else if (words == 5) {
        const struct sockaddr_in address = address_of(word[2], word[3]);
        const int                fd      = socket(AF_INET, SOCK_STREAM, 0);

        check(connect(fd, (const struct sockaddr *) &address, sizeof address), "connect");
        no_delay(fd);
        check(write(fd, word[1], 1), "write");
        (word[1][0] == 'r' ? rate : ping)(fd, atoi(word[4]));
    }
    return EXIT_SUCCESS;
}

/*
 * Both ends of a measurement over HTTP/1.1 on loopback, as cheap as they can be, so that what stands between them is
 * what limits it: a server that answers every request with the same bytes, and callers on kept connections.
 *
 *   http_load serve BYTES             prints its port, and serves until it is ended
 *   http_load call PORT FILE CONNECTIONS SECONDS RATE
 *                                     sends the request in FILE; RATE in requests a second for all, 0: as fast as they
 *                                     are answered. Prints {"requests", "failed", "seconds", "p50", "p99",
 *                                     "processor"}: the two in microseconds from when a request was due, and the
 *                                     seconds of a processor that it took itself
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, MOST = 4096 };

struct connection {
  int fd;
  int is_busy;
  double due;
  size_t have;       /* bytes of a head that is not whole yet */
  size_t body_left;  /* of the message that is being read */
  int status;
  char head[BUFFER];
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void send_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) return;
    bytes += sent;
    size -= (size_t)sent;
  }
}

/* Reads what is there. Whole messages seen, 0 or 1; -1 once the other side has closed. */
static int read_message(struct connection *one) {
  static char scratch[BUFFER];
  for (;;) {
    if (one->body_left > 0) {
      ssize_t got = recv(one->fd, scratch, one->body_left < BUFFER ? one->body_left : BUFFER, MSG_DONTWAIT);
      if (got < 0 && errno == EAGAIN) return 0;
      if (got <= 0) return -1;
      one->body_left -= (size_t)got;
      if (one->body_left == 0) return 1;
      continue;
    }
    ssize_t got = recv(one->fd, one->head + one->have, BUFFER - 1 - one->have, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return 0;
    if (got <= 0) return -1;
    one->have += (size_t)got;
    one->head[one->have] = 0;
    char *end = strstr(one->head, "\r\n\r\n");
    if (!end) {
      if (one->have == BUFFER - 1) return -1;
      continue;
    }
    char *length = strcasestr(one->head, "\r\ncontent-length:");
    size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
    size_t there = one->have - (size_t)(end + 4 - one->head);
    one->status = strncmp(one->head, "HTTP/", 5) == 0 ? atoi(one->head + 9) : 0;
    one->have = 0;
    one->body_left = there < body ? body - there : 0;
    if (one->body_left == 0) return 1;
  }
}

static void watch(int epoll, struct connection *one) {
  int yes = 1;
  setsockopt(one->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = one}};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, one->fd, &event) != 0) fail("epoll_ctl");
}

static void serve(size_t bytes) {
  char *body = malloc(bytes + 1);
  memset(body, '1', bytes);
  char *answer = malloc(bytes + 256);
  int head = sprintf(answer, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n", bytes);
  memcpy(answer + head, body, bytes);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024)) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("{\"port\": %d}\n", ntohs(address.sin_port));
  fflush(stdout);
  int epoll = epoll_create1(0);
  struct epoll_event first = {.events = EPOLLIN, .data = {.ptr = NULL}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &first);
  for (;;) {
    struct epoll_event events[256];
    int count = epoll_wait(epoll, events, 256, -1);
    for (int at = 0; at < count; at++) {
      struct connection *one = events[at].data.ptr;
      if (!one) {
        one = calloc(1, sizeof *one);
        one->fd = accept(listener, NULL, NULL);
        if (one->fd >= 0) watch(epoll, one);
        continue;
      }
      int seen = read_message(one);
      if (seen > 0) send_all(one->fd, answer, (size_t)head + bytes);
      if (seen < 0) {
        close(one->fd);
        free(one);
      }
    }
  }
}

static int by_size(const void *left, const void *right) {
  float a = *(const float *)left, b = *(const float *)right;
  return a < b ? -1 : a > b;
}

static void call(int port, const char *file, int connections, double seconds, double rate) {
  static char request[BUFFER];
  int source = open(file, O_RDONLY);
  ssize_t size = read(source, request, sizeof request);
  if (size <= 0) fail(file);
  int epoll = epoll_create1(0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  struct connection *all = calloc((size_t)connections, sizeof *all);
  for (int at = 0; at < connections; at++) {
    all[at].fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(all[at].fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    watch(epoll, &all[at]);
  }
  size_t room = 1 << 20, requests = 0, failed = 0, sent = 0;
  float *times = malloc(room * sizeof *times);
  double begin = now(), end = begin + seconds;
  for (double at = begin; at < end; at = now()) {
    for (int index = 0; index < connections; index++) {
      double due = rate > 0 ? begin + (double)sent / rate : at;
      if (all[index].is_busy) continue;
      if (due > at) break;
      all[index].is_busy = 1;
      all[index].due = due;
      sent++;
      send_all(all[index].fd, request, (size_t)size);
    }
    /* One that is due while all are busy is sent with the next answer: looking for it again and again would take the
     * processor of those who are to answer. */
    int is_free = 0;
    for (int index = 0; index < connections && !is_free; index++) is_free = !all[index].is_busy;
    double due = rate > 0 && is_free ? begin + (double)sent / rate : end;
    double left = (due < end ? due : end) - now();
    struct epoll_event events[256];
    struct timespec wait = {.tv_sec = 0, .tv_nsec = left > 0 ? (long)((left < 0.1 ? left : 0.1) * 1e9) : 0};
    int count = epoll_pwait2(epoll, events, 256, &wait, NULL);
    for (int index = 0; index < count; index++) {
      struct connection *one = events[index].data.ptr;
      int seen = read_message(one);
      if (seen < 0) fail("a connection was closed");
      if (seen == 0) continue;
      one->is_busy = 0;
      if (one->status != 200) failed++;
      if (requests < room) times[requests] = (float)((now() - one->due) * 1e6);
      requests++;
    }
  }
  size_t kept = requests < room ? requests : room;
  qsort(times, kept, sizeof *times, by_size);
  printf("{\"requests\": %zu, \"failed\": %zu, \"seconds\": %f, \"p50\": %f, \"p99\": %f, \"processor\": %f}\n",
         requests, failed, now() - begin, kept ? times[kept / 2] : 0, kept ? times[kept * 99 / 100] : 0,
         (double)clock() / CLOCKS_PER_SEC);
}

int main(int count, char **words) {
  if (count == 3 && strcmp(words[1], "serve") == 0) serve(strtoul(words[2], NULL, 10));
  else if (count == 7 && strcmp(words[1], "call") == 0)
    call(atoi(words[2]), words[3], atoi(words[4]), atof(words[5]), atof(words[6]));
  else return 2;
  return 0;
}

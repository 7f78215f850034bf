/*
 * Loaded into programs that an app under the debugger starts (LD_PRELOAD). Before `main` it says on the adapter's socket that the program is
 * there, and waits until the adapter has looked at it. Whatever fails lets the program go on; it waits for 10 s at most, and where it waited in
 * vain no further program waits until the adapter shows that it lives.
 *
 * TOOLBREAK_GATE: "<who started it> <process that may look into it> <path of the socket>"
 *
 * It is linked with no library and uses only what every C library has under the same name, since programs of another one than ours get it, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif
#ifndef PATIENCE_MS
#define PATIENCE_MS 10000
#endif

extern char **environ __attribute__((weak));

static const char GATE[] = "TOOLBREAK_GATE=";
static const char PRELOAD[] = "LD_PRELOAD=";
/* How our file is called, wherever it is. */
static const char NAME[] = "/toolbreak-gate.so";

/* ------------------------------------------------------------------ texts */

static unsigned long length_of(const char *text) {
  unsigned long length = 0;
  while (text[length] != 0) length++;
  return length;
}

/* What stands behind `begin`, or nothing. */
static char *behind(char *text, const char *begin) {
  while (*begin != 0)
    if (*text++ != *begin++) return 0;
  return text;
}

struct text {
  char *at;
  unsigned long room;
};

static void add(struct text *text, const char *more, unsigned long length) {
  for (; length > 0 && text->room > 1; length--, text->room--) *text->at++ = *more++;
  *text->at = 0;
}

static void add_number(struct text *text, unsigned long number) {
  char digits[24];
  int at = sizeof digits;
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  add(text, digits + at, sizeof digits - (unsigned long)at);
}

/* ------------------------------------------------------------------ the wait */

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000L + now.tv_nsec / 1000000L;
}

/* Until the adapter sends a byte, closes, or is patient no more: then 0. A debugger that attaches interrupts the wait. */
static int was_answered(int door) {
  long until = now_ms() + PATIENCE_MS;
  for (;;) {
    long left = until - now_ms();
    struct pollfd one = {door, POLLIN, 0};
    if (left <= 0) return 0;
    int ready = poll(&one, 1, (int)left);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
  }
}

/* `<our number> <who> <where that number counts>` */
static unsigned long say(char *line, unsigned long room, const char *who, unsigned long who_length) {
  char space[64];
  struct text text = {line, room};
  long length = readlink("/proc/self/ns/pid", space, sizeof space);
  add_number(&text, (unsigned long)getpid());
  add(&text, " ", 1);
  add(&text, who, who_length);
  add(&text, " ", 1);
  add(&text, space, length > 0 ? (unsigned long)length : 0);
  add(&text, "\n", 1);
  return (unsigned long)(text.at - line);
}

static void pass(const char *given) {
  const char *who = given;
  unsigned long who_length = 0, tracer = 0;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char late[sizeof address.sun_path + 8];
  while (who[who_length] != ' ' && who[who_length] != 0) who_length++;
  const char *path = who + who_length;
  while (*path == ' ') path++;
  while (*path >= '0' && *path <= '9') tracer = tracer * 10 + (unsigned long)(*path++ - '0');
  if (who_length == 0 || who_length > 64 || *path++ != ' ' || *path != '/') return;
  if (length_of(path) >= sizeof address.sun_path) return;
  struct text text = {address.sun_path, sizeof address.sun_path};
  add(&text, path, length_of(path));
  text = (struct text){late, sizeof late};
  add(&text, path, length_of(path));
  add(&text, ".late", 5);
  if (access(late, F_OK) == 0) return;
  /* An adapter that hangs accepts nobody: where its queue is full, nobody waits for a place in it. */
  int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (door < 0) return;
  if (connect(door, (struct sockaddr *)&address, sizeof address) == 0) {
    char line[192];
    long length = (long)say(line, sizeof line, who, who_length);
    prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
    if (send(door, line, (unsigned long)length, MSG_NOSIGNAL) == length && !was_answered(door)) {
      int made = open(late, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      if (made >= 0) close(made);
    }
  }
  close(door);
}

__attribute__((constructor)) static void toolbreak_gate(void) {
  int kept = errno;
  if (&environ == 0 || environ == 0) return;
  for (char **entry = environ; *entry != 0; entry++) {
    const char *given = behind(*entry, GATE);
    if (given == 0) continue;
    pass(given);
    break;
  }
  errno = kept;
}

/* ------------------------------------------------------------------ another root */

/* Without our file among those that are loaded before. Answers whether others are left. */
static int without_us(char *list) {
  char *to = list;
  for (char *from = list; *from != 0;) {
    char *end = from, *name;
    while (*end != 0 && *end != ':' && *end != ' ') end++;
    name = end - (sizeof NAME - 1);
    int ours = name >= from && behind(name, NAME) == end;
    if (*end != 0) end++;
    if (ours) from = end;
    while (from < end) *to++ = *from++;
  }
  while (to > list && to[-1] == ':') to--;
  *to = 0;
  return to > list;
}

/* Behind another root our file is not to be found, and every program there would say so on its stderr. */
int chroot(const char *path) {
  int result = (int)syscall(SYS_chroot, path);
  if (result != 0 || &environ == 0 || environ == 0) return result;
  char **to = environ;
  for (char **from = environ; *from != 0; from++) {
    char *list = behind(*from, PRELOAD);
    if (behind(*from, GATE) == 0 && (list == 0 || without_us(list))) *to++ = *from;
  }
  *to = 0;
  return result;
}

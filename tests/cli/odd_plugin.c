/*
 * The plug-in of tests/examples/plugin.c, which is right, in the odd ways that ODD_PLUGIN names: `crash` (at a call of 16
 * segments), `hang` (at the second such call of a process), `daemon` (the first call leaves a process behind, in a session
 * of its own, which keeps its descriptors), `slow` (a call takes ODD_PLUGIN_MS milliseconds), `wrong` (the last slot of
 * the first row is 0).
 */
#define _GNU_SOURCE
#define kvw_plugin_scatter right_scatter
#include "tests/examples/plugin.c"
#undef kvw_plugin_scatter

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is(const char* way) {
  const char* const given = getenv("ODD_PLUGIN");
  return given != NULL && strcmp(given, way) == 0;
}

static void leave_daemon(void) {
  static int is_left;
  if (is_left) return;
  is_left = 1;
  if (fork() != 0) return;
  setsid();
  const char* const seconds = getenv("ODD_PLUGIN_DAEMON_SECONDS");
  execlp("sleep", "sleep", seconds == NULL ? "1000" : seconds, (char*)NULL);
  _exit(1);
}

static void take_time(void) {
  const char* const given = getenv("ODD_PLUGIN_MS");
  const long ms = given == NULL ? 100 : atol(given);
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                           int64_t rows, int64_t num_segments) {
  if (is("crash") && num_segments == 16) raise(SIGSEGV);
  static int calls_of_16_segments;
  calls_of_16_segments += num_segments == 16;
  while (is("hang") && calls_of_16_segments > 1) pause();
  if (is("daemon")) leave_daemon();
  if (is("slow")) take_time();
  const int32_t status = right_scatter(topk_indices, row_stride, topk, context_lens, rows, num_segments);
  if (is("wrong") && rows > 0 && topk > 0 && num_segments > 0) topk_indices[topk - 1] = 0;
  return status;
}

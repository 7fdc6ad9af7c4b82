/*
 * Plug-ins that take their time. SLOW_PLUGIN says how: `quadratic` (compares all pairs of kept slots, and drops repeated
 * tokens, which is wrong), `compiler` (waits for a child process at the first call of each width and number of segments),
 * `burner` (computes there instead), `questions` (thinks about each question), `calls` (about each call), `late` (is
 * wrong from the 3,000th call on). Only scatter, packed or strided.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int is(const char* mode) {
  const char* const given = getenv("SLOW_PLUGIN");
  return given != NULL && strcmp(given, mode) == 0;
}

static void burn(double seconds) {
  const clock_t begun = clock();
  while ((double)(clock() - begun) < seconds * CLOCKS_PER_SEC) {
  }
}

static void wait_for_a_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    usleep(200000);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

static void prepare(int64_t topk, int64_t num_segments) {
  static char prepared[1 << 18];
  char* const known = &prepared[(uint64_t)(topk * 1031 + num_segments) % sizeof prepared];
  if (*known) return;
  *known = 1;
  if (is("compiler")) wait_for_a_child();
  if (is("burner")) burn(0.2);
}

int32_t kvw_plugin_abi_version(void) {
  return 1;
}

int32_t kvw_plugin_supports(const char* operation, int64_t rows, int64_t topk, int64_t row_stride, int64_t num_segments,
                            int64_t base_offset_bytes) {
  (void)operation, (void)rows, (void)topk, (void)row_stride, (void)num_segments, (void)base_offset_bytes;
  if (is("questions")) usleep(60000);
  return 1;
}

static void scatter_row(int32_t* row, int64_t topk, int64_t len, int64_t num_segments, int is_late) {
  const int64_t segments = len <= 0 ? 0 : len < num_segments ? len : num_segments;
  const int64_t keep = topk > num_segments ? topk - num_segments : 0;
  char occupied[64] = {0};
  for (int64_t slot = 0; slot < topk && segments > 0; ++slot) {
    const int64_t segment = row[slot] < 0 ? segments : (int64_t)row[slot] * segments / len;
    const int64_t marked = segment < num_segments ? segment : num_segments - 1;
    if (row[slot] >= 0 && marked < segments) occupied[marked] = 1;
  }
  for (int64_t a = 0; is("quadratic") && a < keep; ++a) {
    for (int64_t b = a + 1; b < keep; ++b) {
      if (row[a] >= 0 && row[a] == row[b]) row[b] = -1;
    }
  }
  int64_t slot = keep;
  for (int64_t s = 0; s < segments && slot < topk; ++s) {
    if (!occupied[s]) row[slot++] = (int32_t)((s * len + segments - 1) / segments) - (is_late && s > 0);
  }
}

int32_t kvw_plugin_scatter(int32_t* rows, int64_t row_stride, int64_t topk, const int32_t* context_lens, int64_t count,
                           int64_t num_segments) {
  static int64_t calls = 0;
  ++calls;
  prepare(topk, num_segments);
  if (is("calls")) usleep(15000);
  for (int64_t row = 0; row < count; ++row) {
    scatter_row(rows + row * row_stride, topk, context_lens[row], num_segments, is("late") && calls >= 3000);
  }
  return 0;
}

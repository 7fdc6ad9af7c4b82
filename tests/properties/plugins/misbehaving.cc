// A plug-in that misbehaves in the way that the context length of the first row names, and is right otherwise.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "rule.h"

namespace {

volatile std::int32_t sink;
volatile std::intptr_t nowhere = 16;
int calls;

void misbehave(const std::int32_t* learned, std::int64_t elements, const std::int32_t* context_lens, std::int64_t rows,
               std::int32_t* out, std::int64_t out_elements) {
  ++calls;
  switch (rows > 0 ? context_lens[0] : 0) {
    case 1001:
      *reinterpret_cast<volatile int*>(nowhere) = 1;
      break;
    case 1002:
      std::abort();
    case 1003:
      std::exit(3);
    case 1004:
      _exit(0);
    case 1005:
      for (;;) {
        sink = 1;
      }
    case 1006:
      pause();
      break;
    case 1007:
      throw std::runtime_error("from a plug-in");
    case 1008:
      out[-1] = 4;
      break;
    case 1009:
      out[out_elements] = 4;
      break;
    case 1010:
      const_cast<std::int32_t*>(learned)[0] ^= 1;
      break;
    case 1011:
      const_cast<std::int32_t*>(context_lens)[0] = 7;
      break;
    case 1012:
      sink = learned[elements];
      break;
    case 1013:
      kill(getppid(), SIGKILL);
      pause();
      break;
    case 1014:
      kill(0, SIGKILL);
      break;
    case 1015:
      for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        close(descriptor);
      }
      break;
    case 1016:
      out[0] = calls;
      break;
    case 1017:
      for (volatile std::int32_t* at = out;; ++at) {
        *at = 9;
      }
    case 1018:
      std::signal(SIGSEGV, SIG_IGN);
      *reinterpret_cast<volatile int*>(nowhere) = 1;
      break;
    default:
      break;
  }
}

}  // namespace

RULE_VERSION
extern "C" int32_t kvw_plugin_apply(const int32_t* learned, int64_t learned_len, int64_t topk,
                                    const int32_t* context_lens, int64_t rows, int64_t learned_keep,
                                    int64_t num_segments, int64_t max_replacements, int32_t* out) {
  const int32_t status =
      rule::apply(learned, topk, context_lens, rows, learned_keep, num_segments, max_replacements, out);
  misbehave(learned, learned_len, context_lens, rows, out, rows * topk);
  return status;
}

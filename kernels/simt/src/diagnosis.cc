// What a person is told about a block that went wrong. Runs on the launching thread, never on a fiber.
#include <dlfcn.h>

#include <cstdio>

#include "kernels/simt/src/block.h"
#include "kernels/simt/src/symbols.h"

namespace kvwitness::simt::detail {
namespace {

const char* name_of(WarpOperation operation) noexcept {
  switch (operation) {
    case WarpOperation::kSync:
      return "__syncwarp";
    case WarpOperation::kBallot:
      return "__ballot_sync";
    case WarpOperation::kAny:
      return "__any_sync";
    case WarpOperation::kAll:
      return "__all_sync";
    case WarpOperation::kShuffle:
      return "__shfl_sync";
    case WarpOperation::kShuffleUp:
      return "__shfl_up_sync";
    case WarpOperation::kShuffleDown:
      return "__shfl_down_sync";
    case WarpOperation::kShuffleXor:
      return "__shfl_xor_sync";
    case WarpOperation::kReduceAdd:
      return "__reduce_add_sync";
    case WarpOperation::kReduceMin:
    case WarpOperation::kReduceMinSigned:
      return "__reduce_min_sync";
    case WarpOperation::kReduceMax:
    case WarpOperation::kReduceMaxSigned:
      return "__reduce_max_sync";
    case WarpOperation::kReduceAnd:
      return "__reduce_and_sync";
    case WarpOperation::kReduceOr:
      return "__reduce_or_sync";
    case WarpOperation::kReduceXor:
      return "__reduce_xor_sync";
    case WarpOperation::kMatchAny:
      return "__match_any_sync";
    case WarpOperation::kMatchAll:
      return "__match_all_sync";
  }
  return "a warp collective";
}

const char* name_of(BlockVote vote) noexcept {
  switch (vote) {
    case BlockVote::kNone:
      return "__syncthreads";
    case BlockVote::kAnd:
      return "__syncthreads_and";
    case BlockVote::kOr:
      return "__syncthreads_or";
    case BlockVote::kCount:
      return "__syncthreads_count";
  }
  return "a block barrier";
}

std::string place(Site site) {
  return std::string(site.file) + ":" + std::to_string(site.line);
}

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", value);
  return text;
}

std::string describe_wait(const Thread& thread) {
  switch (thread.state) {
    case ThreadState::kAtBlockBarrier:
      return std::string("waits at ") + name_of(thread.vote) + " (" + place(thread.site) + ")";
    case ThreadState::kAtWarpCollective:
      return std::string("waits at ") + name_of(thread.operation) + " with mask " + hexadecimal(thread.mask) + " (" +
             place(thread.site) + ")";
    case ThreadState::kAtDependencyWait:
      return "waits for the producer's grid (" + place(thread.site) + ")";
    case ThreadState::kExited:
      return "has exited";
    case ThreadState::kRunnable:
      break;
  }
  return "can run";
}

// The source lines, or else the program and the offset in it, for addr2line.
std::string describe_instruction(const void* instruction) {
  Dl_info info = {};
  if (instruction == nullptr || dladdr(instruction, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  if (const std::string lines = source_lines(instruction); !lines.empty()) {
    return "; at " + lines;
  }
  char offset[32];
  std::snprintf(
      offset, sizeof(offset), "0x%zx",
      static_cast<std::size_t>(static_cast<const char*>(instruction) - static_cast<const char*>(info.dli_fbase)));
  return std::string("; source line: addr2line -Cfie ") + info.dli_fname + " " + offset;
}

}  // namespace

std::string Block::describe_threads() const {
  std::string text;
  for (std::uint32_t i = 0; i < count_;) {
    const std::string wait = describe_wait(threads_[i]);
    std::uint32_t end = i + 1;
    while (end < count_ && describe_wait(threads_[end]) == wait) {
      ++end;
    }
    text += end == i + 1 ? "\n  thread " + std::to_string(i)
                         : "\n  threads " + std::to_string(i) + " to " + std::to_string(end - 1);
    text += ": " + wait;
    i = end;
  }
  return text;
}

// No thread can run and some have not exited. The first lane, or else the first thread, that someone waits for in vain
// gives its name.
void Block::note_stuck_threads() {
  raw_fault_ = {};
  const Thread* exited = nullptr;
  const Thread* at_barrier = nullptr;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Thread& thread = threads_[i];
    exited = thread.state == ThreadState::kExited && exited == nullptr ? &thread : exited;
    at_barrier = thread.state == ThreadState::kAtBlockBarrier && at_barrier == nullptr ? &thread : at_barrier;
    if (thread.state != ThreadState::kAtWarpCollective) {
      continue;
    }
    const std::uint32_t first = i / 32 * 32;
    for (std::uint32_t lane = 0; lane < 32 && first + lane < count_; ++lane) {
      const Thread& named = threads_[first + lane];
      if ((thread.mask >> lane & 1u) == 0 ||
          (named.state == ThreadState::kAtWarpCollective && named.mask == thread.mask)) {
        continue;
      }
      raw_fault_.thread = &named;
      raw_fault_.other_site = thread.site;
      if (named.state == ThreadState::kAtWarpCollective) {
        raw_fault_.kind = Fault::Kind::kMaskMismatch;
        raw_fault_.text = "waits with another mask than the lanes of its warp that wait for it";
        raw_fault_.site = named.site;
        return;
      }
      if (named.state == ThreadState::kExited) {
        raw_fault_.kind = Fault::Kind::kMissingLane;
        raw_fault_.text = "is named in a mask and never arrives";
        return;
      }
    }
  }
  if (raw_fault_.thread != nullptr) {
    raw_fault_.kind = Fault::Kind::kDeadlock;
    raw_fault_.text = "is named in a mask and waits elsewhere";
    raw_fault_.site = raw_fault_.thread->site;
  } else if (at_barrier != nullptr && exited != nullptr) {
    raw_fault_.kind = Fault::Kind::kDivergence;
    raw_fault_.thread = exited;
    raw_fault_.text = "exited before a block barrier at which others wait";
    raw_fault_.other_site = at_barrier->site;
  } else {
    raw_fault_.text = "the threads wait for each other";
  }
}

Fault Block::fault() const {
  Fault fault{raw_fault_.kind, coordinates_.block_index, {}};
  std::string& text = fault.message;
  if (raw_fault_.thread != nullptr) {
    const std::uint32_t index = raw_fault_.thread->index;
    text = "thread " + std::to_string(index) + " (lane " + std::to_string(index % 32) + " of warp " +
           std::to_string(index / 32) + ") ";
  }
  text += raw_fault_.text;
  if (raw_fault_.site.file != nullptr) {
    text += ": " + place(raw_fault_.site);
  }
  if (raw_fault_.other_site.file != nullptr) {
    text += raw_fault_.site.file != nullptr ? ", the others at " : ": the others are at ";
    text += place(raw_fault_.other_site);
  }
  if (fault.kind == Fault::Kind::kOutOfBounds && raw_fault_.view_count == RawFault::kArray) {
    text += ": index " + std::to_string(raw_fault_.view_index);
  } else if (raw_fault_.view_count == RawFault::kUnknown) {
    // the address is not known
  } else if (fault.kind == Fault::Kind::kOutOfBounds && raw_fault_.view_count >= 0) {
    text +=
        std::to_string(raw_fault_.view_index) + " of a view of " + std::to_string(raw_fault_.view_count) + " elements";
  } else if (fault.kind == Fault::Kind::kOutOfBounds) {
    char address[32];
    std::snprintf(address, sizeof(address), " %p", raw_fault_.address);
    const std::string buffer = describe_global(raw_fault_.address);
    if (dynamic_shared_.surrounds(raw_fault_.address)) {
      text += "byte offset " +
              std::to_string(static_cast<const std::byte*>(raw_fault_.address) - dynamic_shared_.data()) + " of " +
              std::to_string(dynamic_shared_.size_bytes()) + " bytes of dynamic shared memory";
    } else {
      text += buffer.empty() ? "the address" + std::string(address) + ", which no buffer is near" : buffer;
    }
  }
  if (raw_fault_.calls[0].addresses[0] != nullptr) {
    text +=
        "; it came by " + source_lines(raw_fault_.calls[0]) + ", the others by " + source_lines(raw_fault_.calls[1]);
  }
  text += describe_instruction(raw_fault_.instruction);
  return raw_fault_.instruction == nullptr ? Fault{fault.kind, fault.block_index, text + describe_threads()} : fault;
}

std::optional<Fault> Block::shared_memory_overrun() {
  if (dynamic_shared_.size_bytes() == 0) {
    return std::nullopt;
  }
  const std::optional<std::ptrdiff_t> offset = dynamic_shared_.first_changed_byte();
  if (!offset) {
    return std::nullopt;
  }
  dynamic_shared_.restore_surroundings();
  return Fault{Fault::Kind::kOutOfBounds, coordinates_.block_index,
               "byte offset " + std::to_string(*offset) + " of " + std::to_string(dynamic_shared_.size_bytes()) +
                   " bytes of dynamic shared memory was written"};
}

RawFault Block::classify_signal(const Thread& self, const void* address, bool has_address, const void* instruction,
                                bool is_trap) const {
  RawFault fault{.thread = &self, .address = address, .instruction = instruction};
  if (is_trap) {
    fault.kind = Fault::Kind::kOutOfBounds;
    fault.text = "reaches a trap of the compiler: an access past a variable, or code that it takes for unreachable";
    fault.view_count = RawFault::kUnknown;
  } else if (!has_address) {
    fault.kind = Fault::Kind::kMisaligned;
    fault.text = "accesses a misaligned or impossible address";
  } else if (overflows_stack(self.context, address)) {
    fault.kind = Fault::Kind::kStackOverflow;
    fault.text = "has more local variables than its stack holds";
  } else {
    fault.kind = Fault::Kind::kOutOfBounds;
    fault.text = "accesses ";
  }
  return fault;
}

}  // namespace kvwitness::simt::detail

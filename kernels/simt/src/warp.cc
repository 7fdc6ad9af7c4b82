// The warp collectives: who meets whom, and what each lane receives.
#include <bit>

#include "kernels/simt/src/block.h"

namespace kvwitness::simt::detail {
namespace {

constexpr std::uint32_t kWarpLanes = 32;

bool is_shuffle(WarpOperation operation) noexcept {
  return operation == WarpOperation::kShuffle || operation == WarpOperation::kShuffleUp ||
         operation == WarpOperation::kShuffleDown || operation == WarpOperation::kShuffleXor;
}

bool is_shuffle_width(std::uint32_t width) noexcept {
  return width != 0 && width <= kWarpLanes && (width & (width - 1)) == 0;
}

std::uint32_t lowest(std::uint32_t lanes) noexcept {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

// The lane that a shuffle reads (PTX ISA, "shfl.sync"): within groups of `width` lanes, its own where the source is
// outside its group.
std::uint32_t source_lane(WarpOperation operation, std::uint32_t lane, std::uint32_t argument) noexcept {
  const std::uint32_t width = argument >> 16, operand = argument & 31u;
  const std::uint32_t group = lane & ~(width - 1), last = group + width - 1;
  switch (operation) {
    case WarpOperation::kShuffleUp:
      return lane >= group + operand ? lane - operand : lane;
    case WarpOperation::kShuffleDown:
      return lane + operand <= last ? lane + operand : lane;
    case WarpOperation::kShuffleXor:
      return (lane ^ operand) <= last ? lane ^ operand : lane;
    default:
      return group | (operand & (width - 1));
  }
}

std::uint32_t reduce(WarpOperation operation, std::uint32_t a, std::uint32_t b) noexcept {
  switch (operation) {
    case WarpOperation::kReduceAdd:
      return a + b;
    case WarpOperation::kReduceMin:
      return a < b ? a : b;
    case WarpOperation::kReduceMax:
      return a < b ? b : a;
    case WarpOperation::kReduceMinSigned:
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
    case WarpOperation::kReduceMaxSigned:
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? b : a;
    case WarpOperation::kReduceAnd:
      return a & b;
    case WarpOperation::kReduceOr:
      return a | b;
    default:
      return a ^ b;
  }
}

}  // namespace

std::uint64_t Block::collective(Thread& self, WarpOperation operation, std::uint32_t mask, std::uint64_t value,
                                std::uint32_t argument, Site site) {
  polls_in_vain_ = 0;
  runnable_.step(self.index);
  const std::uint32_t lane = self.index % kWarpLanes;
  Warp& warp = warps_[self.index / kWarpLanes];
  if ((mask >> lane & 1u) == 0) {
    fail(self,
         {.kind = Fault::Kind::kMaskMismatch, .thread = &self, .text = "is not named in its own mask", .site = site});
  }
  if (is_shuffle(operation) && !is_shuffle_width(argument >> 16)) {
    fail(self, {.kind = Fault::Kind::kMaskMismatch,
                .thread = &self,
                .text = "shuffles with a width that is no power of two up to 32",
                .site = site});
  }
  mask &= warp.lanes;
  PendingCollective& pending = pending_with_mask(warp, self, mask, operation, site);
  warp.value[lane] = value;
  warp.argument[lane] = argument;
  pending.arrived |= 1u << lane;
  // Only __syncwarp orders memory; the other collectives order nothing but the values that they carry.
  std::uint64_t* edge = nullptr;
  if (under_tsan() && operation == WarpOperation::kSync) {
    SyncObject& object = sync_object(warp, mask);
    edge = &object.edges[object.phase & 1];
    __tsan_release(edge);
  }
  if (pending.arrived == mask) {
    complete(warp, self, pending);
  } else {
    self.state = ThreadState::kAtWarpCollective;
    self.operation = operation;
    self.mask = mask;
    self.site = site;
  }
  run_next(self);
  if (edge != nullptr) {
    __tsan_acquire(edge);
  }
  take_slot(self);
  return warp.result[lane];
}

Block::PendingCollective& Block::pending_with_mask(Warp& warp, Thread& self, std::uint32_t mask,
                                                   WarpOperation operation, Site site) {
  for (std::uint32_t i = 0; i < warp.pending_count; ++i) {
    if (warp.pending[i].mask == mask) {
      if (warp.pending[i].operation != operation) {
        fail(self, {.kind = Fault::Kind::kMaskMismatch,
                    .thread = &self,
                    .text = "is at another warp collective than the lanes that wait with the same mask",
                    .site = site,
                    .other_site = warp.pending[i].site});
      }
      return warp.pending[i];
    }
  }
  PendingCollective& fresh = warp.pending[warp.pending_count++];
  fresh = {mask, 0, operation, site};
  return fresh;
}

Block::SyncObject& Block::sync_object(Warp& warp, std::uint32_t mask) {
  for (SyncObject* object = warp.sync_objects; object != nullptr; object = object->next) {
    if (object->mask == mask) {
      return *object;
    }
  }
  return *(warp.sync_objects = new SyncObject{mask, 0, {}, warp.sync_objects});
}

void Block::complete(Warp& warp, Thread& self, PendingCollective& pending) {
  Thread* const first_lane = &threads_[self.index - self.index % kWarpLanes];
  if (is_shuffle(pending.operation)) {
    require_named_sources(warp, self, pending);
  }
  if (pending.operation != WarpOperation::kSync) {
    compute(warp, pending);
  } else if (under_tsan()) {
    ++sync_object(warp, pending.mask).phase;
  }
  for (std::uint32_t lanes = pending.mask; lanes != 0; lanes &= lanes - 1) {
    wake(first_lane[lowest(lanes)]);
  }
  pending = warp.pending[--warp.pending_count];
}

void Block::compute(Warp& warp, const PendingCollective& pending) const noexcept {
  if (is_shuffle(pending.operation)) {
    shuffle(warp, pending);
    return;
  }
  std::uint32_t ballot = 0;
  auto reduced = static_cast<std::uint32_t>(warp.value[lowest(pending.mask)]);
  bool all_equal = true;
  for (std::uint32_t lanes = pending.mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t lane = lowest(lanes);
    ballot |= warp.value[lane] != 0 ? 1u << lane : 0;
    all_equal = all_equal && warp.value[lane] == warp.value[lowest(pending.mask)];
    if (lane != lowest(pending.mask)) {
      reduced = reduce(pending.operation, reduced, static_cast<std::uint32_t>(warp.value[lane]));
    }
  }
  for (std::uint32_t lanes = pending.mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t lane = lowest(lanes);
    std::uint32_t equal = 0;
    switch (pending.operation) {
      case WarpOperation::kBallot:
        warp.result[lane] = ballot;
        break;
      case WarpOperation::kAny:
        warp.result[lane] = ballot != 0 ? 1 : 0;
        break;
      case WarpOperation::kAll:
        warp.result[lane] = ballot == pending.mask ? 1 : 0;
        break;
      case WarpOperation::kMatchAny:
        for (std::uint32_t others = pending.mask; others != 0; others &= others - 1) {
          equal |= warp.value[lowest(others)] == warp.value[lane] ? 1u << lowest(others) : 0;
        }
        warp.result[lane] = equal;
        break;
      case WarpOperation::kMatchAll:
        warp.result[lane] = all_equal ? pending.mask : 0;
        break;
      default:
        warp.result[lane] = reduced;
        break;
    }
  }
}

// What a lane gives that the mask does not name is undefined, whether the program uses it or not.
void Block::require_named_sources(Warp& warp, Thread& self, const PendingCollective& pending) {
  for (std::uint32_t lanes = pending.mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t lane = lowest(lanes);
    if ((pending.mask >> source_lane(pending.operation, lane, warp.argument[lane]) & 1u) == 0) {
      fail(self, {.kind = Fault::Kind::kMaskMismatch,
                  .thread = &threads_[self.index - self.index % kWarpLanes + lane],
                  .text = "shuffles from a lane that the mask does not name or that does not exist",
                  .site = pending.site});
    }
  }
}

void Block::shuffle(Warp& warp, const PendingCollective& pending) const noexcept {
  for (std::uint32_t lanes = pending.mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t lane = lowest(lanes);
    warp.result[lane] = warp.value[source_lane(pending.operation, lane, warp.argument[lane])];
  }
}

std::uint32_t Block::active_lanes(const Thread& self) {
  const std::uint32_t own = 1u << (self.index % kWarpLanes);
  if (launch_->random->coin()) {
    return own;
  }
  std::uint32_t active = own;
  const std::uint32_t first = self.index / kWarpLanes * kWarpLanes;
  for (std::uint32_t lanes = warps_[self.index / kWarpLanes].lanes; lanes != 0; lanes &= lanes - 1) {
    active |= threads_[first + lowest(lanes)].state == ThreadState::kRunnable ? 1u << lowest(lanes) : 0;
  }
  return active;
}

}  // namespace kvwitness::simt::detail

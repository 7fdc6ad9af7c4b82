#include <kvwitness/simt.h>

namespace kvwitness::simt {

const char* to_string(Fault::Kind kind) noexcept {
  switch (kind) {
    case Fault::Kind::kBadLaunch:
      return "bad launch";
    case Fault::Kind::kDeadlock:
      return "deadlock";
    case Fault::Kind::kDivergence:
      return "divergence at a barrier";
    case Fault::Kind::kMissingLane:
      return "missing lane";
    case Fault::Kind::kMaskMismatch:
      return "mask mismatch";
    case Fault::Kind::kOutOfBounds:
      return "out of bounds";
    case Fault::Kind::kMisaligned:
      return "misaligned access";
    case Fault::Kind::kStackOverflow:
      return "stack overflow";
    case Fault::Kind::kNoProgress:
      return "no progress";
    case Fault::Kind::kTrap:
      return "trap";
    case Fault::Kind::kUninitialised:
      return "uninitialised read";
  }
  return "fault";
}

std::string Report::to_string() const {
  std::string text;
  for (const Fault& fault : faults) {
    text += std::string("simt: ") + simt::to_string(fault.kind) + " in block (" + std::to_string(fault.block_index.x) +
            ", " + std::to_string(fault.block_index.y) + ", " + std::to_string(fault.block_index.z) +
            "): " + fault.message + "\n";
  }
  if (races != 0) {
    text += "simt: ThreadSanitizer reported " + std::to_string(races) + (races == 1 ? " race\n" : " races\n");
  }
  return text.empty() ? text : text + "simt: schedule " + std::to_string(schedule) + " replays this run\n";
}

}  // namespace kvwitness::simt

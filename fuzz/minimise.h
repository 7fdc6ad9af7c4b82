// Making what a target found small, without landing on another fault.
#ifndef FUZZ_MINIMISE_H
#define FUZZ_MINIMISE_H

#include <cstdint>
#include <span>
#include <string>

#include "fuzz/target.h"

namespace kvwitness::fuzz {

inline constexpr unsigned kMostRunSeconds = 10;

// How a run of the target on the bytes ends, in a process of its own: "" where it returns; the finding up to its
// sentence ("target=... invariant=... subject=..."); a sanitizer's summary without addresses; or the signal or exit
// status that ended it, "no end within 10 s" included.
std::string ending_of(const Target& target, std::span<const std::uint8_t> bytes,
                      unsigned deadline_seconds = kMostRunSeconds);

struct Minimised {
  Bytes bytes;
  std::string ending;
  int attempts = 0;
};

// Smaller and plainer inputs of which every one ends the run exactly as `bytes` do; the smallest found within so many
// runs. Cases shrink by properties/shrinking, so a legal call stays legal and a refused one keeps its status; other
// inputs shrink as bytes. `bytes` themselves, with an empty ending, where their run returns. Each attempt that does not
// end costs the deadline, so that after kMostHangs of them the smallest so far is the result.
Minimised minimise(const Target& target, Bytes bytes, int most_attempts, unsigned deadline_seconds = kMostRunSeconds);
inline constexpr int kMostHangs = 8;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_MINIMISE_H

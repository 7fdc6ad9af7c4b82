// The hash FNV-1a (Fowler, Noll and Vo), the same on every machine.
#ifndef PROPERTIES_RUN_FNV1A_H
#define PROPERTIES_RUN_FNV1A_H

#include <cstdint>

namespace kvwitness::harness {

// `bytes` is a range of one-byte integers.
template <typename Bytes>
std::uint64_t fnv1a(const Bytes& bytes) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const auto byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  return hash;
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_FNV1A_H

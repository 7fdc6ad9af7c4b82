// The target of a program that is linked with a fuzzing engine.
#ifndef FUZZ_ENGINE_LINKED_TARGET_H
#define FUZZ_ENGINE_LINKED_TARGET_H

#include "fuzz/target.h"

namespace kvwitness::fuzz {

const Target& linked_target();

}  // namespace kvwitness::fuzz

#endif  // FUZZ_ENGINE_LINKED_TARGET_H

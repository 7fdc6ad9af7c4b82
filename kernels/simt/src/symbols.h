// The source lines of machine instructions, from the program's debug information.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_SYMBOLS_H
#define KVWITNESS_KERNELS_SIMT_SRC_SYMBOLS_H

#include <string>

#include "kernels/simt/src/block.h"

namespace kvwitness::simt::detail {

// "file:line, called at file:line", the innermost function first, or empty where that is not known: addr2line is not
// there or the program has no debug information. Starts a process; for the launching thread.
std::string source_lines(const void* instruction);

// The machine code of the program or shared object that an instruction is of, or nothing where it is of none.
CodeRange code_around(const void* instruction);

// Whether two chains of return addresses are the same calls in the source, or not known to be others.
bool same_calls(const CallChain& a, const CallChain& b);
std::string source_lines(const CallChain& chain);

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_SYMBOLS_H

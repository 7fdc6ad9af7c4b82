// Found instead of the header of this name when a CUDA source is compiled for the executor: bfloat16, each
// operation in wider arithmetic and rounded once to nearest even.
#include <kvwitness/simt/half.h>

// Found instead of the header of this name when a CUDA source is compiled for the executor: half precision, each
// operation in wider arithmetic and rounded once to nearest even.
#include <kvwitness/simt/half.h>

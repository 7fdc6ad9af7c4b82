// Found instead of the header of this name when a CUDA source is compiled for the executor.
#error "kvwitness simt: formats of 6 bits (<cuda_fp6.h>) are not served"
#include <kvwitness/simt/nothing_is_read_after_an_error>

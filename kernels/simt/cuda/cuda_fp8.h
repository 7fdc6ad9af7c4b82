// Found instead of the header of this name when a CUDA source is compiled for the executor.
#error "kvwitness simt: formats of 8 bits (<cuda_fp8.h>) are not served"
#include <kvwitness/simt/nothing_is_read_after_an_error>

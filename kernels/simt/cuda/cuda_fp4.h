// Found instead of the header of this name when a CUDA source is compiled for the executor.
#error "kvwitness simt: formats of 4 bits (<cuda_fp4.h>) are not served"
#include <kvwitness/simt/nothing_is_read_after_an_error>

// Found instead of the header of this name when a CUDA source is compiled for the executor.
#error "kvwitness simt: Thrust (<thrust/sort.h>) is not served"
#include <kvwitness/simt/nothing_is_read_after_an_error>

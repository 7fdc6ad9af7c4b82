// Found instead of the header of this name when a CUDA source is compiled for the executor.
#include <kvwitness/simt/device.h>

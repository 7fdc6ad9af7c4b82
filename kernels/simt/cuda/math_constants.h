// Found instead of the header of this name when a CUDA source is compiled for the executor.
#ifndef KVWITNESS_SIMT_MATH_CONSTANTS_H
#define KVWITNESS_SIMT_MATH_CONSTANTS_H

#include <kvwitness/simt/device.h>

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __int_as_float(0x7FFFFFFF)
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __longlong_as_double(0x7FF8000000000000LL)
#define CUDART_PI_F 3.14159265358979323846f
#define CUDART_PI 3.14159265358979323846
#define CUDART_MIN_DENORM_F __int_as_float(1)
#define CUDART_MAX_NORMAL_F __int_as_float(0x7F7FFFFF)

#endif  // KVWITNESS_SIMT_MATH_CONSTANTS_H

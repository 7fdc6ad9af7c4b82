// The rule as one would first write it, for comparison.
#ifndef LIB_BENCH_NAIVE_H
#define LIB_BENCH_NAIVE_H

#include "lib/bench/workload.h"

namespace kvwitness::bench {

// Scatter by one division a token and one flag a segment.
void naive_scatter(Workload& work);

}  // namespace kvwitness::bench

#endif  // LIB_BENCH_NAIVE_H

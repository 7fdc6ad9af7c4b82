// The null models, masks and metrics against what memory alone costs them.
#ifndef LIB_BENCH_OTHERS_BENCH_H
#define LIB_BENCH_OTHERS_BENCH_H

namespace kvwitness::bench {

// Registers a benchmark each. A round runs the call and its yardstick once, one after the other; the counters are
// medians in microseconds, and their ratio.
void add_others();

}  // namespace kvwitness::bench

#endif  // LIB_BENCH_OTHERS_BENCH_H

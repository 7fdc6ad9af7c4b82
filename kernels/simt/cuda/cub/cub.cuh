// Found instead of CUB's header of this name when a CUDA source is compiled for the executor: its warp and block
// primitives. Its device-wide algorithms are not served.
#ifndef KVWITNESS_SIMT_CUB_CUB
#define KVWITNESS_SIMT_CUB_CUB

#if !__has_include(<cub/config.cuh>)
#error "kvwitness simt: CUB's own headers are not there; set KVWITNESS_CCCL_DIR to the folder that holds cub/ and cuda/"
#include <kvwitness/simt/nothing_is_read_after_an_error>
#endif

// clang-format off
#include <cub/config.cuh>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/thread/thread_reduce.cuh>
#include <cub/thread/thread_scan.cuh>
#include <cub/thread/thread_search.cuh>
#include <cub/thread/thread_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
// clang-format on

#endif  // KVWITNESS_SIMT_CUB_CUB

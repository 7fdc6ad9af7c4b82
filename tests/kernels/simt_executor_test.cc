// The executor's model: where threads are, what collectives return, what shared memory holds, how schedules order, what
// is a fault.
#include <gmock/gmock.h>
#include <kvwitness/simt.h>

#include <algorithm>
#include <bit>
#include <set>
#include <thread>

namespace kvwitness::simt {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Config one_block(unsigned threads, std::uint64_t schedule = in_order) {
  Config config;
  config.block = threads;
  config.schedule = schedule;
  return config;
}

std::vector<std::uint64_t> some_schedules() {
  std::vector<std::uint64_t> schedules = {in_order};
  for (std::uint64_t n = 0; n < 20; ++n) {
    schedules.push_back(random_schedule(n));
    schedules.push_back(pct_schedule(n));
  }
  return schedules;
}

void expect_ok(const Report& report) {
  EXPECT_THAT(report.to_string(), IsEmpty());
}

// The one fault of a report, or a failure.
Fault fault_of(const Report& report) {
  EXPECT_EQ(report.faults.size(), 1u) << report.to_string();
  return report.faults.empty() ? Fault{} : report.faults.front();
}

// ---- Where threads are ---------------------------------------------------------------------------------------------------------------

__global__ void record_coordinates(uint3* threads, uint3* blocks, int* out_of_range) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned index = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  threads[index] = threadIdx;
  blocks[index] = blockIdx;
  if (threadIdx.x >= blockDim.x || blockIdx.z >= gridDim.z || warpSize != 32) {
    *out_of_range = 1;
  }
}

TEST(SimtCoordinates, EveryThreadOfAThreeDimensionalGridRunsOnce) {
  for (const std::uint64_t schedule : some_schedules()) {
    Config config;
    config.grid = dim3(3, 2, 2);
    config.block = dim3(5, 3, 2);
    config.schedule = schedule;
    GlobalBuffer<uint3> threads(12 * 30, uint3{99, 99, 99}), blocks(12 * 30, uint3{99, 99, 99});
    GlobalBuffer<int> out_of_range(1, 0);
    const Report report = launch(config, record_coordinates, threads.data(), blocks.data(), out_of_range.data());
    expect_ok(report);
    EXPECT_EQ(report.blocks_run, 12u);
    EXPECT_EQ(out_of_range[0], 0);
    for (unsigned i = 0; i < 12 * 30; ++i) {
      const uint3 thread = threads[i], block = blocks[i];
      ASSERT_EQ((block.x + 3 * (block.y + 2 * block.z)) * 30 + thread.x + 5 * (thread.y + 3 * thread.z), i);
      ASSERT_LT(thread.x, 5u);
      ASSERT_LT(block.x, 3u);
    }
  }
}

TEST(SimtLaunch, RefusesWhatNoGpuCanLaunch) {
  GlobalBuffer<uint3> unused(1);
  GlobalBuffer<int> flag(1, 0);
  for (const dim3 block : {dim3(0), dim3(1025), dim3(32, 33), dim3(1, 1, 65)}) {
    Config config;
    config.block = block;
    EXPECT_EQ(fault_of(launch(config, record_coordinates, unused.data(), unused.data(), flag.data())).kind,
              Fault::Kind::kBadLaunch);
  }
  for (const dim3 grid : {dim3(0), dim3(1, 65536), dim3(0x80000000u)}) {
    Config config;
    config.grid = grid;
    EXPECT_EQ(fault_of(launch(config, record_coordinates, unused.data(), unused.data(), flag.data())).kind,
              Fault::Kind::kBadLaunch);
  }
  Config config;
  config.dynamic_shared_bytes = 227 * 1024 + 1;
  EXPECT_EQ(fault_of(launch(config, record_coordinates, unused.data(), unused.data(), flag.data())).kind,
            Fault::Kind::kBadLaunch);
}

// ---- Intrinsics ------------------------------------------------------------------------------------------------------------------------

TEST(SimtIntrinsics, HaveTheValuesOfTheCudaMathApi) {
  EXPECT_EQ(__popc(0xF0F0F0F1u), 17);
  EXPECT_EQ(__popcll(0xF0F0F0F1F0F0F0F1u), 34);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(0x40), 7);
  EXPECT_EQ(__ffsll(0), 0);
  EXPECT_EQ(__ffsll(1LL << 40), 41);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__clzll(1LL << 40), 23);
  EXPECT_EQ(__brev(0x80000002u), 0x40000001u);
  EXPECT_EQ(__brev(0x12345678u), 0x1E6A2C48u);
  EXPECT_EQ(__brevll(1), 1ull << 63);
  EXPECT_EQ(__umulhi(0xFFFFFFFFu, 0xFFFFFFFFu), 0xFFFFFFFEu);
  EXPECT_EQ(__mulhi(-2, 3), -1);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(__mul64hi(-2, 3), -1);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1, 1), 3u);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1, 33), 3u);
  EXPECT_EQ(__funnelshift_r(0x80000000u, 1, 1), 0xC0000000u);
  EXPECT_EQ(__funnelshift_lc(7, 1, 40), 7u);
  EXPECT_EQ(__funnelshift_rc(7, 1, 40), 1u);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7410u), 0x77441100u);
  EXPECT_EQ(__byte_perm(0x7F0080FFu, 0, 0xB098u), 0x00FFFFFFu);  // signs of bytes 3, 1 and 0, and byte 0 itself
  EXPECT_EQ(__float_as_uint(-2.0f), 0xC0000000u);
  EXPECT_EQ(__float_as_int(1.0f), 0x3F800000);
  EXPECT_EQ(__uint_as_float(0x40490FDBu), 3.14159274f);
  EXPECT_EQ(__int_as_float(__float_as_int(0.1f)), 0.1f);
  EXPECT_EQ(__double_as_longlong(-0.0), INT64_MIN);
  EXPECT_EQ(__longlong_as_double(0x3FF0000000000000), 1.0);
  EXPECT_EQ(__saturatef(-3.0f), 0.0f);
  EXPECT_EQ(__saturatef(0.25f), 0.25f);
  EXPECT_EQ(__saturatef(7.0f), 1.0f);
  EXPECT_EQ(__saturatef(NAN), 0.0f);
  EXPECT_EQ(__fmaf_rn(1.0f + 0x1p-23f, 1.0f - 0x1p-23f, -1.0f), -0x1p-46f);
  EXPECT_EQ(rsqrtf(16.0f), 0.25f);
  EXPECT_EQ(__fdividef(3.0f, 4.0f), 0.75f);
  EXPECT_EQ(__expf(0.0f), 1.0f);
  EXPECT_EQ(__logf(1.0f), 0.0f);
  EXPECT_EQ(::min(NAN, 2.0f), 2.0f);
  EXPECT_EQ(::max(2.0f, NAN), 2.0f);
  EXPECT_EQ(::max(2.0, 3.0), 3.0);
  EXPECT_EQ(::min(-1, 2), -1);
  EXPECT_EQ(::max(-1, 2u), 0xFFFFFFFFu);
  EXPECT_EQ(sizeof(int4), 16u);
  EXPECT_EQ(alignof(uint4), 16u);
  EXPECT_EQ(alignof(uchar4), 4u);
  EXPECT_EQ(alignof(short4), 8u);
  EXPECT_EQ(alignof(double4), 16u);
  EXPECT_EQ(sizeof(float3), 12u);
  EXPECT_EQ(alignof(float3), 4u);
  EXPECT_EQ(make_ushort3(1, 2, 65535).z, 65535);
  EXPECT_EQ(make_char4(1, 2, 3, -4).w, -4);
}

// ---- Warp collectives ------------------------------------------------------------------------------------------------------------------

// One collective with every lane's result, in a kernel that only the lanes of `mask` enter.
struct Collective {
  int (*apply)(unsigned mask, int value, int operand, int width);
  int operand;
  int width;
};

__global__ void apply_collective(Collective collective, unsigned mask, const int* values, int* out) {
  if ((mask >> (threadIdx.x % 32) & 1u) != 0) {
    out[threadIdx.x] = collective.apply(mask, values[threadIdx.x], collective.operand, collective.width);
  }
}

constexpr int kUntouched = 123456;

std::vector<int> lanes_of(const Collective& collective, unsigned mask, const std::vector<int>& values,
                          std::uint64_t schedule) {
  GlobalBuffer<int> in(values), out(values.size(), kUntouched);
  expect_ok(launch(one_block(static_cast<unsigned>(values.size()), schedule), apply_collective, collective, mask,
                   static_cast<const int*>(in.data()), out.data()));
  return out.to_vector();
}

std::vector<int> lane_values() {
  std::vector<int> values(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    values[lane] = static_cast<int>(std::rotl(0x9E3779B9u, static_cast<int>(lane))) >> 3;
  }
  return values;
}

TEST(SimtWarp, BallotAnyAndAllSeeTheLanesOfTheMaskAlone) {
  std::vector<int> values(32, 0);
  values[3] = 1;
  values[20] = -7;
  const auto ballot = [](unsigned mask, int value, int, int) { return static_cast<int>(__ballot_sync(mask, value)); };
  const auto any = [](unsigned mask, int value, int, int) { return __any_sync(mask, value); };
  const auto all = [](unsigned mask, int value, int, int) { return __all_sync(mask, value); };
  for (const std::uint64_t schedule : some_schedules()) {
    EXPECT_THAT(lanes_of({ballot, 0, 0}, ~0u, values, schedule), Each((1 << 3) | (1 << 20)));
    EXPECT_EQ(lanes_of({ballot, 0, 0}, 0x0000FFFFu, values, schedule)[0], 1 << 3);
    EXPECT_EQ(lanes_of({ballot, 0, 0}, 0x0000FFFFu, values, schedule)[16], kUntouched);
    EXPECT_THAT(lanes_of({any, 0, 0}, ~0u, values, schedule), Each(1));
    EXPECT_EQ(lanes_of({any, 0, 0}, 0x0000FF00u, values, schedule)[8], 0);
    EXPECT_THAT(lanes_of({all, 0, 0}, ~0u, values, schedule), Each(0));
    EXPECT_EQ(lanes_of({all, 0, 0}, (1u << 3) | (1u << 20), values, schedule)[20], 1);
  }
}

TEST(SimtWarp, ShufflesReadTheLaneThatTheGuideNames) {
  const std::vector<int> values = lane_values();
  const auto indexed = [](unsigned mask, int value, int operand, int width) {
    return __shfl_sync(mask, value, operand, width);
  };
  const auto up = [](unsigned mask, int value, int operand, int width) {
    return __shfl_up_sync(mask, value, static_cast<unsigned>(operand), width);
  };
  const auto down = [](unsigned mask, int value, int operand, int width) {
    return __shfl_down_sync(mask, value, static_cast<unsigned>(operand), width);
  };
  const auto exclusive_or = [](unsigned mask, int value, int operand, int width) {
    return __shfl_xor_sync(mask, value, operand, width);
  };
  for (const int width : {1, 2, 8, 32}) {
    for (const int operand : {0, 1, 3, 7, 16, 31}) {
      const std::uint64_t schedule =
          random_schedule(static_cast<std::uint64_t>(width) * 100 + static_cast<std::uint64_t>(operand));
      const std::vector<int> by_index = lanes_of({indexed, operand, width}, ~0u, values, schedule);
      const std::vector<int> by_up = lanes_of({up, operand, width}, ~0u, values, schedule);
      const std::vector<int> by_down = lanes_of({down, operand, width}, ~0u, values, schedule);
      const std::vector<int> by_xor = lanes_of({exclusive_or, operand, width}, ~0u, values, schedule);
      for (int lane = 0; lane < 32; ++lane) {
        const int group = lane / width * width, in_group = lane % width;
        const auto at = [&](int index) { return values[static_cast<std::size_t>(index)]; };
        const auto l = static_cast<std::size_t>(lane);
        EXPECT_EQ(by_index[l], at(group + operand % width));
        EXPECT_EQ(by_up[l], at(in_group >= operand ? lane - operand : lane));
        EXPECT_EQ(by_down[l], at(in_group + operand < width ? lane + operand : lane));
        EXPECT_EQ(by_xor[l], at((lane ^ operand) < group + width ? lane ^ operand : lane));
      }
    }
  }
}

__global__ void shuffle_wide_values(double* doubles, long long* integers) {
  doubles[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, 0.5 + threadIdx.x, 1);
  integers[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, (1LL << 40) + threadIdx.x, 2);
}

TEST(SimtWarp, ShufflesMoveEightByteValues) {
  GlobalBuffer<double> doubles(32, 0);
  GlobalBuffer<long long> integers(32, 0);
  expect_ok(launch(one_block(32, pct_schedule(3)), shuffle_wide_values, doubles.data(), integers.data()));
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(doubles[lane], 0.5 + (lane ^ 1u));
    EXPECT_EQ(integers[lane], (1LL << 40) + (lane ^ 2u));
  }
}

TEST(SimtWarp, ReductionsAndMatchesCoverTheLanesOfTheMask) {
  const std::vector<int> values = lane_values();
  const unsigned mask = 0x8421F00Fu;
  int add = 0, least = INT32_MAX, most = INT32_MIN;
  unsigned conjunction = ~0u, disjunction = 0, exclusive = 0, unsigned_least = ~0u, unsigned_most = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) != 0) {
      const int value = values[lane];
      const auto bits = static_cast<unsigned>(value);
      add = static_cast<int>(static_cast<unsigned>(add) + bits);
      least = std::min(least, value);
      most = std::max(most, value);
      conjunction &= bits;
      disjunction |= bits;
      exclusive ^= bits;
      unsigned_least = std::min(unsigned_least, bits);
      unsigned_most = std::max(unsigned_most, bits);
    }
  }
  const auto value_of = [&](int (*apply)(unsigned, int, int, int)) {
    return lanes_of({apply, 0, 0}, mask, values, random_schedule(5))[15];
  };
  using U = unsigned;
  EXPECT_EQ(value_of([](U m, int v, int, int) { return __reduce_add_sync(m, v); }), add);
  EXPECT_EQ(value_of([](U m, int v, int, int) { return __reduce_min_sync(m, v); }), least);
  EXPECT_EQ(value_of([](U m, int v, int, int) { return __reduce_max_sync(m, v); }), most);
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__reduce_min_sync(m, static_cast<U>(v))); }),
            static_cast<int>(unsigned_least));
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__reduce_max_sync(m, static_cast<U>(v))); }),
            static_cast<int>(unsigned_most));
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__reduce_and_sync(m, static_cast<U>(v))); }),
            static_cast<int>(conjunction));
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__reduce_or_sync(m, static_cast<U>(v))); }),
            static_cast<int>(disjunction));
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__reduce_xor_sync(m, static_cast<U>(v))); }),
            static_cast<int>(exclusive));
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__match_any_sync(m, v & 0)); }),
            static_cast<int>(mask));
  EXPECT_EQ(value_of([](U m, int v, int, int) { return static_cast<int>(__match_any_sync(m, v)); }), 1 << 15);
  EXPECT_EQ(value_of([](U m, int v, int, int) {
              int equal = -1;
              const U lanes = __match_all_sync(m, v, &equal);
              return static_cast<int>(lanes) + equal;
            }),
            0);
}

__global__ void ballot_of_partial_warp(unsigned* out) {
  out[threadIdx.x] = __ballot_sync(0xFFFFFFFFu, 1);
}

TEST(SimtWarp, AFullMaskInAPartialWarpNamesTheLanesThatExist) {
  GlobalBuffer<unsigned> out(40, 0);
  expect_ok(launch(one_block(40, random_schedule(1)), ballot_of_partial_warp, out.data()));
  EXPECT_EQ(out[0], 0xFFFFFFFFu);
  EXPECT_EQ(out[32], 0xFFu);
}

__global__ void meet_in_halves(unsigned* out) {
  const bool low = threadIdx.x < 16;
  for (int round = 0; round < 3; ++round) {
    out[threadIdx.x] = __ballot_sync(low ? 0x0000FFFFu : 0xFFFF0000u, 1);
    if (low) {
      __syncwarp(0x0000FFFFu);  // the halves do not take the same number of steps
    }
  }
}

TEST(SimtWarp, DisjointMasksMeetApart) {
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<unsigned> out(32, 0);
    expect_ok(launch(one_block(32, schedule), meet_in_halves, out.data()));
    EXPECT_EQ(out[0], 0x0000FFFFu);
    EXPECT_EQ(out[31], 0xFFFF0000u);
  }
}

// In the order in which the lanes went on; none has exited when the first one does.
__global__ void record_active_mask(unsigned* next, unsigned* lanes, unsigned* masks) {
  const unsigned mask = __activemask();
  const unsigned turn = atomicAdd(next, 1u);
  lanes[turn] = threadIdx.x;
  masks[turn] = mask;
}

TEST(SimtWarp, TheActiveMaskHoldsTheCallerAndNotAlwaysTheOtherLanesThatCanRun) {
  bool alone = false, together = false;
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<unsigned> next(1, 0), lanes(32, 0), masks(32, 0);
    expect_ok(launch(one_block(32, schedule), record_active_mask, next.data(), lanes.data(), masks.data()));
    for (unsigned turn = 0; turn < 32; ++turn) {
      EXPECT_NE(masks[turn] >> lanes[turn] & 1u, 0u);
    }
    alone = alone || __popc(masks[0]) == 1;
    together = together || __popc(masks[0]) == 32;
  }
  EXPECT_TRUE(alone);
  EXPECT_TRUE(together);
}

// ---- Block barriers --------------------------------------------------------------------------------------------------------------------

__global__ void vote(int limit, int* all, int* any, int* count) {
  const int predicate = static_cast<int>(threadIdx.x) < limit ? 9 : 0;
  all[threadIdx.x] = __syncthreads_and(predicate);
  any[threadIdx.x] = __syncthreads_or(predicate);
  count[threadIdx.x] = __syncthreads_count(predicate);
}

TEST(SimtBarrier, VotesOfAllThreadsReachAllThreads) {
  for (const std::uint64_t schedule : some_schedules()) {
    for (const int limit : {0, 1, 69, 70}) {
      GlobalBuffer<int> all(70, 0), any(70, 0), count(70, 0);
      expect_ok(launch(one_block(70, schedule), vote, limit, all.data(), any.data(), count.data()));
      EXPECT_THAT(all.to_vector(), Each(limit == 70 ? 1 : 0));
      EXPECT_THAT(any.to_vector(), Each(limit == 0 ? 0 : 1));
      EXPECT_THAT(count.to_vector(), Each(limit));
    }
  }
}

// ---- Shared memory -----------------------------------------------------------------------------------------------------------------------

template <int kVariant>  // the statics of templates are placed in another way than those of plain functions
__global__ void look_at_fresh_shared(unsigned char* fixed_bytes, unsigned char* dynamic_bytes) {
  __shared__ unsigned char fixed[48];
  KVWITNESS_DYNAMIC_SHARED(unsigned char, dynamic);
  const unsigned i = threadIdx.x;
  fixed_bytes[blockIdx.x * blockDim.x + i] = fixed[i];
  dynamic_bytes[blockIdx.x * blockDim.x + i] = dynamic[i];
  fixed[i] = 0;
  dynamic[i] = 0;
}

__global__ void look_at_fresh_shared_plainly(unsigned char* fixed_bytes) {
  __shared__ unsigned char fixed[48];
  fixed_bytes[blockIdx.x * blockDim.x + threadIdx.x] = fixed[threadIdx.x];
  fixed[threadIdx.x] = 0;
}

TEST(SimtShared, StartsPoisonedInEveryBlock) {
  for (const std::uint64_t schedule : {in_order, random_schedule(4)}) {
    Config config = one_block(48, schedule);
    config.grid = 3;
    config.dynamic_shared_bytes = 48;
    GlobalBuffer<unsigned char> fixed(3 * 48, 0), dynamic(3 * 48, 0), plain(3 * 48, 0);
    expect_ok(launch(config, look_at_fresh_shared<1>, fixed.data(), dynamic.data()));
    expect_ok(launch(config, look_at_fresh_shared_plainly, plain.data()));
    EXPECT_THAT(fixed.to_vector(), Each(Not(0)));
    EXPECT_THAT(dynamic.to_vector(), Each(Not(0)));
    EXPECT_THAT(plain.to_vector(), Each(Not(0)));
  }
}

TEST(SimtShared, PoisonDiffersBetweenSchedules) {
  std::set<unsigned char> first_bytes;
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<unsigned char> fixed(48, 0), dynamic(48, 0);
    Config config = one_block(48, schedule);
    config.dynamic_shared_bytes = 48;
    expect_ok(launch(config, look_at_fresh_shared<1>, fixed.data(), dynamic.data()));
    first_bytes.insert(dynamic[0]);
  }
  EXPECT_GT(first_bytes.size(), 10u);
}

__global__ void fill_all_dynamic_shared(unsigned bytes, unsigned* out) {
  KVWITNESS_DYNAMIC_SHARED(unsigned char, shared);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) {
    shared[i] = 1;
  }
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    sum += shared[i];
  }
  out[threadIdx.x] = sum;
}

TEST(SimtShared, HoldsAsManyBytesAsALaunchAsksFor) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, std::size_t{227 * 1024}}) {
    Config config = one_block(32);
    config.dynamic_shared_bytes = config.max_dynamic_shared_bytes = bytes;
    GlobalBuffer<unsigned> out(32, 0);
    expect_ok(launch(config, fill_all_dynamic_shared, static_cast<unsigned>(bytes), out.data()));
    EXPECT_THAT(out.to_vector(), Each(bytes));
  }
}

// ---- Atomics -------------------------------------------------------------------------------------------------------------------------------

__global__ void apply_atomics(int* values, unsigned* counters, float* sum) {
  const int i = static_cast<int>(threadIdx.x);
  atomicAdd(&values[0], i);
  atomicSub(&values[1], i);
  atomicAnd(&values[2], ~(1 << (i % 31)));
  atomicOr(&values[3], 1 << (i % 31));
  atomicXor(&values[4], i);
  atomicMin(&values[5], i - 7);
  atomicMax(&values[6], i + 7);
  atomicExch(&values[7], i);
  int seen = atomicAdd(&values[8], 0);
  for (int expected = -1; seen != expected;) {
    expected = seen;
    seen = atomicCAS(&values[8], expected, expected + 2);
  }
  atomicInc(&counters[0], 4);
  atomicDec(&counters[1], 4);
  atomicAdd(sum, 0.5f);
}

TEST(SimtAtomics, UpdateAsTheGuideSays) {
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<int> values(std::vector<int>{0, 0, -1, 0, 0, 100, -100, -1, 0});
    GlobalBuffer<unsigned> counters(2, 0);
    GlobalBuffer<float> sum(1, 0);
    expect_ok(launch(one_block(64, schedule), apply_atomics, values.data(), counters.data(), sum.data()));
    EXPECT_EQ(values[0], 64 * 63 / 2);
    EXPECT_EQ(values[1], -64 * 63 / 2);
    EXPECT_EQ(values[2], INT32_MIN);
    EXPECT_EQ(values[3], INT32_MAX);
    EXPECT_EQ(values[4], 0);
    EXPECT_EQ(values[5], -7);
    EXPECT_EQ(values[6], 70);
    EXPECT_GE(values[7], 0);
    EXPECT_EQ(values[8], 128);
    EXPECT_EQ(counters[0], 64u % 5u);
    EXPECT_EQ(counters[1], (5u - 64u % 5u) % 5u);
    EXPECT_EQ(sum[0], 32.0f);
  }
}

// ---- Schedules -----------------------------------------------------------------------------------------------------------------------------

// Each thread takes a ticket before and after a barrier; the tickets are the order of execution.
__global__ void take_tickets(unsigned* next, unsigned* order) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  order[atomicAdd(next, 1u)] = thread;
  __syncthreads();
  order[atomicAdd(next, 1u)] = thread;
}

std::vector<unsigned> order_under(std::uint64_t schedule, unsigned blocks, unsigned threads) {
  GlobalBuffer<unsigned> next(1, 0), order(std::size_t{2} * blocks * threads, 0);
  Config config = one_block(threads, schedule);
  config.grid = blocks;
  expect_ok(launch(config, take_tickets, next.data(), order.data()));
  return order.to_vector();
}

TEST(SimtSchedule, TheSameNumberGivesTheSameOrder) {
  for (const std::uint64_t schedule : some_schedules()) {
    EXPECT_EQ(order_under(schedule, 3, 40), order_under(schedule, 3, 40));
  }
}

TEST(SimtSchedule, DifferentNumbersGiveDifferentOrders) {
  std::set<std::vector<unsigned>> orders;
  for (const std::uint64_t schedule : some_schedules()) {
    orders.insert(order_under(schedule, 3, 40));
  }
  EXPECT_EQ(orders.size(), some_schedules().size());
}

TEST(SimtSchedule, InOrderIsByAscendingIndex) {
  std::vector<unsigned> expected;
  for (unsigned block = 0; block < 2; ++block) {
    for (int twice = 0; twice < 2; ++twice) {
      for (unsigned thread = 0; thread < 4; ++thread) {
        expected.push_back(block * 4 + thread);
      }
    }
  }
  EXPECT_EQ(order_under(in_order, 2, 4), expected);
}

TEST(SimtSchedule, EveryOrderOfThreeThreadsAndOfThreeBlocksOccurs) {
  for (const auto numbered : {random_schedule, pct_schedule}) {
    std::set<std::vector<unsigned>> threads, blocks;
    for (std::uint64_t n = 0; n < 200; ++n) {
      const std::vector<unsigned> of_threads = order_under(numbered(n), 1, 3);
      threads.insert({of_threads.begin(), of_threads.begin() + 3});
      const std::vector<unsigned> of_blocks = order_under(numbered(n), 3, 1);
      blocks.insert({of_blocks[0], of_blocks[2], of_blocks[4]});
    }
    EXPECT_EQ(threads.size(), 6u);
    EXPECT_EQ(blocks.size(), 6u);
  }
}

TEST(SimtSchedule, EveryBlockOfALargeGridRunsOnce) {
  for (const std::uint64_t schedule : {in_order, random_schedule(0), pct_schedule(0), random_schedule(1)}) {
    for (const unsigned blocks : {1u, 2u, 63u, 64u, 65u, 1000u}) {
      std::vector<unsigned> order = order_under(schedule, blocks, 1);
      std::sort(order.begin(), order.end());
      for (unsigned i = 0; i < 2 * blocks; ++i) {
        ASSERT_EQ(order[i], i / 2);
      }
    }
  }
}

// A thread goes on until it waits or polls, so that a barrier's absence shows as one thread far ahead of the others.
__global__ void write_then_read_neighbour(int* cells, int* seen) {
  cells[threadIdx.x] = 1;
  seen[threadIdx.x] = cells[(threadIdx.x + 1) % blockDim.x];
}

TEST(SimtSchedule, AMissingBarrierGivesAWrongAnswerUnderEverySchedule) {
  if (active_sanitizer() == Sanitizer::kThread) {
    GTEST_SKIP() << "ThreadSanitizer reports the race, as it should";
  }
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<int> cells(64, 0), seen(64, 0);
    expect_ok(launch(one_block(64, schedule), write_then_read_neighbour, cells.data(), seen.data()));
    EXPECT_LT(std::count(seen.begin(), seen.end(), 1), 64);
  }
}

// One bug of depth two: thread 0 must be between its atomics when thread 1 takes its own.
__global__ void interrupt_between_atomics(int* state, int* caught) {
  if (threadIdx.x == 0) {
    atomicAdd(state, 1);
    atomicAdd(state, 1);
  } else if (atomicAdd(state, 0) == 1) {
    *caught = 1;
  }
}

TEST(SimtSchedule, BothKindsFindAnOrderingInTheMiddleOfAThread) {
  for (const auto numbered : {random_schedule, pct_schedule}) {
    int found = 0;
    for (std::uint64_t n = 0; n < 300; ++n) {
      GlobalBuffer<int> state(1, 0), caught(1, 0);
      expect_ok(launch(one_block(2, numbered(n)), interrupt_between_atomics, state.data(), caught.data()));
      found += caught[0];
    }
    EXPECT_GT(found, 0);
    EXPECT_LT(found, 300);
  }
}

__global__ void wait_for_last_thread(int* flag, int* out, int work) {
  if (threadIdx.x == blockDim.x - 1) {
    for (int i = 0; i < work; ++i) {
      atomicAdd(&out[threadIdx.x], 0);
    }
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
      __nanosleep(20);
    }
  }
  out[threadIdx.x] = 1;
}

TEST(SimtSchedule, AThreadThatPollsLetsTheOthersRun) {
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<int> flag(1, 0), out(64, 0);
    expect_ok(launch(one_block(64, schedule), wait_for_last_thread, flag.data(), out.data(), 0));
    EXPECT_THAT(out.to_vector(), Each(1));
  }
}

TEST(SimtSchedule, ThreadsThatPollForLongTakeTurns) {
  for (const std::uint64_t schedule : {in_order, random_schedule(1), pct_schedule(1), pct_schedule(2)}) {
    GlobalBuffer<int> flag(1, 0), out(64, 0);
    expect_ok(launch(one_block(64, schedule), wait_for_last_thread, flag.data(), out.data(), 20000));
    EXPECT_THAT(out.to_vector(), Each(1));
  }
}

TEST(SimtLaunch, LaunchesOfSeveralThreadsTakeTurns) {
  std::vector<std::vector<unsigned>> orders(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    threads.emplace_back([&orders, i] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        orders[i] = order_under(random_schedule(i), 2, 40);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < orders.size(); ++i) {
    EXPECT_EQ(orders[i], order_under(random_schedule(i), 2, 40));
  }
}

// ---- Programmatic dependent launch -----------------------------------------------------------------------------------------------------------

__global__ void produce(int* box) {
  cudaTriggerProgrammaticLaunchCompletion();
  box[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

template <bool kWaits>
__global__ void consume(const int* box, int count, int* out) {
  __shared__ int prologue[32];
  prologue[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);  // must survive the wait
  if constexpr (kWaits) {
    cudaGridDependencySynchronize();
  }
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += box[i];
  }
  __syncthreads();
  const bool kept = prologue[31 - threadIdx.x] == static_cast<int>(blockIdx.x * 100 + 31 - threadIdx.x);
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept ? sum : -1;
}

std::vector<int> overlapped(bool waits, std::uint64_t schedule) {
  GlobalBuffer<int> box(3 * 40, 0), out(5 * 32, kUntouched);
  Config first = one_block(40, schedule), second = one_block(32);
  first.grid = 3;
  second.grid = 5;
  const Report report =
      launch_overlapped(prepare(first, produce, box.data()),
                        prepare(second, waits ? consume<true> : consume<false>, box.data(), 120, out.data()));
  expect_ok(report);
  EXPECT_EQ(report.blocks_run, 8u);
  return out.to_vector();
}

TEST(SimtDependentLaunch, AReadAfterTheWaitSeesTheWholeGridBeforeIt) {
  for (const std::uint64_t schedule : some_schedules()) {
    EXPECT_THAT(overlapped(true, schedule), Each(120));
  }
}

TEST(SimtDependentLaunch, AReadWithoutTheWaitSeesOldData) {
  if (active_sanitizer() == Sanitizer::kThread) {
    GTEST_SKIP() << "ThreadSanitizer reports the race, as it should";
  }
  for (const std::uint64_t schedule : some_schedules()) {
    EXPECT_THAT(overlapped(false, schedule), Not(Each(120)));
  }
}

TEST(SimtDependentLaunch, TheWaitOfAnOrdinaryLaunchReturnsAtOnce) {
  GlobalBuffer<int> box(120, 1), out(32, 0);
  expect_ok(launch(one_block(32), consume<true>, box.data(), 120, out.data()));
  EXPECT_THAT(out.to_vector(), Each(120));
}

// ---- Faults --------------------------------------------------------------------------------------------------------------------------------

std::string here(int line) {
  return std::string("simt_executor_test.cc:") + std::to_string(line);
}

constexpr int kEarlyExitLine = __LINE__ + 4;
__global__ void exit_before_barrier(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x < 50) {
    __syncthreads();
  }
}

TEST(SimtFault, AThreadThatExitsBeforeABarrierIsADivergence) {
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<int> out(64, 0);
    const Report report = launch(one_block(64, schedule), exit_before_barrier, out.data());
    const Fault fault = fault_of(report);
    EXPECT_EQ(fault.kind, Fault::Kind::kDivergence);
    EXPECT_THAT(fault.message, AllOf(HasSubstr("thread 50 "), HasSubstr("threads 0 to 49: waits at __syncthreads"),
                                     HasSubstr(here(kEarlyExitLine)), HasSubstr("threads 50 to 63: has exited")));
    EXPECT_EQ(report.schedule, schedule);
    EXPECT_THAT(report.to_string(), HasSubstr("schedule " + std::to_string(schedule)));
  }
}

constexpr int kTwoBarriersLine = __LINE__ + 3;
__global__ void wait_at_two_barriers() {
  if (threadIdx.x % 2 == 0) {  // NOLINT(bugprone-branch-clone): two barriers, on two lines
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(SimtFault, ThreadsAtTwoBarriersAreADivergence) {
  for (const std::uint64_t schedule : some_schedules()) {
    const Fault fault = fault_of(launch(one_block(64, schedule), wait_at_two_barriers));
    EXPECT_EQ(fault.kind, Fault::Kind::kDivergence);
    EXPECT_THAT(fault.message, AllOf(HasSubstr(here(kTwoBarriersLine)), HasSubstr(here(kTwoBarriersLine + 2))));
  }
}

constexpr int kBallotLine = __LINE__ + 3;
__global__ void leave_before_ballot(unsigned* out) {
  if (threadIdx.x != 16) {
    out[threadIdx.x] = __ballot_sync(0xFFFFFFFFu, 1);
  }
}

TEST(SimtFault, ALaneThatAMaskNamesAndThatLeftIsMissing) {
  for (const std::uint64_t schedule : some_schedules()) {
    GlobalBuffer<unsigned> out(64, 0);
    const Fault fault = fault_of(launch(one_block(64, schedule), leave_before_ballot, out.data()));
    EXPECT_EQ(fault.kind, Fault::Kind::kMissingLane);
    EXPECT_THAT(fault.message, AllOf(HasSubstr("thread 16 (lane 16 of warp 0)"),
                                     HasSubstr("__ballot_sync with mask 0xffffffff"), HasSubstr(here(kBallotLine))));
  }
}

constexpr int kDeadlockLine = __LINE__ + 3;
__global__ void wait_for_each_other() {
  if (threadIdx.x == 0) {
    __syncthreads();
  } else {
    __syncwarp(0xFFFFFFFFu);
  }
}

TEST(SimtFault, ABarrierThatWaitsForACollectiveThatWaitsForItIsADeadlock) {
  for (const std::uint64_t schedule : some_schedules()) {
    const Fault fault = fault_of(launch(one_block(32, schedule), wait_for_each_other));
    EXPECT_EQ(fault.kind, Fault::Kind::kDeadlock);
    EXPECT_THAT(fault.message,
                AllOf(HasSubstr("thread 0: waits at __syncthreads"), HasSubstr(here(kDeadlockLine)),
                      HasSubstr("threads 1 to 31: waits at __syncwarp"), HasSubstr(here(kDeadlockLine + 2))));
  }
}

__global__ void meet_with_different_masks() {
  __syncwarp(threadIdx.x < 16 ? 0xFFFFFFFFu : 0xFFFF0000u);
}
__global__ void meet_without_oneself() {
  __syncwarp(0xFFFFFFFEu);
}
__global__ void meet_at_different_collectives(int* out) {
  out[threadIdx.x] = threadIdx.x == 3 ? __any_sync(0xFFFFFFFFu, 1) : __all_sync(0xFFFFFFFFu, 1);
}
__global__ void shuffle_in_groups_of_five(int* out) {
  out[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, 1, 0, 5);
}

TEST(SimtFault, LanesThatDisagreeAboutTheirMeetingAreAMismatch) {
  GlobalBuffer<int> out(32, 0);
  for (const std::uint64_t schedule : some_schedules()) {
    // The upper half's own meeting may come first; the lower half then waits for lanes that have gone.
    const Fault fault = fault_of(launch(one_block(32, schedule), meet_with_different_masks));
    EXPECT_THAT(fault.kind, testing::AnyOf(Fault::Kind::kMaskMismatch, Fault::Kind::kMissingLane));
    EXPECT_EQ(fault_of(launch(one_block(32, schedule), meet_without_oneself)).kind, Fault::Kind::kMaskMismatch);
    EXPECT_EQ(fault_of(launch(one_block(32, schedule), meet_at_different_collectives, out.data())).kind,
              Fault::Kind::kMaskMismatch);
    EXPECT_EQ(fault_of(launch(one_block(32, schedule), shuffle_in_groups_of_five, out.data())).kind,
              Fault::Kind::kMaskMismatch);
  }
}

__global__ void wait_with_crossed_masks() {
  if (threadIdx.x < 3) {
    __syncwarp(threadIdx.x == 0 ? 0b011u : threadIdx.x == 1 ? 0b110u : 0b101u);
  }
}

TEST(SimtFault, MasksThatWaitForEachOtherInACircleAreAMismatch) {
  for (const std::uint64_t schedule : some_schedules()) {
    const Fault fault = fault_of(launch(one_block(32, schedule), wait_with_crossed_masks));
    EXPECT_EQ(fault.kind, Fault::Kind::kMaskMismatch);
    EXPECT_THAT(fault.message, AllOf(HasSubstr("0x00000003"), HasSubstr("0x00000006"), HasSubstr("0x00000005")));
  }
}

__global__ void trap_in_block_two() {
  if (blockIdx.x == 2 && threadIdx.x == 7) {
    __trap();
  }
}

TEST(SimtFault, ATrapNamesItsBlockAndThreadAndEndsTheLaunch) {
  Config config = one_block(32);
  config.grid = 9;
  const Report report = launch(config, trap_in_block_two);
  const Fault fault = fault_of(report);
  EXPECT_EQ(fault.kind, Fault::Kind::kTrap);
  EXPECT_EQ(fault.block_index.x, 2u);
  EXPECT_THAT(fault.message, HasSubstr("thread 7 "));
  EXPECT_EQ(report.blocks_run, 3u);
}

__global__ void wait_for_next_block(int* flags) {
  atomicExch(&flags[blockIdx.x], 1);
  while (atomicAdd(&flags[(blockIdx.x + 1) % gridDim.x], 0) == 0) {
  }
}

TEST(SimtFault, WaitingForABlockThatHasNotStartedIsNoProgress) {
  if (active_sanitizer() != Sanitizer::kNone) {
    GTEST_SKIP() << "the limit of polls takes minutes under a sanitizer";
  }
  GlobalBuffer<int> flags(2, 0);
  Config config = one_block(1);
  config.grid = 2;
  EXPECT_EQ(fault_of(launch(config, wait_for_next_block, flags.data())).kind, Fault::Kind::kNoProgress);
}

TEST(SimtFault, ALaunchAfterAFaultIsAsGoodAsNew) {
  GlobalBuffer<int> out(64, 0);
  GlobalBuffer<unsigned> ballots(64, 0);
  const std::vector<unsigned> expected = order_under(random_schedule(9), 2, 64);
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_FALSE(launch(one_block(64), exit_before_barrier, out.data()).ok());
    EXPECT_FALSE(launch(one_block(64), leave_before_ballot, ballots.data()).ok());
    EXPECT_EQ(order_under(random_schedule(9), 2, 64), expected);
  }
}

// ---- Bounds --------------------------------------------------------------------------------------------------------------------------------

__global__ void write_at(int* values, std::int64_t index) {
  if (threadIdx.x == 5) {
    values[index] = 1;
  }
}
__global__ void write_dynamic_shared_at(std::int64_t index) {
  KVWITNESS_DYNAMIC_SHARED(unsigned char, shared);
  shared[index] = 1;
}
__global__ void use_much_stack(int depth, int* out) {
  volatile int local[20000];
  for (int& i = depth; i > 0; --i) {
    local[std::ptrdiff_t{i} * 1000] = i;
  }
  *out = local[1000];
}

class SimtBounds : public testing::Test {
  void SetUp() override {
    if (active_sanitizer() != Sanitizer::kNone) {
      GTEST_SKIP() << "the sanitizer ends the program at such an access, with a report of its own";
    }
  }
};

TEST_F(SimtBounds, AnAccessPastABufferOrFarBeforeItIsAFaultAtTheAccess) {
  GlobalBuffer<int> values(8, 0);
  for (const std::int64_t index : {8, 9, 700, -1030}) {
    const Fault fault = fault_of(launch(one_block(32), write_at, values.data(), index));
    EXPECT_EQ(fault.kind, Fault::Kind::kOutOfBounds);
    EXPECT_THAT(fault.message,
                AllOf(HasSubstr("thread 5 "), HasSubstr("byte offset " + std::to_string(4 * index) + " "),
                      HasSubstr("of 32 bytes")));
  }
  EXPECT_THAT(values.to_vector(), Each(0));
}

TEST_F(SimtBounds, AWriteJustBesideABufferIsFoundAfterTheLaunch) {
  GlobalBuffer<int> other(100, 0), values(7, 0);
  for (const std::int64_t index : {-1, -5, 7}) {
    const Fault fault = fault_of(launch(one_block(32), write_at, values.data(), index));
    EXPECT_EQ(fault.kind, Fault::Kind::kOutOfBounds);
    EXPECT_THAT(fault.message, AllOf(HasSubstr("byte offset " + std::to_string(4 * index) + " "),
                                     HasSubstr("of 28 bytes was written")));
    EXPECT_TRUE(values.intact());
  }
  values.data()[7] = 3;
  EXPECT_FALSE(values.intact());
  EXPECT_TRUE(other.intact());
}

TEST_F(SimtBounds, ANullPointerIsAFault) {
  const Fault fault = fault_of(launch(one_block(32), write_at, nullptr, std::int64_t{3}));
  EXPECT_EQ(fault.kind, Fault::Kind::kOutOfBounds);
  EXPECT_THAT(fault.message, HasSubstr("no buffer is near"));
}

#if defined(__x86_64__)
TEST_F(SimtBounds, AnAddressThatTheProcessorRefusesIsAFault) {
  int* const impossible = reinterpret_cast<int*>(std::uintptr_t{0xDEAD} << 48);
  const Fault fault = fault_of(launch(one_block(32), write_at, impossible, std::int64_t{0}));
  EXPECT_EQ(fault.kind, Fault::Kind::kMisaligned);
  EXPECT_THAT(fault.message, HasSubstr("thread 5 "));
}
#endif

TEST_F(SimtBounds, DynamicSharedMemoryEndsWhereTheLaunchSaid) {
  Config config = one_block(1);
  config.dynamic_shared_bytes = 40;
  for (const std::int64_t index : {40, 47, 48, -1, -4096 + 40}) {
    const Fault fault = fault_of(launch(config, write_dynamic_shared_at, index));
    EXPECT_EQ(fault.kind, Fault::Kind::kOutOfBounds);
    EXPECT_THAT(fault.message,
                AllOf(HasSubstr("byte offset " + std::to_string(index) + " of 40 bytes of dynamic shared memory")));
  }
  expect_ok(launch(config, write_dynamic_shared_at, std::int64_t{39}));
}

TEST_F(SimtBounds, MoreLocalVariablesThanAStackHoldsIsAFault) {
  GlobalBuffer<int> out(1, 0);
  EXPECT_EQ(fault_of(launch(one_block(1), use_much_stack, 19, out.data())).kind, Fault::Kind::kStackOverflow);
}

TEST(SimtGlobalBuffer, LiesWhereItWasAskedToLie) {
  for (const std::size_t alignment : {std::size_t{4}, std::size_t{64}, std::size_t{4096}}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{4}, std::size_t{36}}) {
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, std::size_t{1023}, std::size_t{1024}, std::size_t{2051}}) {
        const GlobalBuffer<int> buffer(count, 7, alignment, offset);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment, offset % alignment);
        EXPECT_EQ(buffer.size(), count);
        EXPECT_THAT(buffer.to_vector(), Each(7));
        EXPECT_TRUE(buffer.intact());
      }
    }
  }
}

TEST(SimtGlobalBuffer, MovesItsMemory) {
  GlobalBuffer<int> first(std::vector<int>{1, 2, 3}), second(std::vector<int>{4});
  const int* const data = first.data();
  second = std::move(first);
  EXPECT_EQ(second.data(), data);
  const GlobalBuffer<int> third = std::move(second);
  EXPECT_THAT(third.to_vector(), ElementsAre(1, 2, 3));
}

__global__ void do_nothing() {}

TEST(SimtLaunch, AnEmptyKernelEndsWithoutAFault) {
  const Report report = launch(one_block(1024), do_nothing);
  expect_ok(report);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.switches, 1024u);
}

}  // namespace
}  // namespace kvwitness::simt

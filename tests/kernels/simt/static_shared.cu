// A block with as much static shared memory as WORDS says, in a program that has another kernel with too much.
// `static_shared [SCHEDULE]`
#include <cuda_runtime.h>
#include <kvwitness/simt.h>

namespace {

template <int kWords>
__global__ void use_static(int* out) {
  __shared__ int box[kWords];
  box[threadIdx.x] = 1;
  out[threadIdx.x] = box[threadIdx.x];
}

}  // namespace

int main(int argc, char** argv) {
  return kvwitness::simt::run_schedules(argc, argv, 4, [](std::uint64_t schedule) {
    kvwitness::simt::GlobalBuffer<int> out(64);
    kvwitness::simt::Config config;
    config.block = 64;
    config.schedule = schedule;
    const kvwitness::simt::Report report = kvwitness::simt::launch(config, use_static<WORDS>, out.data());
    config.block = 0;
    static_cast<void>(kvwitness::simt::launch(config, use_static<100000>, out.data()));
    return !report.ok() ? report.to_string() : out[63] == 1 ? std::string() : std::string("a wrong value");
  });
}

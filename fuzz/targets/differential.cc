#include <memory>
#include <vector>

#include "fuzz/judge.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

int fuzz_differential(const std::uint8_t* data, std::size_t size) {
  using namespace kvwitness;
  static const std::vector<std::unique_ptr<harness::Implementation>> kImplementations = fuzz::host_implementations();
  const harness::Case value = harness::decode({data, size});
  const fuzz::Expected expected(value);
  for (const std::unique_ptr<harness::Implementation>& implementation : kImplementations) {
    expected.judge("differential", *implementation);
  }
  return 0;
}

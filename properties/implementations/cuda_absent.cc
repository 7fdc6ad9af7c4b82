// cuda-block and cuda-warp in a build without nvcc: known by name, and never able to run.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/implementations/registry.h"

namespace kvwitness::harness {
namespace {

class AbsentImplementation final : public Implementation {
 public:
  explicit AbsentImplementation(std::string name) : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  Availability availability() const override { return {false, kWhy}; }
  bool supports(const Case&) const override { return false; }
  Outcome run_in(const Case&, const MemoryContext&) override { return Outcome::ended(Ending::kUnsupported, kWhy); }

 private:
  static constexpr const char* kWhy = "this build has no CUDA library: nvcc was not found, or KVWITNESS_CUDA is off";
  std::string name_;
};

}  // namespace

std::vector<std::unique_ptr<Implementation>> make_cuda() {
  std::vector<std::unique_ptr<Implementation>> made;
  made.push_back(std::make_unique<AbsentImplementation>("cuda-block"));
  made.push_back(std::make_unique<AbsentImplementation>("cuda-warp"));
  return made;
}

}  // namespace kvwitness::harness

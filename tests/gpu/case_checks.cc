#include "tests/gpu/case_checks.h"

#include <kvwitness/case.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>

#include "properties/case/implementation.h"

namespace kvwitness::gpu_check {
namespace {

using harness::Case;
using harness::Implementation;
using harness::Operation;
using harness::Outcome;

// What is wrong with the outcome, in one sentence with the first differing element; "" where it is right.
std::string fault(const Case& value, const Outcome& outcome) {
  if (outcome.ending != harness::Ending::kReturned) {
    return outcome.how;
  }
  const std::int32_t status = harness::expected_status(value, true);
  if (outcome.status != status) {
    return "status " + std::to_string(outcome.status) + ", not " + std::to_string(status) + ": " + outcome.message;
  }
  const std::vector<std::int32_t> expected = status == 0 ? harness::expected_rows(value) : outcome.before;
  if (outcome.rows != expected) {
    const auto [actual, wanted] = std::ranges::mismatch(outcome.rows, expected);
    const bool sizes = actual == outcome.rows.end() || wanted == expected.end();
    return "element " + std::to_string(actual - outcome.rows.begin()) +
           (sizes ? " is missing" : " is " + std::to_string(*actual) + ", not " + std::to_string(*wanted));
  }
  return outcome.stray;
}

// Runs one case on every variant; "" or the first fault with the case as a line of JSON.
class CaseRunner {
 public:
  explicit CaseRunner(Variants variants) : variants_(variants) {}

  std::string run(const Case& value) {
    for (const std::unique_ptr<Implementation>& variant : variants_) {
      if (!variant->supports(value)) {
        ++unsupported_;
        continue;
      }
      ++run_;
      if (const std::string wrong = fault(value, variant->run(value)); !wrong.empty()) {
        return variant->name() + ": " + wrong + "; the case is " + harness::to_json(value);
      }
    }
    return "";
  }
  std::string counts() const {
    return std::to_string(run_) + " runs, " + std::to_string(unsupported_) + " outside the domain";
  }

 private:
  Variants variants_;
  std::size_t run_ = 0;
  std::size_t unsupported_ = 0;
};

class CaseDrawer {
 public:
  Case next() {
    Case value;
    value.operation = one_of({Operation::kWitnesses, Operation::kApply, Operation::kScatter});
    value.topk = between(0, 3) == 0 ? between(0, 70)
                                    : one_of<std::int64_t>({64, 192, 511, 512, 513, 1024, 2047, 2048, 2051, 4096});
    value.num_segments = between(0, 2) == 0 ? 64 : between(1, 64);
    if (value.operation == Operation::kWitnesses && between(0, 2) == 0) {
      value.num_segments = between(65, 3000);
    }
    if (value.operation == Operation::kApply) {
      value.learned_keep = between(0, value.topk);
      value.max_replacements = between(0, 80);
      value.in_place = between(0, 1) == 0;
    }
    const std::int64_t rows = between(1, 24);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t length = context_len();
      value.context_lens.push_back(length);
      for (std::int64_t slot = 0; slot < value.topk; ++slot) {
        value.learned.push_back(token(length));
      }
    }
    value.row_stride = between(0, 1) == 0 ? std::optional(value.topk + between(0, 9)) : std::nullopt;
    value.base_offset = static_cast<std::int32_t>(between(0, 15));
    return value;
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }
  std::int32_t context_len() {
    switch (between(0, 4)) {
      case 0:
        return static_cast<std::int32_t>(between(-1, 130));
      case 1:
        return one_of({std::numeric_limits<std::int32_t>::max(), 1 << 22, 2796203, 2796202, 1 << 28});
      default:
        return static_cast<std::int32_t>(between(1, 200000));
    }
  }
  // Clustered, so that segments are missing; now and then padding, or past the end.
  std::int32_t token(std::int32_t context_len) {
    const std::int64_t length = std::max(context_len, 1);
    switch (between(0, 19)) {
      case 0:
        return one_of({-1, -7, std::numeric_limits<std::int32_t>::min()});
      case 1:
        return static_cast<std::int32_t>(
            std::min<std::int64_t>(length + between(0, 2), std::numeric_limits<std::int32_t>::max()));
      default:
        return static_cast<std::int32_t>(between(length / 3, std::max(length / 3, length / 2)));
    }
  }

  std::mt19937_64 random_{20240607};
};

}  // namespace

void check_case_files(Variants variants, const std::vector<std::string>& paths, CheckLog& log) {
  CaseRunner runner(variants);
  for (const std::string& path : paths) {
    const auto cases = harness::read_cases(path);
    std::string wrong = cases ? "" : cases.error().message();
    if (cases) {
      for (const Case& value : *cases) {
        wrong = wrong.empty() ? runner.run(value) : wrong;
      }
    }
    log.report(path + (cases ? ", " + std::to_string(cases->size()) + " cases" : ""), wrong);
  }
  if (!paths.empty()) {
    std::printf("     %s\n", runner.counts().c_str());
  }
}

void check_random_cases(Variants variants, int count, CheckLog& log) {
  CaseRunner runner(variants);
  CaseDrawer drawer;
  std::string wrong;
  for (int i = 0; i < count && wrong.empty(); ++i) {
    wrong = runner.run(drawer.next());
  }
  log.report("random cases, " + runner.counts(), wrong);
}

}  // namespace kvwitness::gpu_check

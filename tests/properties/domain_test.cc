// Every call that an implementation gets lies in the domain that it is judged in: drawn ones, those that relations derive,
// prior calls, refusals, candidates of shrinking, the probe's.
#include <gtest/gtest.h>
#include <kvwitness/domain.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "properties/run/runner.h"
#include "tests/properties/faulty_rule.h"

namespace kvwitness::harness {
namespace {

// What of the case is outside, in words; "" where it is inside. Written apart from admits_case(), which the harness uses.
std::string outside(const Domain& domain, const Case& call) {
  const auto lacks = [](const auto& list, const auto& value) {
    return !list.empty() && std::count(list.begin(), list.end(), value) == 0;
  };
  if (lacks(domain.operations, call.operation)) return "operation";
  if (lacks(domain.topk, call.topk)) return "topk";
  if (lacks(domain.num_segments, call.num_segments)) return "num_segments";
  if (call.rows() > domain.max_rows) return "rows";
  const std::int64_t stride = call.row_stride.value_or(call.topk);
  if (domain.contiguous && stride != call.topk) return "row_stride";
  if (stride != call.topk && stride % (domain.align_bytes / 4) != 0) return "alignment of row_stride";
  if (4 * call.base_offset % domain.align_bytes != 0) return "base_offset";
  for (const std::int32_t len : call.context_lens) {
    if (len > domain.max_context) return "context length";
  }
  for (std::int64_t at = 0; domain.in_range && call.topk > 0 && at < std::ssize(call.learned); ++at) {
    const std::int64_t row = at / call.topk;
    const std::int32_t token = call.learned[static_cast<std::size_t>(at)];
    if (row < call.rows() && token >= 0 && token >= call.context_lens[static_cast<std::size_t>(row)]) {
      return "token at or past the length";
    }
  }
  return "";
}

// Answers as the implementation that it wraps, and holds each call against the domain.
class Watcher final : public ForwardingImplementation {
 public:
  Watcher(std::unique_ptr<Implementation> inner, Domain domain)
      : ForwardingImplementation(*inner), inner_(std::move(inner)), domain_(std::move(domain)) {}

  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    for (const Case& prior : value.prior_calls) note(prior);
    note(value);
    return ForwardingImplementation::run_in(value, memory_context);
  }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    return Implementation::run_together(requests);
  }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return peers_; }
  void add_peer(std::unique_ptr<Implementation> peer) { peers_.push_back(std::move(peer)); }

  const std::set<std::string>& violations() const { return violations_; }
  std::int64_t calls() const { return calls_; }
  std::int64_t refused() const { return refused_; }

 private:
  void note(const Case& call) {
    ++calls_;
    if (!is_legal(call)) ++refused_;
    if (const std::string what = outside(domain_, call); !what.empty()) violations_.insert(what + ": " + to_json(call));
  }

  std::unique_ptr<Implementation> inner_;
  Domain domain_;
  std::vector<std::unique_ptr<Implementation>> peers_;
  std::set<std::string> violations_;
  std::int64_t calls_ = 0, refused_ = 0;
};

std::vector<std::pair<std::string, Domain>> options() {
  std::vector<std::pair<std::string, Domain>> list = {
      {"--operation scatter", {.operations = {Operation::kScatter}}},
      {"--operation witnesses", {.operations = {Operation::kWitnesses}}},
      {"--topk 7", {.topk = {7}}},
      {"--topk 512", {.topk = {512}}},
      {"--segments 0,5,65", {.num_segments = {0, 5, 65}}},
      {"--segments 2", {.num_segments = {2}}},
      {"--contiguous", {.contiguous = true}},
      {"--align 16", {.align_bytes = 16}},
      {"--align 64", {.align_bytes = 64}},
      {"--max-context 3", {.max_context = 3}},
      {"--max-context 1000", {.max_context = 1000}},
      {"--max-rows 1", {.max_rows = 1}},
      {"--max-rows 5", {.max_rows = 5}},
      {"--in-range", {.in_range = true}},
  };
  for (auto& [name, domain] : list) {
    if (domain.operations.empty()) domain.operations = whole_domain().operations;
  }
  return list;
}

struct Judged {
  RunReport report;
  std::set<std::string> violations;
  std::int64_t calls = 0, refused = 0;
};

Judged judge(const Domain& domain, std::int64_t cases, Faults faults, bool checks_arguments) {
  const auto rule = [&](const char* name, const Faults& with) {
    auto implementation = std::make_unique<FaultyRule>(name, with);
    if (!checks_arguments) implementation->make_only_legal_calls();
    return implementation;
  };
  auto watcher = std::make_unique<Watcher>(rule("watched", faults), domain);
  auto* const watching = watcher.get();
  watcher->add_peer(rule("peer", {}));
  std::vector<std::unique_ptr<Implementation>> implementations;
  implementations.push_back(std::move(watcher));
  RunOptions run;
  for (const Property& property : all_properties()) run.properties.push_back(&property);
  run.domain = domain;
  run.cases_per_property = cases;
  run.shrink_attempts = 60;
  auto report = run_properties(run, implementations, {});
  EXPECT_TRUE(report.has_value());
  return {std::move(*report), watching->violations(), watching->calls(), watching->refused()};
}

void expect_all_inside(const std::string& name, const Domain& domain) {
  for (const bool checks_arguments : {true, false}) {
    const Judged right = judge(domain, 40, {}, checks_arguments);
    EXPECT_TRUE(right.violations.empty()) << name << ": " << *right.violations.begin();
    EXPECT_EQ(right.report.implementations.front().kind, ResultKind::kPass) << name;
    EXPECT_GT(right.calls, 500) << name;
    EXPECT_EQ(right.refused > 0, checks_arguments) << name;
    // One that fails: what shrinking tries lies inside too.
    const Judged wrong =
        judge(domain, 8, {.rule = rule::Fault::edge_rounded_down, .accepts_65_segments = true}, checks_arguments);
    EXPECT_TRUE(wrong.violations.empty()) << name << ", wrong: " << *wrong.violations.begin();
  }
}

TEST(CallsInTheDomain, ForEachOption) {
  for (const auto& [name, domain] : options()) expect_all_inside(name, domain);
}

TEST(CallsInTheDomain, ForEachPairOfOptions) {
  const auto all = options();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const Domain both = common_domain(all[i].second, all[j].second);
      if (both.operations.empty()) continue;
      for (const bool checks_arguments : {true, false}) {
        const Judged judged = judge(both, 15, {}, checks_arguments);
        const std::string name = all[i].first + " " + all[j].first;
        EXPECT_TRUE(judged.violations.empty()) << name << ": " << *judged.violations.begin();
        EXPECT_NE(judged.report.implementations.front().kind, ResultKind::kFail) << name;
      }
    }
  }
}

// From 100 cases on large cases, histories and serving shapes come too.
TEST(CallsInTheDomain, OfLargeCasesHistoriesAndServingShapesToo) {
  const std::vector<Operation> every = whole_domain().operations;
  for (const Domain& domain :
       {Domain{.operations = every, .contiguous = true, .align_bytes = 16, .max_context = 1000, .in_range = true},
        Domain{.operations = every, .topk = {5, 512}, .num_segments = {0, 5, 64}, .max_rows = 70},
        Domain{.operations = {Operation::kScatter}, .align_bytes = 64, .max_rows = 5}}) {
    const Judged judged = judge(domain, 100, {}, true);
    EXPECT_TRUE(judged.violations.empty()) << *judged.violations.begin();
    EXPECT_GT(judged.calls, 100'000);
  }
}

// Right kernels that fail where one call leaves the domain that they were given.
TEST(CallsInTheDomain, ARelationWhoseCallsAllLieOutsideIsCountedAndDoesNotFail) {
  const Domain packed{.operations = whole_domain().operations, .topk = {512}, .contiguous = true, .align_bytes = 16};
  const Judged judged = judge(packed, 40, {}, true);
  EXPECT_TRUE(judged.violations.empty());
  const auto& properties = judged.report.implementations.front().properties;
  const auto widening = std::ranges::find(properties, "stride_widening", &PropertyResult::property);
  EXPECT_EQ(widening->kind, ResultKind::kUnsupported);
  EXPECT_GT(widening->outside_domain, 0);
  EXPECT_EQ(widening->reason, "every call to compare with lies outside the domain");
  for (const char* const name : {"added_occupant", "row_independence", "permutation", "repeated_token"}) {
    const auto relation = std::ranges::find(properties, name, &PropertyResult::property);
    EXPECT_EQ(relation->kind, ResultKind::kPass) << name;
    EXPECT_GT(relation->cases, 5) << name;
  }
}

// What a domain leaves of a relation is judged: tokens in range, short contexts, one width.
TEST(CallsInTheDomain, RelationsSpeakOfNarrowDomains) {
  const std::vector<std::pair<Domain, std::vector<const char*>>> expected = {
      {{.max_context = 3}, {"row_independence", "added_occupant", "permutation", "stride_widening"}},
      {{.in_range = true}, {"row_independence", "added_occupant", "repeated_token", "batch_split"}},
      {{.topk = {16}}, {"row_independence", "added_occupant", "repeated_token", "stride_widening"}},
      {{.align_bytes = 64}, {"stride_widening", "row_permutation"}},
      {{.max_rows = 2}, {"row_independence", "row_permutation", "batch_split"}},
  };
  for (auto [domain, relations] : expected) {
    domain.operations = whole_domain().operations;
    const Judged judged = judge(domain, 60, {}, true);
    const auto& properties = judged.report.implementations.front().properties;
    for (const char* const name : relations) {
      EXPECT_GT(std::ranges::find(properties, name, &PropertyResult::property)->cases, 5) << name;
    }
  }
}

TEST(Domains, AdmitWhatBothAdmit) {
  const Domain one{.operations = {Operation::kApply, Operation::kScatter}, .topk = {1, 2, 3}, .max_rows = 9};
  const Domain other{.operations = {Operation::kScatter, Operation::kWitnesses},
                     .legal_only = true,
                     .topk = {3, 4},
                     .num_segments = {8},
                     .contiguous = true,
                     .align_bytes = 16,
                     .max_context = 100,
                     .in_range = true};
  const Domain both{.operations = {Operation::kScatter},
                    .legal_only = true,
                    .topk = {3},
                    .num_segments = {8},
                    .contiguous = true,
                    .align_bytes = 16,
                    .max_context = 100,
                    .max_rows = 9,
                    .in_range = true};
  EXPECT_EQ(common_domain(one, other), both);
  EXPECT_EQ(common_domain(other, one), both);
  EXPECT_TRUE(common_domain({.operations = one.operations, .topk = {1}}, other).operations.empty());
}

}  // namespace
}  // namespace kvwitness::harness

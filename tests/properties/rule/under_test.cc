#include "tests/properties/rule/under_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "properties/generators/case_stream.h"
#include "properties/implementations/plugin.h"
#include "properties/implementations/registry.h"
#include "properties/report/report.h"
#include "properties/rules/judged_rows.h"
#include "properties/rules/property.h"
#include "properties/run/domain_probe.h"
#include "properties/run/domains.h"
#include "properties/run/options.h"
#include "properties/sandbox/isolation.h"

namespace kvwitness::harness::rule {
namespace {

constexpr std::string_view kDefaultParams = "seed=1 max_success=200";
// From this many cases on a run must have met the classes that its scenarios guarantee.
constexpr std::int64_t kEnforcedCases = 200;
// Beyond this many tokens a call is too long to be pasted.
constexpr std::size_t kPasteableTokens = 2000;

UnderTest chosen;
std::unique_ptr<Implementation> chosen_implementation;

// What the current property has drawn.
struct Drawn {
  std::int64_t cases = 0;
  std::map<std::string, std::int64_t> classes;
  std::vector<const Scenario*> deck;
};
Drawn drawn;

// A class is missed where it never came though its scenario's share of the deck promises sixteen cases or more: less
// than one run in a million by chance.
std::string missed_classes() {
  std::map<const Scenario*, double> promised;
  const double each =
      static_cast<double>(drawn.cases) / static_cast<double>(std::max<std::size_t>(drawn.deck.size(), 1));
  for (const Scenario* scenario : drawn.deck) promised[scenario] += each;
  std::string missed;
  for (const CoverageClass& kind : all_coverage_classes()) {
    const std::string name(kind.name);
    if (promised[kind.scenario] >= 16 && drawn.classes[name] == 0) missed += (missed.empty() ? "" : ", ") + name;
  }
  return missed;
}

class ClassFloors : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { drawn = {}; }
  void OnTestEnd(const testing::TestInfo& info) override {
    if (std::string_view(info.test_suite_name()) != "Rule" || info.result()->Failed()) return;
    if (drawn.cases < kEnforcedCases) return;
    EXPECT_EQ(missed_classes(), "") << "classes of cases that never came: a fault of the generators";
  }
};

std::string replay_command(std::string_view property, const Case& call) {
  if (call.learned.size() > kPasteableTokens) return "(the call is too long to be pasted)";
  Counterexample found;
  found.minimal = call;
  const ReplayCommands replays{
      .program = KVWITNESS_PROGRAM, .selectors = {{chosen.name, chosen.selector}}, .variables = {}};
  return replays.command(chosen.name, property, found);
}

bool is_known_parameter(std::string_view word) {
  for (const std::string_view key : {"seed", "max_success", "max_size", "max_discard_ratio", "noshrink", "reproduce",
                                     "verbose_progress", "verbose_shrinking"}) {
    if (word.starts_with(key) && word.substr(key.size()).starts_with("=")) return true;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "rule_properties: %s\n", what.c_str());
  std::exit(2);
}

// RapidCheck takes a misspelt key for none, a missing seed for the time, and no case for a success.
void set_parameters() {
  const char* const given = std::getenv("RC_PARAMS");
  std::string params = given == nullptr ? std::string(kDefaultParams) : std::string(given);
  std::string_view rest = params;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word.empty()) continue;
    if (!is_known_parameter(word)) refuse("RC_PARAMS has '" + std::string(word) + "', which RapidCheck does not know");
    if (word == "max_success=0") refuse("RC_PARAMS asks for no case: max_success must be at least 1");
  }
  if (params.find("seed=") == std::string::npos && params.find("reproduce=") == std::string::npos) params += " seed=1";
  ::setenv("RC_PARAMS", params.c_str(), 1);
  std::printf("RC_PARAMS=\"%s\"\n", params.c_str());
}

void choose(const std::string& option, const std::string& value) {
  if (option == "--impl") {
    auto found = find_implementation(value);
    if (found == nullptr) refuse("--impl is '" + value + "', which is no implementation");
    if (const Availability can = found->availability(); !can.can_run) {
      refuse(value + " cannot run here: " + can.why_not);
    }
    chosen_implementation = isolate(std::move(found));
    chosen.selector = "--impl " + value;
  } else {
    auto plugin = load_plugin(value);
    if (!plugin) refuse("--plugin " + value + ": " + plugin.error());
    chosen_implementation = std::move(*plugin);
    chosen.selector = "--plugin " + shell_quote(value);
  }
  chosen.name = chosen_implementation->name();
  chosen.domain = probed_domain(domain_of(RunOptions{}, *chosen_implementation), *chosen_implementation, [] { return false; });
}

// A line for each implementation that can run here and each property: for ctest.
void list_tests() {
  const testing::TestSuite* suite = nullptr;
  for (int i = 0; i < testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
    const testing::TestSuite* candidate = testing::UnitTest::GetInstance()->GetTestSuite(i);
    if (std::string_view(candidate->name()) == "Rule") suite = candidate;
  }
  for (const auto& implementation : all_implementations()) {
    if (!implementation->availability().can_run) continue;
    for (int i = 0; suite != nullptr && i < suite->total_test_count(); ++i) {
      std::printf("%s %s\n", implementation->name().c_str(), suite->GetTestInfo(i)->name());
    }
  }
}

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    list_tests();
    return 0;
  }
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (argc != 3 || (option != "--impl" && option != "--plugin")) {
    refuse("usage: rule_properties --impl NAME | --plugin FILE | --list   [--gtest_...]");
  }
  set_parameters();
  choose(argv[1], argv[2]);
  testing::UnitTest::GetInstance()->listeners().Append(new ClassFloors);
  return RUN_ALL_TESTS();
}

TEST(RuleProperties, ThereIsOneForEachPropertyOfTheList) {
  std::set<std::string> written, listed;
  for (const Property& property : all_properties()) listed.insert(std::string(property.name));
  for (int i = 0; i < testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *testing::UnitTest::GetInstance()->GetTestSuite(i);
    if (std::string_view(suite.name()) != "Rule") continue;
    for (int test = 0; test < suite.total_test_count(); ++test) written.insert(suite.GetTestInfo(test)->name());
  }
  EXPECT_EQ(written, listed);
}

}  // namespace

Implementation& implementation() {
  return *chosen_implementation;
}

const UnderTest& under_test() {
  return chosen;
}

Case draw_call(std::string_view property, const std::vector<Operation>& operations, bool legal_only, Focus focus) {
  Domain domain = chosen.domain;
  domain.legal_only = domain.legal_only || legal_only;
  std::erase_if(domain.operations,
                [&](Operation operation) { return std::ranges::find(operations, operation) == operations.end(); });
  if (domain.operations.empty()) return {};
  drawn.deck = deck_for(domain, focus);
  const std::string scenario = *rc::gen::map(rc::gen::elementOf(drawn.deck), [](const Scenario* card) {
                                  return std::string(card->name);
                                }).as("scenario");
  const Case call = *gen::call_of(scenario, domain);
  RC_TAG(scenario);
  ++drawn.cases;
  for (const std::string& name : gen::coverage_classes(call)) ++drawn.classes[name];
  RC_PRE(implementation().supports(call));
  RC_LOG() << "replay: " << replay_command(property, call) << "\n";
  return call;
}

Case legal_call(std::string_view property, const std::vector<Operation>& operations) {
  return draw_call(property, operations, true, find_property(property)->focus);
}

std::vector<std::int32_t> result_of(const Case& call) {
  const Outcome outcome = implementation().run(call);
  RC_PRE(outcome.ending != Ending::kUnsupported);
  if (outcome.ending != Ending::kReturned) RC_FAIL("the call did not return: " + outcome.how);
  RC_ASSERT(outcome.status == 0);
  RC_ASSERT(std::ssize(outcome.rows) == output_elements(call));
  return outcome.rows;
}

bool Row::in_range() const {
  return std::ranges::all_of(K, [this](std::int64_t token) { return token < L; });
}

std::set<std::int64_t> Row::occupied(const std::vector<std::int64_t>& tokens) const {
  std::set<std::int64_t> segments;
  for (const std::int64_t token : tokens) {
    if (token >= 0) segments.insert(std::min(sigma(token), S - 1));
  }
  return segments;
}

std::set<std::int64_t> Row::all_segments() const {
  std::set<std::int64_t> segments;
  for (std::int64_t s = 0; s < S_eff; ++s) segments.insert(s);
  return segments;
}

std::vector<std::int64_t> Row::changed_slots() const {
  std::vector<std::int64_t> slots;
  for (std::size_t slot = 0; slot < K.size(); ++slot) {
    if (after[slot] != K[slot]) slots.push_back(static_cast<std::int64_t>(slot));
  }
  return slots;
}

std::vector<Row> rows_after(const Case& call) {
  const std::vector<std::int32_t> result = result_of(call);
  const bool merges = call.operation != Operation::kWitnesses;
  const Merge merge = merges ? merge_of(call) : Merge{0, 0};
  const auto part = [](const std::vector<std::int32_t>& values, std::int64_t row, std::int64_t width) {
    const auto begin = values.begin() + row * width;
    return std::vector<std::int64_t>(begin, begin + width);
  };
  std::vector<Row> rows;
  if (call.operation == Operation::kScatter && call.num_segments == 0) return rows;  // switched off: no rows to judge
  for (std::int64_t r = 0; r < call.rows(); ++r) {
    const std::int64_t len = call.context_lens[static_cast<std::size_t>(r)];
    Row row{.L = len,
            .S = call.num_segments,
            .S_eff = std::clamp<std::int64_t>(len, 0, call.num_segments),
            .keep = merge.learned_keep,
            .budget = merge.budget,
            .K = part(call.learned, r, call.topk),
            .after = {},
            .witnesses = {}};
    if (merges) {
      row.after = part(result, r, call.topk);
      for (const std::int64_t slot : row.changed_slots()) {
        row.witnesses.push_back(row.after[static_cast<std::size_t>(slot)]);
      }
    } else {
      row.after = row.K;
      row.witnesses = part(result, r, call.num_segments);
      std::erase(row.witnesses, -1);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void judge(std::string_view name, const Case& call) {
  const Property& property = *find_property(name);
  const Verdict verdict = property.judge(call, implementation().run(call), implementation());
  if (verdict.kind == Verdict::Kind::kBroken) RC_FAIL(verdict.what);
}

void judge(std::string_view name) {
  const Property& property = *find_property(name);
  std::vector<Operation> operations = whole_domain().operations;
  std::erase_if(operations, [&](Operation operation) { return !property.concerns(operation); });
  judge(name, draw_call(name, operations, false, property.focus));
}

}  // namespace kvwitness::harness::rule

int main(int argc, char** argv) {
  return kvwitness::harness::rule::run(argc, argv);
}

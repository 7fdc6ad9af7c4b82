// What wraps an implementation hands on every question and every run: no member of Implementation is forgotten.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/implementations/renamed.h"

namespace kvwitness::harness {
namespace {

// The virtual members of Implementation, as its header declares them.
std::set<std::string> declared_members() {
  std::ostringstream text;
  text << std::ifstream(KVWITNESS_SOURCE_FOLDER "/properties/case/implementation.h").rdbuf();
  const std::string header = text.str();
  const std::size_t begin = header.find("class Implementation {");
  const std::string body = header.substr(begin, header.find("\n};", begin) - begin);
  static const std::regex kMember(R"(virtual [^~;{]*?(\w+)\()");
  std::set<std::string> members;
  for (std::sregex_iterator at(body.begin(), body.end(), kMember), end; at != end; ++at) members.insert((*at)[1]);
  return members;
}

// Notes which of its members are called, and answers each otherwise than an implementation does by default.
class Watched final : public Implementation {
 public:
  explicit Watched(std::set<std::string>& called) : called_(called) {}

  std::string name() const override { return note("name", "watched"); }
  Availability availability() const override { return note("availability", Availability{false, "it is a test"}); }
  bool provides(Operation operation) const override { return note("provides", operation == Operation::kApply); }
  bool checks_arguments() const override { return note("checks_arguments", false); }
  bool honours_stride(Operation operation) const override {
    return note("honours_stride", operation == Operation::kScatter);
  }
  Domain domain() const override { return note("domain", Domain{.max_rows = 3}); }
  bool supports(const Case& value) const override { return note("supports", value.topk == 5); }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    const bool is_given = value.topk == 5 && memory_context == kOtherContext;
    return note("run_in", Outcome::ended(Ending::kExited, is_given ? "by itself" : "with other arguments"));
  }
  std::size_t runs_together() const override { return note("runs_together", std::size_t{7}); }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    return note("run_together", std::vector<Outcome>(requests.size(), Outcome::ended(Ending::kHung, "together")));
  }
  bool is_slow() const override { return note("is_slow", true); }
  bool restart() override { return note("restart", true); }
  bool starts_slowly() const override { return note("starts_slowly", true); }
  void hurry(bool hurries) override { note("hurry", hurries); }
  void end_at(std::optional<std::chrono::steady_clock::time_point> end) override { note("end_at", end); }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return note("peers", std::span(peers_)); }

  static constexpr MemoryContext kOtherContext{MemoryContext::Fill::kPadding, true};

 private:
  template <typename Answer>
  Answer note(const char* member, Answer answer) const {
    called_.insert(member);
    return answer;
  }

  std::set<std::string>& called_;
  std::vector<std::unique_ptr<Implementation>> peers_{3};
};

// Asks everything that an implementation can be asked, but for its name.
void expect_answers_of_watched(Implementation& implementation) {
  Case five;
  five.topk = 5;
  EXPECT_EQ(implementation.availability().why_not, "it is a test");
  EXPECT_TRUE(implementation.provides(Operation::kApply));
  EXPECT_FALSE(implementation.provides(Operation::kScatter));
  EXPECT_FALSE(implementation.checks_arguments());
  EXPECT_TRUE(implementation.honours_stride(Operation::kScatter));
  EXPECT_FALSE(implementation.honours_stride(Operation::kApply));
  EXPECT_EQ(implementation.domain().max_rows, 3);
  EXPECT_TRUE(implementation.supports(five));
  EXPECT_FALSE(implementation.supports(Case{}));
  EXPECT_EQ(implementation.run_in(five, Watched::kOtherContext).how, "by itself");
  EXPECT_EQ(implementation.runs_together(), 7U);
  const std::vector<RunRequest> requests(4, {&five});
  const std::vector<Outcome> outcomes = implementation.run_together(requests);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_EQ(outcomes[3].how, "together");
  EXPECT_TRUE(implementation.is_slow());
  EXPECT_TRUE(implementation.restart());
  EXPECT_TRUE(implementation.starts_slowly());
  implementation.hurry(true);
  implementation.end_at(std::nullopt);
  EXPECT_EQ(implementation.peers().size(), 3U);
}

TEST(Forwarding, EveryMemberReachesTheImplementationThatIsWrapped) {
  std::set<std::string> called;
  Watched watched(called);
  ForwardingImplementation forwarding(watched);
  EXPECT_EQ(forwarding.name(), "watched");
  expect_answers_of_watched(forwarding);
  EXPECT_EQ(called, declared_members());
}

TEST(Forwarding, ARenamedImplementationAnswersOnlyItsNameItself) {
  std::set<std::string> called;
  RenamedImplementation renamed(std::make_unique<Watched>(called), "watched#2");
  EXPECT_EQ(renamed.name(), "watched#2");
  expect_answers_of_watched(renamed);
  std::set<std::string> members = declared_members();
  members.erase("name");
  EXPECT_EQ(called, members);
}

}  // namespace
}  // namespace kvwitness::harness

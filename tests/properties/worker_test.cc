#include "properties/sandbox/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/oracle.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"
#include "properties/sandbox/isolation.h"
#include "tests/properties/sampled_cases.h"

namespace kvwitness::harness {
namespace {

using std::chrono::milliseconds;

class HandMade final : public HostImplementation {
 public:
  explicit HandMade(std::function<Answer(const Call&)> body) : body_(std::move(body)) {}
  std::string name() const override { return "hand-made"; }
  Answer call(const Call& call) override { return body_(call); }

 private:
  std::function<Answer(const Call&)> body_;
};

std::unique_ptr<Implementation> isolated(std::function<HostImplementation::Answer(const Call&)> body) {
  return isolate(std::make_unique<HandMade>(std::move(body)), DeadlineLimits{milliseconds(300), milliseconds(600)});
}

Case scatter_case(std::int64_t rows = 1, std::int64_t topk = 4) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = topk;
  value.num_segments = 2;
  value.context_lens.assign(static_cast<std::size_t>(rows), 16);
  value.learned.assign(static_cast<std::size_t>(rows * topk), 3);
  return value;
}

TEST(Worker, GivesTheOutcomesThatCallsInThisProcessGive) {
  const auto direct = find_implementation("scalar");
  const auto worker = isolate(find_implementation("scalar"));
  EXPECT_EQ(worker->name(), "scalar");
  CaseSampler sampler(3);
  for (int i = 0; i < 1500; ++i) {
    const Case value = sampler.next();
    ASSERT_EQ(worker->supports(value), direct->supports(value));
    if (direct->supports(value)) {
      ASSERT_EQ(worker->run(value), direct->run(value)) << value;
      const MemoryContext other{MemoryContext::Fill::kPadding, true};
      ASSERT_EQ(worker->run_in(value, other), direct->run_in(value, other)) << value;
    }
  }
}

TEST(Worker, ReportsStatusAndMessageOfTheCall) {
  const auto worker = isolated([](const Call&) { return HostImplementation::Answer{5, std::string(2000, 'm')}; });
  const Outcome outcome = worker->run(scatter_case());
  EXPECT_EQ(outcome.status, 5);
  EXPECT_EQ(outcome.message, std::string(511, 'm')) << "cut to what the page holds";
}

TEST(Worker, SeesStrayWritesAsTheyAreSeenInThisProcess) {
  Case value = scatter_case(2);
  value.row_stride = 6;
  value.base_offset = 3;
  for (const std::ptrdiff_t at : {-1, 4, 10}) {
    const auto stray = [at](const Call& call) {
      call.out[at] ^= 1;
      return HostImplementation::Answer{0, ""};
    };
    HandMade direct(stray);
    const Outcome outcome = isolated(stray)->run(value);
    EXPECT_NE(outcome.stray, "");
    EXPECT_EQ(outcome, direct.run(value));
  }
}

// The pages of inputs cannot be written; a target that makes them writable is seen to have written.
TEST(Worker, SeesWhatIsScribbledRoundInputsThatWereMadeWritable) {
  constexpr std::uintptr_t kPage = 4096;
  const auto scribbling = [](bool lengths, std::ptrdiff_t at) {
    return isolated([=](const Call& call) {
      const std::int32_t* const element = (lengths ? call.context_lens : call.learned) + at;
      auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(element) / kPage * kPage);
      if (mprotect(page, kPage, PROT_READ | PROT_WRITE) != 0) _exit(1);
      *const_cast<std::int32_t*>(element) ^= 1;
      return HostImplementation::Answer{0, ""};
    });
  };
  Case value = scatter_case(2);
  value.operation = Operation::kApply;
  value.base_offset = 4;
  const MemoryContext in_front{MemoryContext::Fill::kTokens, true};
  const MemoryContext behind{};
  const std::string learned = "the learned rows", lengths = "the context lengths";
  EXPECT_THAT(scribbling(true, -1)->run_in(value, behind).stray, testing::HasSubstr("element 1 before " + lengths));
  EXPECT_THAT(scribbling(true, -9)->run_in(value, behind).stray, testing::HasSubstr("element 9 before " + lengths));
  EXPECT_THAT(scribbling(true, 1)->run_in(value, behind).stray, testing::HasSubstr("input context lengths: element 1"));
  EXPECT_THAT(scribbling(true, 2)->run_in(value, in_front).stray, testing::HasSubstr("past the end of " + lengths));
  EXPECT_THAT(scribbling(true, 99)->run_in(value, in_front).stray, testing::HasSubstr("past the end of " + lengths));
  EXPECT_THAT(scribbling(false, -1)->run_in(value, behind).stray, testing::HasSubstr("element 1 before " + learned));
  EXPECT_THAT(scribbling(false, 7)->run_in(value, behind).stray, testing::HasSubstr("input learned rows: element 7"));
  EXPECT_THAT(scribbling(false, 8)->run_in(value, in_front).stray, testing::HasSubstr("past the end of " + learned));
}

// Answers every question about itself in another way than an implementation does by default.
class Unusual final : public HostImplementation {
 public:
  std::string name() const override { return "unusual"; }
  Availability availability() const override { return {.can_run = false, .why_not = "it is a test"}; }
  bool provides(Operation operation) const override { return operation != Operation::kApply; }
  bool checks_arguments() const override { return false; }
  bool honours_stride(Operation operation) const override { return operation != Operation::kWitnesses; }
  bool supports(const Case& value) const override { return value.topk != 5; }
  bool is_slow() const override { return true; }
  Answer call(const Call&) override { return {}; }
};

TEST(Worker, AnIsolatedImplementationSaysOfItselfWhatItSaidBefore) {
  const auto worker = isolate(std::make_unique<Unusual>());
  EXPECT_EQ(worker->name(), "unusual");
  EXPECT_FALSE(worker->availability().can_run);
  EXPECT_EQ(worker->availability().why_not, "it is a test");
  EXPECT_FALSE(worker->provides(Operation::kApply));
  EXPECT_TRUE(worker->provides(Operation::kScatter));
  EXPECT_FALSE(worker->checks_arguments());
  EXPECT_FALSE(worker->honours_stride(Operation::kWitnesses));
  EXPECT_TRUE(worker->honours_stride(Operation::kScatter));
  EXPECT_FALSE(worker->supports(scatter_case(1, 5)));
  EXPECT_TRUE(worker->supports(scatter_case(1, 4)));
  EXPECT_TRUE(worker->is_slow());
}

TEST(Worker, AnImplementationWithoutHostPointersIsLeftAsItIs) {
  auto oracle = make_oracle();
  const Implementation* const before = oracle.get();
  EXPECT_EQ(isolate(std::move(oracle)).get(), before);
}

TEST(Worker, MemoryGrowsForALargeCaseAndServesSmallOnesAfterwards) {
  const auto worker = isolate(find_implementation("scalar"));
  Case large = scatter_case(3);
  large.row_stride = (std::int64_t{1} << 31) + 5;
  for (const Case& value : {scatter_case(), large, scatter_case(), scatter_case(5000, 16), large}) {
    const Outcome outcome = worker->run(value);
    EXPECT_EQ(outcome.ending, Ending::kReturned) << outcome.how;
    EXPECT_EQ(outcome.rows, expected_rows(value));
    EXPECT_EQ(outcome.stray, "");
  }
}

// Calls with this length of context kill their process.
constexpr std::int32_t kDeadly = 999;

std::unique_ptr<Implementation> mortal() {
  return isolated([](const Call& call) {
    if (call.context_lens[0] == kDeadly) {
      raise(SIGKILL);
    }
    return HostImplementation::Answer{0, ""};
  });
}

TEST(Worker, IsReplacedAsOftenAsItDies) {
  const auto worker = mortal();
  Case deadly = scatter_case();
  deadly.context_lens[0] = kDeadly;
  for (int again = 0; again < 50; ++again) {
    ASSERT_EQ(worker->run(deadly).ending, Ending::kCrashed);
    ASSERT_EQ(worker->run(scatter_case()).ending, Ending::kReturned);
  }
}

TEST(Worker, IsReplacedAlsoFromAProcessThatHasThreads) {
  const auto worker = mortal();
  Case deadly = scatter_case();
  deadly.context_lens[0] = kDeadly;
  std::thread([&] {
    EXPECT_EQ(worker->run(deadly).ending, Ending::kCrashed);
    EXPECT_EQ(worker->run(scatter_case()).ending, Ending::kReturned);
  }).join();
  EXPECT_EQ(worker->run(scatter_case()).ending, Ending::kReturned) << "outlives the thread that started it";
}

TEST(Worker, AFirstCallMayTakeLongerThanOthersUntilOneHangs) {
  const auto sleepy = [](const Call& call) {
    if (call.context_lens[0] > 100) {
      usleep(static_cast<useconds_t>(call.context_lens[0]) * 1000);
    }
    return HostImplementation::Answer{0, ""};
  };
  const auto worker =
      isolate(std::make_unique<HandMade>(sleepy), DeadlineLimits{milliseconds(250), milliseconds(5000)});
  Case slow = scatter_case();
  slow.context_lens[0] = 700;
  EXPECT_EQ(worker->run(slow).ending, Ending::kReturned) << "the first call of a process";
  EXPECT_EQ(worker->run(slow).ending, Ending::kHung) << "a later one";
  EXPECT_EQ(worker->run(slow).ending, Ending::kReturned) << "first calls have been seen to take as long";
  slow.context_lens[0] = 1000 * 1000;
  EXPECT_EQ(worker->run(slow).ending, Ending::kHung);
}

// The processes of the worker, as far as they still exist.
bool exists(pid_t process) {
  return kill(process, 0) == 0;
}

TEST(Worker, LeavesNoProcessBehind) {
  pid_t process = 0;
  {
    const auto worker = isolated([](const Call& call) {
      call.out[0] = static_cast<std::int32_t>(getpid());
      return HostImplementation::Answer{0, ""};
    });
    process = static_cast<pid_t>(worker->run(scatter_case()).rows[0]);
    ASSERT_NE(process, getpid());
    EXPECT_TRUE(exists(process));
    EXPECT_EQ(worker->run(scatter_case()).rows[0], process) << "one process for many calls";
    EXPECT_TRUE(worker->restart());
    EXPECT_FALSE(exists(process));
    process = static_cast<pid_t>(worker->run(scatter_case()).rows[0]);
  }
  EXPECT_FALSE(exists(process));
}

TEST(Worker, ItsChildrenGoWithIt) {
  const auto worker = isolated([](const Call& call) {
    const pid_t child = fork();
    if (child == 0) {
      pause();
    }
    call.out[0] = static_cast<std::int32_t>(child);
    return HostImplementation::Answer{0, ""};
  });
  const auto child = static_cast<pid_t>(worker->run(scatter_case()).rows[0]);
  ASSERT_TRUE(exists(child));
  worker->restart();
  for (int turn = 0; turn < 1000 && exists(child); ++turn) {
    usleep(1000);  // until its new parent has taken note of its end
  }
  EXPECT_FALSE(exists(child));
}

// A child that a call forks must not come back from it. What else children do is the target's affair.
enum class Child : std::uint8_t { kReturns, kReturnsAsTheLatest, kThrows, kExits, kStartsAProgram };

std::unique_ptr<Implementation> forking(Child child) {
  return isolated([child](const Call& call) {
    const int children = child == Child::kReturnsAsTheLatest ? 3 : 1;
    for (int number = 1; number <= children; ++number) {
      const pid_t process = fork();
      if (process != 0) {
        if (number < children) waitpid(process, nullptr, 0);
        continue;
      }
      if (number < children || child == Child::kExits) _exit(0);
      if (child == Child::kThrows) throw 1;
      if (child == Child::kStartsAProgram) {
        execl("/bin/true", "true", nullptr);
        _exit(1);
      }
      return HostImplementation::Answer{0, ""};
    }
    call.out[0] = 7;
    return HostImplementation::Answer{0, ""};
  });
}

TEST(Worker, ACallThatReturnsTwiceFails) {
  for (const Child child : {Child::kReturns, Child::kReturnsAsTheLatest, Child::kThrows}) {
    const auto worker = forking(child);
    for (int call = 0; call < 3; ++call) {
      const Outcome outcome = worker->run(scatter_case());
      EXPECT_EQ(outcome.ending, Ending::kCrashed) << static_cast<int>(child);
      EXPECT_THAT(outcome.how, testing::HasSubstr("it forked, and the child returned too"));
    }
  }
}

TEST(Worker, ACallWhoseChildrenEndReturnsOnce) {
  for (const Child child : {Child::kExits, Child::kStartsAProgram}) {
    const auto worker = forking(child);
    for (int call = 0; call < 3; ++call) {
      const Outcome outcome = worker->run(scatter_case());
      EXPECT_EQ(outcome.ending, Ending::kReturned) << outcome.how;
      EXPECT_EQ(outcome.rows[0], 7);
    }
  }
}

TEST(Worker, StandardOutputIsNotTheHarnesss) {
  testing::internal::CaptureStdout();
  const auto writing = isolated([](const Call&) {
    static_cast<void>(!write(STDOUT_FILENO, "\n", 1));
    return HostImplementation::Answer{0, ""};
  });
  EXPECT_EQ(writing->run(scatter_case()).status, 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace kvwitness::harness

#include "properties/sandbox/system_calls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "properties/sandbox/deadline_policy.h"
#include "properties/sandbox/interruption.h"

namespace kvwitness::harness {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::size_t kBytes = std::size_t{1} << 22;

TEST(SystemCalls, AreAllHadHere) {
  EXPECT_NO_THROW(require_system_calls());
}

TEST(UnnamedFile, IsMadeInTheFirstFolderThatHasOneAndLeavesNoName) {
  std::string folder = std::filesystem::temp_directory_path() / "kvwitness-test.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string folders[] = {"", "/proc/nowhere", folder};
  const int file = make_unnamed_file_in(folders, kBytes);
  struct stat made{}, place{};
  ASSERT_EQ(fstat(file, &made), 0);
  ASSERT_EQ(stat(folder.c_str(), &place), 0);
  EXPECT_EQ(made.st_size, static_cast<off_t>(kBytes));
  EXPECT_EQ(made.st_dev, place.st_dev);
  EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  close(file);
  std::filesystem::remove(folder);
}

TEST(UnnamedFile, ThatNoFolderHasRoomForIsRefusedWithTheirNames) {
  const std::string folders[] = {"/proc/nowhere", std::filesystem::temp_directory_path()};
  try {
    make_unnamed_file_in(folders, std::size_t{1} << 60);
    FAIL() << "it was made";
  } catch (const NoIsolation& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("/proc/nowhere, " + folders[1]));
  }
}

// In a child, whose descriptors are nobody else's.
TEST(Descriptors, AreClosedButForTheTwoThatAreKept) {
  for (const auto& [kept, also_kept] : {std::pair(7, 20), std::pair(20, 7), std::pair(3, 4), std::pair(9, 10)}) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 3; i < 40; ++i) dup2(STDERR_FILENO, i);
      close_all_but(kept, also_kept);
      for (int i = 0; i < 40; ++i) {
        const bool is_open = fcntl(i, F_GETFD) != -1;
        if (is_open != (i <= 2 || i == kept || i == also_kept)) _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(wait_for(child, &status), child);
    EXPECT_EQ(status, 0) << kept << ", " << also_kept;
  }
}

TEST(CallLimit, RaisesTheOthersAndLargeCallsInProportion) {
  const DeadlineLimits usual;
  const DeadlineLimits raised = with_call_limit(usual, usual.warm_up_call * 2);
  EXPECT_EQ(raised.call, usual.warm_up_call * 2);
  EXPECT_EQ(raised.warm_up_call, raised.call);
  EXPECT_EQ(raised.seasoned_warm_up_call, raised.call);
  EXPECT_EQ(raised.elements_per_second, usual.elements_per_second / 120);
  const DeadlineLimits lowered = with_call_limit(usual, milliseconds(10));
  EXPECT_EQ(lowered.call, milliseconds(10));
  EXPECT_EQ(lowered.warm_up_call, usual.warm_up_call);
  EXPECT_EQ(lowered.elements_per_second, usual.elements_per_second);
  EXPECT_GT(with_call_limit(usual, std::chrono::hours(24)).elements_per_second, 0);
}

TEST(Interruption, IsThatOfItsFirstSignalAndEndsEachWait) {
  const auto deadlines = std::make_unique<DeadlinePolicy>(DeadlineLimits{});
  EXPECT_FALSE(deadlines->is_over());
  interrupt(2);
  interrupt(15);
  EXPECT_EQ(interrupting_signal(), 2);
  EXPECT_TRUE(deadlines->is_over());
  EXPECT_EQ(deadlines->limit(true, 1 << 20), milliseconds(0));
  forget_interruption();
  EXPECT_FALSE(deadlines->is_over());
}

}  // namespace
}  // namespace kvwitness::harness

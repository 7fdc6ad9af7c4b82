#include "kvwitness/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "kvwitness/kvwitness.h"

namespace kvwitness {
namespace {

using testing::HasSubstr;

// KVWITNESS_BACKEND is read once a process, so what depends on it runs in a process of its own: a death test of the
// threadsafe style starts the program again, and the statement ends it with status 0 where every step holds.
class BackendVariable : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

#define REQUIRE(condition)                                                   \
  do {                                                                       \
    if (!(condition)) {                                                      \
      std::fprintf(stderr, "not so: %s (%s)", #condition, kvw_last_error()); \
      std::exit(1);                                                          \
    }                                                                        \
  } while (false)

void set_variable(const char* value) {
  REQUIRE(setenv("KVWITNESS_BACKEND", value, 1) == 0);
}

kvw_status scatter_one_row() {
  std::int32_t row[] = {0, 5, 9, -1};
  const std::int32_t len = 16;
  return kvw_scatter(row, 4, 4, &len, 1, 4);
}

std::string best_here() {
  return (*find_backend(""))->name;
}

void ends_well() {
  std::exit(0);
}

TEST(Backends, AreNamedOnceBestFirstAndEndWithScalar) {
  std::set<std::string_view> names;
  for (const Backend* const backend : backends()) {
    EXPECT_TRUE(names.insert(backend->name).second) << backend->name;
    EXPECT_TRUE(std::ranges::find(known_backend_names(), backend->name) != known_backend_names().end())
        << backend->name;
  }
  EXPECT_STREQ(backends().back()->name, "scalar");
  EXPECT_TRUE(backends().back()->runnable());
}

TEST(Backends, AreFoundByNameOrRefusedWithTheReason) {
  for (const std::string_view name : known_backend_names()) {
    const auto compiled_in =
        std::ranges::find_if(backends(), [name](const Backend* backend) { return backend->name == name; });
    const auto found = find_backend(name);
    if (compiled_in == backends().end()) {
      EXPECT_EQ(found.error(), BackendFault::kNotCompiledIn) << name;
    } else if ((*compiled_in)->runnable()) {
      EXPECT_EQ(*found, *compiled_in) << name;
    } else {
      EXPECT_EQ(found.error(), BackendFault::kCannotRunHere) << name;
    }
  }
  for (const std::string_view name : {"avx", "scalar ", "Scalar", "scala", "avx9000"}) {
    EXPECT_EQ(find_backend(name).error(), BackendFault::kUnknownName) << name;
  }
}

TEST(Backends, AreTheBestThatCanRunHereWhereNoNameIsGiven) {
  const auto best = std::ranges::find_if(backends(), [](const Backend* backend) { return backend->runnable(); });
  EXPECT_EQ(*find_backend(""), *best);
}

TEST(SetBackend, ForcesEachRunnableBackendInTurnAndItsResultStands) {
  for (const Backend* const backend : backends()) {
    if (backend->runnable()) {
      ASSERT_EQ(kvw_set_backend(backend->name), KVW_OK);
      EXPECT_STREQ(kvw_backend(), backend->name);
      EXPECT_EQ((*selected_backend())->apply, backend->apply) << "the named body is the one that runs";
      EXPECT_EQ(scatter_one_row(), KVW_OK);
    }
  }
  EXPECT_EQ(kvw_set_backend(nullptr), KVW_OK);
  EXPECT_EQ(kvw_backend(), best_here());
  EXPECT_EQ(kvw_set_backend("scalar"), KVW_OK);
  EXPECT_EQ(kvw_set_backend(""), KVW_OK);
  EXPECT_EQ(kvw_backend(), best_here());
}

TEST(SetBackend, RefusesAnUnknownNameAndChangesNothing) {
  ASSERT_EQ(kvw_set_backend("scalar"), KVW_OK);
  EXPECT_EQ(kvw_set_backend("avx9000"), KVW_UNKNOWN_BACKEND);
  EXPECT_THAT(kvw_last_error(), HasSubstr("name is \"avx9000\", which is no known backend; usable here:"));
  EXPECT_THAT(kvw_last_error(), HasSubstr(" scalar"));
  EXPECT_STREQ(kvw_backend(), "scalar");
  EXPECT_EQ(scatter_one_row(), KVW_OK);
  ASSERT_EQ(kvw_set_backend(""), KVW_OK);
}

TEST(SetBackend, SaysOfAKnownNameWhyItCannotBeUsed) {
  std::size_t unusable_count = 0;
  for (const std::string_view name : known_backend_names()) {
    const auto found = find_backend(name);
    if (!found) {
      ++unusable_count;
      EXPECT_EQ(kvw_set_backend(std::string(name).c_str()), KVW_UNKNOWN_BACKEND);
      EXPECT_THAT(kvw_last_error(), HasSubstr("name is \"" + std::string(name) + "\", a "));
      EXPECT_THAT(kvw_last_error(), HasSubstr(found.error() == BackendFault::kNotCompiledIn
                                                  ? "a known backend that this build does not hold"
                                                  : "a backend that cannot run here: "));
    }
  }
  EXPECT_GT(unusable_count, 0u) << "no machine runs every instruction set";
}

TEST(SetBackend, CutsANameThatIsTooLongForAMessage) {
  EXPECT_EQ(kvw_set_backend(std::string(10'000, 'x').c_str()), KVW_UNKNOWN_BACKEND);
  EXPECT_THAT(kvw_last_error(), HasSubstr(std::string(64, 'x') + "\", which is no known backend; usable here: "));
}

TEST_F(BackendVariable, ForcesTheBackendItNames) {
  EXPECT_EXIT(
      {
        set_variable("scalar");
        REQUIRE(scatter_one_row() == KVW_OK);
        REQUIRE(std::string(kvw_backend()) == "scalar");
        REQUIRE(*selected_backend() == backends().back());
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, IsUnsetWhereItIsEmpty) {
  EXPECT_EXIT(
      {
        set_variable("");
        REQUIRE(scatter_one_row() == KVW_OK);
        REQUIRE(kvw_backend() == best_here());
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, ThatNamesNoBackendIsRefusedByEachOperationBeforeAllElse) {
  EXPECT_EXIT(
      {
        set_variable("bogus");
        REQUIRE(kvw_witness_indices(nullptr, -1, -1, nullptr, -1, 0, nullptr) == KVW_UNKNOWN_BACKEND);
        REQUIRE(kvw_apply(nullptr, -1, -1, nullptr, -1, -1, -1, -1, nullptr) == KVW_UNKNOWN_BACKEND);
        REQUIRE(kvw_scatter(nullptr, -1, -1, nullptr, -1, -1) == KVW_UNKNOWN_BACKEND);
        REQUIRE(kvw_scatter_strided(nullptr, -1, -1, nullptr, -1, -1) == KVW_UNKNOWN_BACKEND);
        REQUIRE(kvw_witness_indices(nullptr, 0, 0, nullptr, 0, 4, nullptr) == KVW_UNKNOWN_BACKEND);
        const std::string message = kvw_last_error();
        REQUIRE(message.find("KVWITNESS_BACKEND is \"bogus\", which is no known backend; usable here:") == 0);
        REQUIRE(message.find(" scalar") != std::string::npos);
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, ThatNamesNoBackendDoesNotConcernAScatterThatIsOff) {
  EXPECT_EXIT(
      {
        set_variable("bogus");
        REQUIRE(kvw_scatter(nullptr, -1, -1, nullptr, -1, 0) == KVW_OK);
        REQUIRE(kvw_scatter_strided(nullptr, -1, -1, nullptr, -1, 0) == KVW_OK);
        REQUIRE(scatter(std::span<std::int32_t>(), 4, {}, 0));
        REQUIRE(scatter(StridedRows<std::int32_t>(), 4, {}, 0));
        REQUIRE(std::string(kvw_last_error()).empty());
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, ThatNamesNoBackendIsRefusedByTheCppInterfaceWithTheReason) {
  EXPECT_EXIT(
      {
        set_variable("bogus");
        std::vector<std::int32_t> rows(2, 7);
        const std::vector<std::int32_t> lens(1, 4);
        const auto refused = scatter(rows, 9, {}, 4);
        REQUIRE(!refused && std::holds_alternative<UnknownBackend>(refused.error()));
        REQUIRE(std::get<UnknownBackend>(refused.error()).why.starts_with("KVWITNESS_BACKEND is \"bogus\""));
        REQUIRE(!apply_in_place(rows, 2, lens, 0, 4, 1));
        REQUIRE(!witness_indices(rows, 2, lens, 4));
        REQUIRE(rows == std::vector<std::int32_t>(2, 7));
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, ThatNamesNoBackendLeavesTheBestOneToTheQuestionWhichIsInUse) {
  EXPECT_EXIT(
      {
        set_variable("bogus");
        REQUIRE(kvw_backend() == best_here());
        REQUIRE(scatter_one_row() == KVW_UNKNOWN_BACKEND);
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, ThatNamesNoBackendIsReplacedByASuccessfulChoiceAndNotByARefusedOne) {
  EXPECT_EXIT(
      {
        set_variable("bogus");
        REQUIRE(kvw_set_backend("worse") == KVW_UNKNOWN_BACKEND);
        REQUIRE(scatter_one_row() == KVW_UNKNOWN_BACKEND);
        REQUIRE(std::string(kvw_last_error()).find("\"bogus\"") != std::string::npos);
        REQUIRE(kvw_set_backend("") == KVW_OK);
        REQUIRE(scatter_one_row() == KVW_OK);
        REQUIRE(kvw_backend() == best_here());
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, IsReadOnceAtTheFirstCallThatNeedsABackend) {
  EXPECT_EXIT(
      {
        set_variable("bogus");
        REQUIRE(kvw_abi_version() == 1);
        REQUIRE(kvw_scatter(nullptr, 0, 0, nullptr, 0, 0) == KVW_OK);
        REQUIRE(kvw_segment_of(1, 2, 3) == 1);
        set_variable("scalar");
        REQUIRE(scatter_one_row() == KVW_OK);
        set_variable("bogus");
        REQUIRE(scatter_one_row() == KVW_OK);
        REQUIRE(std::string(kvw_backend()) == "scalar");
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BackendVariable, ThatNamesAKnownBackendWhichCannotRunHereSaysSo) {
  const auto unusable =
      std::ranges::find_if(known_backend_names(), [](std::string_view name) { return !find_backend(name); });
  ASSERT_TRUE(unusable != known_backend_names().end()) << "no machine runs every instruction set";
  const std::string name(*unusable);
  EXPECT_EXIT(
      {
        set_variable(name.c_str());
        REQUIRE(scatter_one_row() == KVW_UNKNOWN_BACKEND);
        REQUIRE(std::string(kvw_last_error()).starts_with("KVWITNESS_BACKEND is \"" + name + "\", a "));
        ends_well();
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kvwitness

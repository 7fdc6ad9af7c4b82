// Scores of the policy's rows, the learned rows and the null models, at an equal budget.
//
// For each row of a scatter or apply case: k is the number of valid slots of the policy's row (slots that hold an
// offset in [0, L), duplicates each counted); the four candidates are the learned row, the policy's row, random_null(L,
// k, seed) and locality_null(L, k). A score is segment coverage and, where the case has attention, attention mass
// recall. These numbers say how a row is spread and how much of the given attention it holds; they say nothing about a
// model's quality.
#ifndef PROPERTIES_REPORT_SCORE_H
#define PROPERTIES_REPORT_SCORE_H

#include <kvwitness/case.h>

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvwitness::harness {

struct Score {
  double coverage = 1;
  std::optional<double> recall;  // absent without attention, or where the attention sums to 0
};

enum class Candidate : std::uint8_t { kLearned, kPolicy, kRandom, kLocality };
inline constexpr std::array kCandidates = {Candidate::kLearned, Candidate::kPolicy, Candidate::kRandom,
                                           Candidate::kLocality};
// "learned", "policy", "random", "locality".
std::string_view name_of(Candidate candidate) noexcept;

struct RowScore {
  std::int32_t context_len = 0;
  std::int64_t k = 0;
  std::int64_t topk = 0;
  std::int64_t num_segments = 0;
  std::array<Score, kCandidates.size()> scores;  // in the order of kCandidates

  const Score& of(Candidate candidate) const { return scores[static_cast<std::size_t>(candidate)]; }
};

// The scores of the case's rows, in order. Refused, in words for a person: a witnesses case, and a call that the
// library refuses.
std::expected<std::vector<RowScore>, std::string> score_case(const Case& value, std::uint64_t seed);

// Median (the mean of the middle two where their number is even), least and greatest; nothing for no value.
struct Range {
  double median = 0, min = 0, max = 0;
};
std::optional<Range> range_of(std::vector<double> values);
std::optional<Range> coverage_range(std::span<const RowScore> rows, Candidate candidate);
std::optional<Range> recall_range(std::span<const RowScore> rows, Candidate candidate);

// {"kvwitness_score": 1, "seed": N, "rows": [...], "summary": {...}}; a recall that is absent is null.
std::string render_score_json(std::span<const RowScore> rows, std::uint64_t seed);
// A line a row, then medians and ranges, then what the numbers are and are not.
std::string render_score_text(std::span<const RowScore> rows, std::uint64_t seed);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_SCORE_H

#include "properties/report/score.h"

#include <fmt/format.h>
#include <kvwitness/kvwitness.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace kvwitness::harness {
namespace {

using Json = nlohmann::ordered_json;
using Tokens = std::span<const std::int32_t>;

std::int64_t length(Tokens tokens) {
  return static_cast<std::int64_t>(tokens.size());
}

std::string refusal_words(kvw_status status) {
  return fmt::format("{}: {}", kvw_status_name(status), kvw_last_error());
}

// The rows that the policy leaves, packed.
std::expected<std::vector<std::int32_t>, std::string> policy_rows(const Case& value) {
  if (value.operation == Operation::kWitnesses) {
    return std::unexpected("operation is witnesses, which leaves no rows to score; score takes scatter and apply");
  }
  if (value.topk < 0 || length(value.learned) != value.rows() * value.topk) {
    return std::unexpected("learned does not hold topk tokens a row");
  }
  std::vector<std::int32_t> rows = value.learned;
  const kvw_status status =
      value.operation == Operation::kApply
          ? kvw_apply(value.learned.data(), length(value.learned), value.topk, value.context_lens.data(), value.rows(),
                      value.learned_keep, value.num_segments, value.max_replacements, rows.data())
          : kvw_scatter(rows.data(), length(rows), value.topk, value.context_lens.data(), value.rows(),
                        value.num_segments);
  if (status != KVW_OK) return std::unexpected("the call is refused: " + refusal_words(status));
  return rows;
}

std::expected<Score, std::string> score_of(Tokens candidates, std::int64_t context_len, std::int64_t num_segments,
                                           const std::vector<double>* attention) {
  Score score;
  kvw_status status =
      kvw_segment_coverage(candidates.data(), length(candidates), context_len, num_segments, &score.coverage);
  double recall = std::nan("");
  if (status == KVW_OK && attention != nullptr) {
    status = kvw_attention_mass_recall(candidates.data(), length(candidates), attention->data(), context_len, &recall);
  }
  if (status != KVW_OK) return std::unexpected(refusal_words(status));
  if (!std::isnan(recall)) score.recall = recall;
  return score;
}

// Both null models at budget k.
std::expected<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>, std::string> nulls(
    std::int64_t context_len, std::int64_t k, std::uint64_t seed) {
  std::vector<std::int32_t> random(static_cast<std::size_t>(k)), locality(static_cast<std::size_t>(k));
  std::int64_t random_count = 0, locality_count = 0;
  kvw_status status = kvw_random_null(context_len, k, seed, random.data(), k, &random_count);
  if (status == KVW_OK) status = kvw_locality_null(context_len, k, locality.data(), k, &locality_count);
  if (status != KVW_OK) return std::unexpected(refusal_words(status));
  random.resize(static_cast<std::size_t>(random_count));
  locality.resize(static_cast<std::size_t>(locality_count));
  return std::pair(std::move(random), std::move(locality));
}

std::expected<RowScore, std::string> score_row(const Case& value, std::size_t row, Tokens policy, std::uint64_t seed) {
  const auto width = static_cast<std::size_t>(value.topk);
  const Tokens learned = Tokens(value.learned).subspan(row * width, width);
  RowScore scored{.context_len = value.context_lens[row],
                  .k = 0,
                  .topk = value.topk,
                  .num_segments = value.num_segments,
                  .scores = {}};
  const std::int64_t context_len = std::max(scored.context_len, 0);
  scored.k = std::count_if(policy.begin(), policy.end(),
                           [&](std::int32_t token) { return token >= 0 && token < context_len; });
  const auto drawn = nulls(context_len, scored.k, seed);
  if (!drawn) return std::unexpected(drawn.error());
  const std::array<Tokens, kCandidates.size()> candidates = {learned, policy, drawn->first, drawn->second};
  const std::vector<double>* const attention = value.attention ? &(*value.attention)[row] : nullptr;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto score = score_of(candidates[i], context_len, value.num_segments, attention);
    if (!score) return std::unexpected(score.error());
    scored.scores[i] = *score;
  }
  return scored;
}

template <typename Pick>
std::optional<Range> range_over(std::span<const RowScore> rows, Pick pick) {
  std::vector<double> values;
  for (const RowScore& row : rows) {
    if (const std::optional<double> value = pick(row)) values.push_back(*value);
  }
  return range_of(std::move(values));
}

Json score_json(const Score& score) {
  return {{"coverage", score.coverage}, {"recall", score.recall ? Json(*score.recall) : Json()}};
}

Json range_json(const std::optional<Range>& range) {
  if (!range) return {{"median", nullptr}, {"min", nullptr}, {"max", nullptr}};
  return {{"median", range->median}, {"min", range->min}, {"max", range->max}};
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

std::string range_text(const std::optional<Range>& range) {
  return range ? fmt::format("{:.4f} ({:.4f} to {:.4f})", range->median, range->min, range->max) : "-";
}

constexpr std::string_view kWhatTheyAre =
    "These numbers say how far a row spreads over its context and how much of the given attention it\n"
    "holds, at an equal number of tokens. They do not say whether a model answers better or worse.\n";

constexpr std::string_view kManySegments =
    "Some of these rows have num_segments above topk / 4. Each witness overwrites a learned token, from\n"
    "num_segments = topk on the best one too: on the shipped rows with attention, topk / 4 or less costs a\n"
    "mean of 0.4 points of recall (at worst 2.4), num_segments = topk a mean of 66.\n";

}  // namespace

std::string_view name_of(Candidate candidate) noexcept {
  constexpr std::array<std::string_view, kCandidates.size()> kNames = {"learned", "policy", "random", "locality"};
  return kNames[static_cast<std::size_t>(candidate)];
}

std::expected<std::vector<RowScore>, std::string> score_case(const Case& value, std::uint64_t seed) {
  const auto policy = policy_rows(value);
  if (!policy) return std::unexpected(policy.error());
  std::vector<RowScore> rows;
  const auto width = static_cast<std::size_t>(value.topk);
  for (std::size_t row = 0; row < value.context_lens.size(); ++row) {
    auto scored = score_row(value, row, Tokens(*policy).subspan(row * width, width), seed);
    if (!scored) return std::unexpected(fmt::format("row {}: {}", row, scored.error()));
    rows.push_back(*scored);
  }
  return rows;
}

std::optional<Range> range_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  const std::size_t lower = (values.size() - 1) / 2;
  return Range{.median = (values[lower] + values[upper]) / 2, .min = values.front(), .max = values.back()};
}

std::optional<Range> coverage_range(std::span<const RowScore> rows, Candidate candidate) {
  return range_over(rows, [&](const RowScore& row) { return std::optional(row.of(candidate).coverage); });
}

std::optional<Range> recall_range(std::span<const RowScore> rows, Candidate candidate) {
  return range_over(rows, [&](const RowScore& row) { return row.of(candidate).recall; });
}

std::string render_score_json(std::span<const RowScore> rows, std::uint64_t seed) {
  Json json = {{"kvwitness_score", 1}, {"seed", seed}, {"rows", Json::array()}, {"summary", Json::object()}};
  for (const RowScore& row : rows) {
    Json one = {{"context_len", row.context_len}, {"k", row.k}};
    for (const Candidate candidate : kCandidates) one[std::string(name_of(candidate))] = score_json(row.of(candidate));
    json["rows"].push_back(std::move(one));
  }
  for (const Candidate candidate : kCandidates) {
    json["summary"][std::string(name_of(candidate))] = {{"coverage", range_json(coverage_range(rows, candidate))},
                                                        {"recall", range_json(recall_range(rows, candidate))}};
  }
  return json.dump(1) + "\n";
}

std::string render_score_text(std::span<const RowScore> rows, std::uint64_t seed) {
  std::string text = fmt::format("{:>10} {:>6} {:>6} {:>4}", "", "", "", "");
  for (const Candidate candidate : kCandidates) text += fmt::format("  {:^16}", name_of(candidate));
  text += fmt::format("\n{:>10} {:>6} {:>6} {:>4}", "L", "topk", "k", "S");
  for (std::size_t i = 0; i < kCandidates.size(); ++i) text += fmt::format("  {:>8} {:>7}", "coverage", "recall");
  text += '\n';
  for (const RowScore& row : rows) {
    text += fmt::format("{:>10} {:>6} {:>6} {:>4}", row.context_len, row.topk, row.k, row.num_segments);
    for (const Score& score : row.scores) {
      text += fmt::format("  {:>8} {:>7}", number(score.coverage), number(score.recall));
    }
    text += '\n';
  }
  text += fmt::format("\n{} rows, seed {} for the random ones; median (least to greatest):\n{:<10} {:<28} {}\n",
                      rows.size(), seed, "", "coverage", "recall");
  for (const Candidate candidate : kCandidates) {
    text += fmt::format("{:<10} {:<28} {}\n", name_of(candidate), range_text(coverage_range(rows, candidate)),
                        range_text(recall_range(rows, candidate)));
  }
  const bool many =
      std::any_of(rows.begin(), rows.end(), [](const RowScore& row) { return row.num_segments > row.topk / 4; });
  return text + std::string(kWhatTheyAre) + std::string(many ? kManySegments : std::string_view{});
}

}  // namespace kvwitness::harness

// Values that change together: a fault may need two rows to be equal, a token to occur in every row, or a token to stand
// next to the end of its context, and is lost where one of them is made smaller by itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "properties/shrinking/passes.h"
#include "properties/shrinking/steps.h"

namespace kvwitness::harness::shrinking {
namespace {

// Above so many distinct tokens they are changed by one function only, not value by value.
constexpr std::size_t kMostDistinct = 64;

std::span<std::int32_t> row_of(Case& edited, std::size_t row) {
  const auto topk = static_cast<std::size_t>(edited.topk);
  return std::span(edited.learned).subspan(row * topk, topk);
}

// Every entry that is not plain padding, by `changed`.
template <typename Changed>
Edit each_token(Changed changed) {
  return [=](Case& edited) {
    for (std::int32_t& token : edited.learned) {
      if (token >= 0) {
        token = changed(token);
      }
    }
  };
}

// A set of columns, in all rows.
Edit columns(Chunk chunk, std::int32_t token) {
  return [=](Case& edited) {
    for (std::size_t row = 0; row < edited.context_lens.size(); ++row) {
      std::ranges::fill(row_of(edited, row).subspan(chunk.begin, chunk.end - chunk.begin), token);
    }
  };
}

Edit by_rank(const std::set<std::int32_t>& distinct) {
  std::map<std::int32_t, std::int32_t> ranks;
  for (const std::int32_t token : distinct) {
    const auto rank = static_cast<std::int32_t>(ranks.size());
    ranks[token] = std::min(rank, token);
  }
  return each_token([ranks = std::move(ranks)](std::int32_t token) { return ranks.at(token); });
}

// Each length L by lengths * numerator / denominator, each token with its segment.
Edit scaled(std::int64_t numerator, std::int64_t denominator) {
  return [=](Case& edited) {
    for (std::size_t row = 0; row < edited.context_lens.size(); ++row) {
      const std::int32_t old = edited.context_lens[row];
      if (old <= 0) {
        continue;
      }
      const auto len = static_cast<std::int32_t>(std::max<std::int64_t>(1, old * numerator / denominator));
      edited.context_lens[row] = len;
      for (std::int32_t& token : row_of(edited, row)) {
        token = moved_token(token, old, edited.num_segments, len, edited.num_segments);
      }
    }
  };
}

// The lengths of rows [begin, end) to `len`, each token as far from the context's end as it was; those that would leave
// the context at its beginning stay where they are.
Edit ends_moved(Chunk rows, std::int32_t len) {
  return [=](Case& edited) {
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      const std::int64_t gone = std::int64_t{edited.context_lens[row]} - len;
      edited.context_lens[row] = len;
      for (std::int32_t& token : row_of(edited, row)) {
        if (token >= gone && gone > 0) {
          token = static_cast<std::int32_t>(token - gone);
        }
      }
    }
  };
}

}  // namespace

Edits coupled_tokens(const Case& value) {
  Edits edits;
  if (!packed_rows(value)) {
    return edits;
  }
  if (value.rows() > 1) {
    for (const Chunk chunk : chunks(static_cast<std::size_t>(value.topk))) {
      edits.push_back(columns(chunk, -1));
      edits.push_back(columns(chunk, 0));
    }
  }
  const std::set<std::int32_t> distinct(value.learned.begin(), value.learned.end());
  std::set<std::int32_t> tokens(distinct.lower_bound(0), distinct.end());
  if (tokens.size() > 1) {
    edits.push_back(by_rank(tokens));
    const std::int32_t least = *tokens.begin();
    edits.push_back(each_token([=](std::int32_t token) { return token - least; }));
    for (const std::int32_t divisor : {1 << 16, 1 << 8, 16, 4, 2}) {
      edits.push_back(each_token([=](std::int32_t token) { return token / divisor; }));
      edits.push_back(each_token([=](std::int32_t token) { return token % divisor; }));
    }
  }
  if (distinct.size() > kMostDistinct) {
    return edits;
  }
  for (const std::int32_t old : distinct) {
    const auto replace = [&](std::int64_t plain) {
      edits.push_back(
          [=](Case& edited) { std::ranges::replace(edited.learned, old, static_cast<std::int32_t>(plain)); });
    };
    if (old == -1 || std::ranges::count(value.learned, old) < 2) {
      continue;  // padding, or a token that is tried by itself
    }
    replace(-1);
    for (const std::int64_t plain : smaller_numbers(old)) {
      replace(plain);
    }
  }
  return edits;
}

Edits coupled_lengths(const Case& value) {
  Edits edits;
  const bool has_rows = packed_rows(value) || (value.topk == 0 && value.learned.empty());
  if (!has_rows || value.context_lens.empty()) {
    return edits;
  }
  for (const auto& [numerator, denominator] :
       {std::pair{1, 1 << 16}, {1, 1 << 8}, {1, 16}, {1, 4}, {1, 3}, {1, 2}, {2, 3}, {3, 4}, {7, 8}, {15, 16}}) {
    edits.push_back(scaled(numerator, denominator));
  }
  const std::size_t rows = value.context_lens.size();
  std::vector<std::size_t> with_context;
  for (std::size_t row = 0; row < rows; ++row) {
    if (value.context_lens[row] != 0) {
      with_context.push_back(row);
    }
  }
  for (const auto [begin, end] : chunks(with_context.size())) {
    edits.push_back([chosen = std::vector(with_context.begin() + static_cast<std::ptrdiff_t>(begin),
                                          with_context.begin() + static_cast<std::ptrdiff_t>(end))](Case& edited) {
      for (const std::size_t row : chosen) {
        edited.context_lens[row] = 0;
      }
    });
  }
  const auto add_ends = [&](Chunk chunk) {
    const std::int32_t old = value.context_lens[chunk.begin];
    for (const std::int64_t len : smaller_numbers(old)) {
      if (old > 0 && len > 0) {
        edits.push_back(ends_moved(chunk, static_cast<std::int32_t>(len)));
      }
    }
  };
  const bool all_equal =
      std::ranges::adjacent_find(value.context_lens, std::not_equal_to<>()) == value.context_lens.end();
  if (all_equal) {
    add_ends({0, rows});
  }
  for (std::size_t row = 0; rows > 1 && rows <= 16 && row < rows; ++row) {
    add_ends({row, row + 1});
  }
  return edits;
}

Edits earlier_slots(const Case& value) {
  Edits edits;
  if (!packed_rows(value)) {
    return edits;
  }
  edits.push_back([](Case& edited) {
    for (std::size_t row = 0; row < edited.context_lens.size(); ++row) {
      const std::span<std::int32_t> tokens = row_of(edited, row);
      const auto end = std::ranges::remove(tokens, -1).begin();
      std::fill(end, tokens.end(), -1);
    }
  });
  const auto topk = static_cast<std::size_t>(value.topk);
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < value.learned.size() && tokens <= kMostDistinct; ++i) {
    if (value.learned[i] == -1 || i % topk == 0) {
      continue;
    }
    ++tokens;
    // To the first slot of the row, to half the way, and one slot on.
    for (const std::size_t slots : {i % topk, (i % topk + 1) / 2, std::size_t{1}}) {
      edits.push_back([=](Case& edited) { std::swap(edited.learned[i], edited.learned[i - slots]); });
    }
  }
  return edits;
}

}  // namespace kvwitness::harness::shrinking

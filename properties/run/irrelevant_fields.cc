#include "properties/run/irrelevant_fields.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace kvwitness::harness {
namespace {

void widen_rows(Case& value) {
  std::vector<std::int32_t> wider;
  for (std::size_t i = 0; i < value.learned.size(); ++i) {
    wider.push_back(value.learned[i]);
    if ((i + 1) % static_cast<std::size_t>(value.topk) == 0) wider.push_back(-1);
  }
  value.learned = std::move(wider);
  ++value.topk;
  if (value.row_stride) ++*value.row_stride;
}

void change_lengths(Case& value, std::int64_t factor, std::int64_t summand) {
  for (auto& len : value.context_lens) {
    len = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(factor * len + summand, 0, std::numeric_limits<std::int32_t>::max()));
  }
}

// A field of a case and other values of it to try.
struct Field {
  const char* name;
  std::vector<std::function<void(Case&)>> changes;
};

std::vector<Field> fields_of(const Case& value) {
  std::vector<Field> fields = {
      {"num_segments",
       {[](Case& c) { c.num_segments = 1; }, [](Case& c) { ++c.num_segments; }, [](Case& c) { --c.num_segments; },
        [](Case& c) { c.num_segments = 64; }, [](Case& c) { c.num_segments = 33; }}},
      {"context_lens",
       {[](Case& c) { change_lengths(c, 1, 1); }, [](Case& c) { change_lengths(c, 1, -1); },
        [](Case& c) { change_lengths(c, 2, 0); }, [](Case& c) { change_lengths(c, 0, 1000); },
        [](Case& c) { change_lengths(c, 0, 1); }}},
      {"learned",
       {[](Case& c) { std::ranges::fill(c.learned, -1); }, [](Case& c) { std::ranges::fill(c.learned, 0); },
        [](Case& c) {
          for (auto& token : c.learned) token = token < 1 ? 1 : token - 1;
        },
        [](Case& c) { std::ranges::reverse(c.learned); }}},
  };
  if (value.topk > 0 && value.topk < 4096) fields.push_back({"topk", {widen_rows}});
  if (value.operation == Operation::kApply) {
    fields.push_back({"learned_keep",
                      {[](Case& c) { c.learned_keep = 0; }, [](Case& c) { ++c.learned_keep; },
                       [](Case& c) { --c.learned_keep; }, [](Case& c) { c.learned_keep = c.topk; }}});
    fields.push_back({"max_replacements",
                      {[](Case& c) { c.max_replacements = 0; }, [](Case& c) { ++c.max_replacements; },
                       [](Case& c) { --c.max_replacements; }, [](Case& c) { c.max_replacements = 64; }}});
  }
  if (value.row_stride) {
    fields.push_back({"row_stride", {[](Case& c) { c.row_stride.reset(); }, [](Case& c) { ++*c.row_stride; }}});
  }
  if (value.in_place) fields.push_back({"in_place", {[](Case& c) { c.in_place = false; }}});
  if (value.base_offset != 0) {
    fields.push_back({"base_offset",
                      {[](Case& c) { c.base_offset = 0; }, [](Case& c) { c.base_offset = c.base_offset % 15 + 1; },
                       [](Case& c) { c.base_offset = 8; }}});
  }
  if (!value.prior_calls.empty()) fields.push_back({"after", {[](Case& c) { c.prior_calls.clear(); }}});
  return fields;
}

}  // namespace

std::vector<std::string> irrelevant_fields(const Case& failing, const std::function<Attempt(const Case&)>& attempt) {
  std::vector<std::string> names;
  Case base = failing;
  base.expect.reset();
  const std::int32_t status = expected_status(base, true);
  for (const Field& field : fields_of(failing)) {
    int tried = 0;
    bool all_fail = true;
    for (const auto& change : field.changes) {
      Case other = base;
      change(other);
      if (other == base || expected_status(other, true) != status) continue;
      const Attempt result = attempt(other);
      if (result == Attempt::kOutsideDomain) continue;
      ++tried;
      all_fail = result == Attempt::kFails || result == Attempt::kHung;
      if (!all_fail) break;
    }
    if (tried > 0 && all_fail) names.emplace_back(field.name);
  }
  return names;
}

}  // namespace kvwitness::harness

// The generators of kvwitness/rapidcheck.h that put the others together.
#include <kvwitness/legality.h>
#include <kvwitness/rapidcheck.h>

#include <algorithm>
#include <string>
#include <utility>

#include "properties/generators/call_plan.h"
#include "properties/generators/case_stream.h"
#include "properties/generators/choices.h"
#include "properties/generators/row_structures.h"
#include "properties/generators/scenarios.h"

namespace kvwitness::gen {

using harness::Case;
using harness::Domain;
using harness::RowShape;
using harness::RowStructure;
using harness::Scenario;

namespace {

using Row = std::vector<std::int32_t>;

// Simpler rows: padding in the place of all tokens, of halves, ... of single ones; then smaller tokens.
rc::Seq<Row> simpler_rows(const Row& row) {
  std::vector<Row> list;
  for (std::size_t width = row.size(); width > 0; width /= 2) {
    for (std::size_t begin = 0; begin < row.size(); begin += width) {
      Row simpler = row;
      std::fill(simpler.begin() + static_cast<std::ptrdiff_t>(begin),
                simpler.begin() + static_cast<std::ptrdiff_t>(std::min(begin + width, row.size())), -1);
      if (simpler != row) list.push_back(std::move(simpler));
    }
  }
  for (std::size_t slot = 0; slot < row.size(); ++slot) {
    for (const std::int32_t token : {0, row[slot] / 2, row[slot] - 1}) {
      if (token < 0 || token >= row[slot]) continue;
      list.push_back(row);
      list.back()[slot] = token;
    }
  }
  return rc::seq::fromContainer(std::move(list));
}

}  // namespace

rc::Gen<Row> row(RowStructure structure, const RowShape& shape) {
  const auto filled = rc::gen::map(harness::random_source(), [structure, shape](harness::RandomSource&& random) {
    Row tokens(static_cast<std::size_t>(std::max<std::int64_t>(shape.topk, 0)));
    harness::fill_row(random, structure, shape, tokens);
    return tokens;
  });
  return rc::gen::shrink(filled, [](const Row& tokens) { return simpler_rows(tokens); });
}

rc::Gen<Row> row(const RowShape& shape) {
  return rc::gen::mapcat(harness::one_of(harness::usual_row_structures()),
                         [shape](RowStructure structure) { return row(structure, shape); });
}

rc::Gen<harness::Batch> batch(std::int64_t rows, std::int64_t topk, std::int64_t num_segments) {
  return rc::gen::exec([=] {
    const harness::CallPlan plan{.operations = {harness::Operation::kWitnesses},
                                 .rows = {rows, rows},
                                 .topk = {topk, topk},
                                 .segments = {num_segments, num_segments}};
    Case drawn = harness::draw_call(plan, {.operations = plan.operations, .legal_only = true});
    return harness::Batch{topk, std::move(drawn.context_lens), std::move(drawn.learned)};
  });
}

rc::Gen<Case> call(const Domain& domain) {
  return harness::case_generator(domain, harness::Focus::kEverything);
}

rc::Gen<Case> legal_call() {
  Domain domain = harness::whole_domain();
  domain.legal_only = true;
  return call(domain);
}

rc::Gen<Case> legal_call(harness::Operation operation) {
  return call({.operations = {operation}, .legal_only = true});
}

rc::Gen<Case> call_of(std::string_view scenario, const Domain& domain) {
  std::vector<const Scenario*> found;
  for (const Scenario& candidate : harness::all_scenarios()) {
    if (candidate.name == scenario && candidate.possible(domain)) found.push_back(&candidate);
  }
  return rc::gen::mapcat(rc::gen::elementOf(std::move(found)),
                         [domain](const Scenario* admitted) { return case_generator(domain, *admitted); });
}

std::vector<std::string_view> scenario_names() {
  std::vector<std::string_view> names;
  for (const Scenario& scenario : harness::all_scenarios()) names.push_back(scenario.name);
  return names;
}

std::vector<std::string> coverage_classes(const Case& call) {
  std::vector<std::string> names;
  for (const std::size_t index : harness::classes_of(call)) {
    names.emplace_back(harness::all_coverage_classes()[index].name);
  }
  return names;
}

}  // namespace kvwitness::gen

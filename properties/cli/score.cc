#include "properties/report/score.h"

#include <fmt/format.h>
#include <kvwitness/kvwitness.h>

#include <cstdio>
#include <limits>

#include "properties/cli/commands.h"
#include "properties/cli/output_file.h"
#include "properties/cli/pinned.h"
#include "properties/cli/standard_streams.h"

namespace kvwitness::harness::cli {

ExitStatus score(const ScoreArguments& arguments) {
  require_standard_output();
  std::optional<OutputFile> json;
  if (arguments.json) json.emplace("--json", *arguments.json, "");
  const Environment environment = environment_of_process();
  const std::uint64_t seed = arguments.seed
                                 ? parse_count("--seed", *arguments.seed, 0, std::numeric_limits<std::uint64_t>::max())
                                 : environment.seed.value_or(0);
  kvw_set_backend(nullptr);  // the scores are the same on every backend, and KVWITNESS_BACKEND is a matter of c-abi
  std::vector<RowScore> rows;
  for (const PinnedCase& pinned : read_case_files({arguments.file})) {
    const auto scored = score_case(pinned.value, seed);
    if (!scored) throw UsageError(fmt::format("{}: {}", pinned.source, scored.error()));
    rows.insert(rows.end(), scored->begin(), scored->end());
  }
  if (rows.empty()) {
    throw UsageError(fmt::format("{}: the cases have no rows, so there is nothing to score", arguments.file));
  }
  fmt::print("{}", render_score_text(rows, seed));
  flush_standard_output();
  if (json) json->write(render_score_json(rows, seed));
  return ExitStatus::kPassed;
}

}  // namespace kvwitness::harness::cli

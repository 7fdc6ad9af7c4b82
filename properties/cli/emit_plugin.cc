#include "properties/cli/emit_plugin.h"

#include <fmt/format.h>
#include <kvwitness/kvwitness.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "properties/cli/arguments.h"
#include "properties/report/report.h"

namespace kvwitness::harness::cli {
namespace {

// ---- The programs' own functions

// C11, and C++17 for the GoogleTest form.
constexpr std::string_view kCFunctions = R"(
enum { kWitnesses, kApply, kScatter };

/* A call, and what it must give. Rows of `width` tokens lie `stride` elements apart. */
struct call {
  int operation;
  const int32_t* learned;
  int64_t learned_len, width, stride, topk;
  const int32_t* context_lens;
  int64_t rows, learned_keep, num_segments, max_replacements;
  int in_place;
  int64_t base_offset; /* elements past a 64-byte boundary */
  int32_t status;      /* of kvw_status */
  const int32_t* expected;
  int64_t expected_len;
};

static const int32_t kUnwritten = -1515870811; /* what outputs and spare columns hold before a call */

static void* symbol(const char* name) {
  static void* library = NULL;
  const char* const other = getenv("KVWITNESS_PLUGIN");
  if (library == NULL) library = dlopen(other != NULL ? other : kPlugin, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return dlsym(library, name);
}

/* `count` rows of a buffer that is not reserved until it is touched; `bytes` is its size. */
static int32_t* place(const int32_t* tokens, int64_t count, int64_t width, int64_t stride, int64_t base_offset, size_t* bytes) {
  const int64_t spare = stride - width < 64 ? stride - width : 64;
  *bytes = (size_t)(base_offset + (count > 0 ? (count - 1) * stride + width : 0) + 16) * sizeof(int32_t);
  void* const memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(2);
  }
  int32_t* const first = (int32_t*)memory + base_offset;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = 0; i < width; ++i) first[row * stride + i] = tokens != NULL ? tokens[row * width + i] : kUnwritten;
    for (int64_t i = 0; i < spare && row + 1 < count; ++i) first[row * stride + width + i] = kUnwritten;
  }
  return first;
}

/* The first slot that is not as it must be, as text, or "" where all are. */
static const char* difference(const int32_t* rows, const int32_t* expected, int64_t count, int64_t width, int64_t stride) {
  static char text[160];
  const int64_t spare = stride - width < 64 ? stride - width : 64;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = 0; i < width; ++i) {
      const int32_t wanted = expected != NULL ? expected[row * width + i] : kUnwritten;
      if (rows[row * stride + i] != wanted) {
        snprintf(text, sizeof text, "element %" PRId64 " of the result: expected %" PRId32 ", got %" PRId32, row * width + i, wanted,
                 rows[row * stride + i]);
        return text;
      }
    }
    for (int64_t i = 0; i < spare && row + 1 < count; ++i) {
      if (rows[row * stride + width + i] != kUnwritten) return "a spare column was written";
    }
  }
  return "";
}

/* Makes the call: "" where it gives what it must, else what it gave. */
static const char* outcome(const struct call* c) {
  static const char* const kNames[] = {"kvw_plugin_witness_indices", "kvw_plugin_apply", "kvw_plugin_scatter"};
  static char text[160];
  int32_t (*const checks)(void) = (int32_t(*)(void))symbol("kvw_plugin_checks_arguments");
  if (c->status != 0 && (checks == NULL || checks() != 1)) return ""; /* it promises no refusals */
  void* const function = symbol(kNames[c->operation]);
  if (function == NULL) return "the plug-in has not this operation";

  size_t learned_bytes, lens_bytes, out_bytes;
  const int64_t count = c->width > 0 ? c->learned_len / c->width : 0;
  const int64_t out_len = c->operation == kWitnesses && c->status != 0 ? 16 : c->expected_len;
  int32_t* const learned = place(c->learned, count, c->width, c->stride, c->base_offset, &learned_bytes);
  int32_t* const lens = place(c->context_lens, 1, c->rows, c->rows, 0, &lens_bytes);
  int32_t* const out = place(NULL, 1, out_len, out_len, c->base_offset, &out_bytes);
  const int in_place = c->in_place || c->operation == kScatter;

  int32_t status = 0;
  if (c->operation == kWitnesses) {
    status = ((int32_t(*)(const int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t, int32_t*))function)(
        learned, c->learned_len, c->topk, lens, c->rows, c->num_segments, out);
  } else if (c->operation == kApply) {
    status = ((int32_t(*)(const int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t, int64_t, int64_t, int32_t*))function)(
        learned, c->learned_len, c->topk, lens, c->rows, c->learned_keep, c->num_segments, c->max_replacements,
        in_place ? learned : out);
  } else {
    status = ((int32_t(*)(int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t))function)(
        learned, c->stride, c->topk, lens, c->rows, c->num_segments);
  }

  const char* wrong = difference(learned, in_place ? c->expected : c->learned, count, c->width, c->stride);
  if (*wrong == 0 && !in_place) wrong = difference(out, c->status == 0 ? c->expected : NULL, 1, out_len, out_len);
  if (*wrong == 0) wrong = difference(lens, c->context_lens, 1, c->rows, c->rows);
  if (status != c->status) {
    snprintf(text, sizeof text, "status %" PRId32 " in place of %" PRId32, status, c->status);
    wrong = text;
  }
  munmap(learned - c->base_offset, learned_bytes);
  munmap(lens, lens_bytes);
  munmap(out - c->base_offset, out_bytes);
  return wrong;
}
)";

constexpr std::string_view kPythonFunctions = R"(
import ctypes
import mmap
import os
from ctypes import c_int32, c_int64

LIBRARY = ctypes.CDLL(os.environ.get("KVWITNESS_PLUGIN", PLUGIN))
UNWRITTEN = -1515870811  # what outputs and spare columns hold before a call
NO_RESERVE = 0x4000
NAMES = {"witnesses": "kvw_plugin_witness_indices", "apply": "kvw_plugin_apply", "scatter": "kvw_plugin_scatter"}


class Rows:
    """Rows of `width` tokens, `stride` elements apart, the first `base_offset` elements past a 64-byte boundary."""

    def __init__(self, tokens, width, stride, base_offset=0):
        self.count, self.width, self.stride = (len(tokens) // width if width else 0), width, stride
        span = (self.count - 1) * stride + width if self.count else 0
        self.memory = mmap.mmap(-1, 4 * (base_offset + span + 16), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        self.first = (c_int32 * (span + 16)).from_buffer(self.memory, 4 * base_offset)
        for row in range(self.count):
            at = row * stride
            self.first[at:at + width] = tokens[row * width:(row + 1) * width]
            self.first[at + width:at + width + self.spare(row)] = [UNWRITTEN] * self.spare(row)

    def spare(self, row):
        return min(self.stride - self.width, 64) if row + 1 < self.count else 0

    def packed(self):
        return [token for row in range(self.count) for token in self.first[row * self.stride:row * self.stride + self.width]]

    def spare_columns_kept(self):
        ends = (row * self.stride + self.width for row in range(self.count))
        return all(self.first[end:end + self.spare(row)] == [UNWRITTEN] * self.spare(row) for row, end in enumerate(ends))


def check(operation, learned, width, stride, topk, context_lens, num_segments, status, expected,
          learned_keep=0, max_replacements=0, in_place=False, base_offset=0):
    checks = getattr(LIBRARY, "kvw_plugin_checks_arguments", None)
    if status != 0 and (checks is None or checks() != 1):
        return  # it promises no refusals
    function = getattr(LIBRARY, NAMES[operation])
    function.restype = c_int32
    rows, lens = Rows(learned, width, stride, base_offset), Rows(context_lens, len(context_lens), len(context_lens))
    out_len = 16 if operation == "witnesses" and status != 0 else len(expected)
    out = Rows([UNWRITTEN] * out_len, out_len, out_len, base_offset)
    result = rows if in_place or operation == "scatter" else out
    sizes = [c_int64(len(learned)), c_int64(topk), lens.first, c_int64(len(context_lens))]
    if operation == "witnesses":
        got = function(rows.first, *sizes, c_int64(num_segments), out.first)
    elif operation == "apply":
        got = function(rows.first, *sizes, c_int64(learned_keep), c_int64(num_segments), c_int64(max_replacements), result.first)
    else:
        got = function(rows.first, c_int64(stride), *sizes[1:], c_int64(num_segments))
    assert got == status, f"status {got} in place of {status}"
    wanted = expected if status == 0 or result is rows else [UNWRITTEN] * out_len
    assert result.packed() == wanted, f"expected {wanted}, got {result.packed()}"
    assert rows.spare_columns_kept(), "a spare column was written"
    assert result is rows or rows.packed() == learned, "the learned rows were written"
    assert lens.packed() == context_lens, "the context lengths were written"
)";

// ---- A case in either language

// What the plug-in is to be called with, and what it must give.
struct EmittedCall {
  const Case* value;
  std::int32_t status;
  std::int64_t width, stride;
  std::vector<std::int32_t> expected;
};

// Nothing where the plug-in interface cannot make the call: its scatter has no length that could be wrong.
std::optional<EmittedCall> emitted_call(const Case& value) {
  const auto len = static_cast<std::int64_t>(value.learned.size());
  const bool is_scatter = value.operation == Operation::kScatter;
  const bool fills_its_shape = value.topk >= 0 && len == value.rows() * value.topk;
  if (is_scatter && !fills_its_shape) {
    return std::nullopt;
  }
  const bool strided = is_scatter && value.row_stride.has_value();
  EmittedCall call{&value, expected_status(value, strided), len, len, value.learned};
  if (is_scatter) {
    call.stride = value.row_stride.value_or(value.topk);
    const bool apart = call.status == KVW_OK && value.rows() > 1 && value.topk > 0;
    call.width = apart ? value.topk : len;
  }
  const bool does_nothing = is_scatter && value.num_segments == 0;
  if (call.status == KVW_OK && !does_nothing) {
    call.expected = expected_rows(value);
  }
  return call;
}

std::string list_of(std::span<const std::int32_t> tokens) {
  std::string text;
  std::size_t line = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string token = std::to_string(tokens[i]) + (i + 1 < tokens.size() ? ", " : "");
    if (line + token.size() > 120) {
      text += "\n      ";
      line = 0;
    }
    line += token.size();
    text += token;
  }
  return text;
}

// C has no literals of INT32_MIN and INT64_MIN, and no empty arrays.
std::string c_array(std::string_view name, std::span<const std::int32_t> tokens) {
  std::string text = list_of(tokens);
  constexpr std::string_view kLeast = "-2147483648";
  for (std::size_t at = text.find(kLeast); at != std::string::npos; at = text.find(kLeast, at)) {
    text.replace(at, kLeast.size(), "INT32_MIN");
  }
  return fmt::format("static const int32_t {}[] = {{{}}};\n", name, text.empty() ? "0" : text);
}

std::string c_number(std::int64_t value) {
  return value == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", value);
}

std::string_view c_name_of(Operation operation) {
  return operation == Operation::kWitnesses ? "kWitnesses" : operation == Operation::kApply ? "kApply" : "kScatter";
}

std::string c_call(const std::string& name, const EmittedCall& call) {
  const Case& value = *call.value;
  std::string text = c_array(name + "_learned", value.learned) + c_array(name + "_lens", value.context_lens) +
                     c_array(name + "_expected", call.expected);
  // A stride that is refused is passed on, and its rows are laid out packed.
  text += fmt::format(
      "static const struct call {0} = {{{1}, {0}_learned, {2}, {3}, {4}, {5}, {0}_lens, {6}, {7}, {8}, {9}, {10}, "
      "{11}, "
      "{12}, {0}_expected, {13}}};\n",
      name, c_name_of(value.operation), value.learned.size(), call.width, c_number(call.stride), c_number(value.topk),
      value.rows(), c_number(value.learned_keep), c_number(value.num_segments), c_number(value.max_replacements),
      value.in_place ? 1 : 0, value.base_offset, call.status, call.expected.size());
  return text;
}

std::string python_call(const EmittedCall& call) {
  const Case& value = *call.value;
  std::string text = fmt::format("    check(\"{}\", [{}], {}, {}, {}, [{}], {}, {}, [{}]", name_of(value.operation),
                                 list_of(value.learned), call.width, call.stride, value.topk,
                                 list_of(value.context_lens), value.num_segments, call.status, list_of(call.expected));
  if (value.operation == Operation::kApply) {
    text += fmt::format(", learned_keep={}, max_replacements={}{}", value.learned_keep, value.max_replacements,
                        value.in_place ? ", in_place=True" : "");
  }
  return text + (value.base_offset != 0 ? fmt::format(", base_offset={})\n", value.base_offset) : ")\n");
}

std::vector<EmittedCall> calls_of(const Case& value) {
  std::vector<EmittedCall> calls;
  for (const Case& prior : value.prior_calls) {
    if (auto call = emitted_call(prior)) calls.push_back(std::move(*call));
  }
  if (auto call = emitted_call(value)) calls.push_back(std::move(*call));
  return calls;
}

std::string quoted(const std::string& text) {
  return fmt::format("\"{}\"", printable(text));
}

std::string title_of(std::string_view comment, const PinnedCase& pinned) {
  return fmt::format("{} {}{}\n", comment, quoted(pinned.source),
                     pinned.value.note.empty() ? "" : fmt::format(": {}", quoted(pinned.value.note)));
}

std::string emit_c(std::span<const PinnedCase> cases, const std::string& plugin, bool gtest) {
  std::string text = gtest ? "// Made by `kvwitness replay --emit gtest --plugin FILE`.\n"
                             "// Build: c++ -std=c++17 FILE.cc -lgtest -lgtest_main -pthread -ldl\n"
                             "#include <gtest/gtest.h>\n"
                           : "// Made by `kvwitness replay --emit c --plugin FILE`.\n"
                             "// Build: cc -std=c11 FILE.c -ldl\n";
  text +=
      "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include <dlfcn.h>\n#include <inttypes.h>\n#include "
      "<stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n\n";
  text += fmt::format("static const char* const kPlugin = {};\n", quoted(plugin));
  text += kCFunctions;
  std::string runs;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    text += fmt::format("\n{}", title_of("//", cases[i]));
    std::string body;
    const std::vector<EmittedCall> calls = calls_of(cases[i].value);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const std::string name = fmt::format("case_{}_call_{}", i + 1, k + 1);
      text += c_call(name, calls[k]);
      body += gtest ? fmt::format("  EXPECT_STREQ(outcome(&{}), \"\");\n", name)
                    : fmt::format("  failed += report({}, outcome(&{}));\n", i + 1, name);
    }
    if (gtest) text += fmt::format("TEST(KvwitnessCase, Case{}) {{\n{}}}\n", i + 1, body);
    runs += body;
  }
  if (!gtest) {
    text +=
        "\nstatic int report(int number, const char* wrong) {\n  if (*wrong != 0) printf(\"case %d: %s\\n\", number, "
        "wrong);\n"
        "  return *wrong != 0;\n}\n\nint main(void) {\n  int failed = 0;\n" +
        runs + "  printf(\"%d calls failed\\n\", failed);\n  return failed != 0;\n}\n";
  }
  return text;
}

std::string emit_pytest(std::span<const PinnedCase> cases, const std::string& plugin) {
  std::string text =
      "\"\"\"Made by `kvwitness replay --emit pytest --plugin FILE`. Run by pytest, or by python3 itself.\"\"\"\n";
  const std::string functions(kPythonFunctions);
  const std::size_t library = functions.find("\nLIBRARY");
  text += functions.substr(0, library) + fmt::format("\nPLUGIN = {}", quoted(plugin)) + functions.substr(library);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    text += fmt::format("\n\n{}def test_case_{}():\n", title_of("#", cases[i]), i + 1);
    const std::vector<EmittedCall> calls = calls_of(cases[i].value);
    for (const EmittedCall& call : calls) text += python_call(call);
    if (calls.empty()) text += "    pass  # a plug-in cannot be called so\n";
  }
  return text + R"(

if __name__ == "__main__":
    failed = 0
    for name, test in [(name, value) for name, value in globals().items() if name.startswith("test_")]:
        try:
            test()
        except AssertionError as error:
            failed += 1
            print(f"{name}: {error}")
    print(f"{failed} tests failed")
    raise SystemExit(1 if failed else 0)
)";
}

}  // namespace

std::string emit_for_plugin(std::string_view form, std::span<const PinnedCase> cases, const std::string& plugin) {
  const std::string path = std::filesystem::absolute(plugin).lexically_normal().string();
  if (form == "pytest") return emit_pytest(cases, path);
  if (form == "c" || form == "gtest") return emit_c(cases, path, form == "gtest");
  throw UsageError(fmt::format("--emit is '{}'; with --plugin it is gtest, c or pytest", form));
}

}  // namespace kvwitness::harness::cli

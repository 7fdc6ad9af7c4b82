// kvwitness_simt_translate SOURCE.cu OUTPUT.cc [DEPFILE]
//
// A copy of a CUDA source in which what a C++ compiler cannot read is what it can: dynamic shared memory, launches by
// <<<>>>, inline PTX that reads a lane's number or mask; and #error lines that name what the executor does not serve.
// Headers that the source includes in quotes, by a path relative to it, are translated as well where they need it. File
// names and line numbers stay.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

enum class Kind { kName, kText, kMark, kDirective };  // kText: literals and numbers; kDirective: the # of a directive

struct Token {
  Kind kind;
  std::size_t begin, end;
  bool in_directive;
};

// Splits a source into tokens; comments and white space are none.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    while (at_ < text_.size()) {
      step();
    }
    return std::move(tokens_);
  }

 private:
  static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
  char look(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = look();
    if (c == '\n') {
      in_directive_ = false;
      line_is_empty_ = true;
      ++at_;
    } else if (c == '\\' && (look(1) == '\n' || (look(1) == '\r' && look(2) == '\n'))) {
      at_ += look(1) == '\n' ? 2 : 3;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (c == '/' && look(1) == '/') {
      while (at_ < text_.size() && look() != '\n') {
        at_ += look() == '\\' && look(1) == '\n' ? 2 : 1;
      }
    } else if (c == '/' && look(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (c == '#' && line_is_empty_) {
      in_directive_ = true;
      add(Kind::kDirective, at_ + 1);
    } else if (c == '"' || c == '\'') {
      quoted(at_, c);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number();
    } else if (is_name(c)) {
      name();
    } else {
      add(Kind::kMark, at_ + 1);
    }
  }

  void add(Kind kind, std::size_t end) {
    tokens_.push_back({kind, at_, end, in_directive_});
    at_ = end;
    line_is_empty_ = false;
  }

  void quoted(std::size_t begin, char quote) {
    std::size_t end = begin + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    add(Kind::kText, std::min(end + 1, text_.size()));
  }

  void number() {
    std::size_t end = at_;
    while (end < text_.size() && (is_name(text_[end]) || text_[end] == '.' ||
                                  (text_[end] == '\'' && end + 1 < text_.size() && is_name(text_[end + 1])))) {
      ++end;
    }
    add(Kind::kText, end);
  }

  void name() {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) {
      ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    if (end < text_.size() && text_[end] == '"' && word.back() == 'R' && word.size() <= 3) {
      const std::size_t open = text_.find('(', end);
      if (open != std::string_view::npos) {
        const std::string close = ")" + std::string(text_.substr(end + 1, open - end - 1)) + "\"";
        const std::size_t found = text_.find(close, open);
        add(Kind::kText, found == std::string_view::npos ? text_.size() : found + close.size());
        return;
      }
    }
    add(Kind::kName, end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_directive_ = false;
  bool line_is_empty_ = true;
  std::vector<Token> tokens_;
};

struct Refusal {
  std::string_view name;
  std::string_view feature;
};
constexpr auto kRefusals = std::to_array<Refusal>({
    {"cudaTextureObject_t", "textures are"},
    {"cudaTextureDesc", "textures are"},
    {"cudaResourceDesc", "textures are"},
    {"cudaSurfaceObject_t", "surfaces are"},
    {"cudaArray_t", "arrays of textures are"},
    {"__cluster_dims__", "thread block clusters are"},
    {"this_cluster", "thread block clusters are"},
    {"cluster_group", "thread block clusters are"},
    {"cudaGraph_t", "CUDA graphs are"},
});

class Translator {
 public:
  explicit Translator(fs::path output) : output_(std::move(output)) {}

  // The text of a file translated, or nothing where it needs no change.
  std::string translate(const fs::path& source, bool is_main);
  void write_dependencies(const fs::path& depfile) const;

 private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };
  struct File;

  // Where a translated header lies; empty where it needs no translation.
  fs::path header(const fs::path& source);

  fs::path output_;
  std::map<fs::path, fs::path> headers_;
  std::set<fs::path> dependencies_;
};

// One file on its way through the rules.
struct Translator::File {
  File(Translator& owner, fs::path where, std::string content)
      : translator(owner), path(std::move(where)), text(std::move(content)), tokens(Lexer(text).tokens()) {}

  std::string_view word(std::size_t i) const {
    return i < tokens.size() ? std::string_view(text).substr(tokens[i].begin, tokens[i].end - tokens[i].begin)
                             : std::string_view();
  }
  bool is(std::size_t i, std::string_view expected) const { return word(i) == expected; }
  std::size_t line_of(std::size_t position) const {
    return 1 + static_cast<std::size_t>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
  }
  // One past the token that closes the bracket at `open`.
  std::size_t after_brackets(std::size_t open) const;
  std::size_t expression_before(std::size_t end) const;
  // Lines of their own before or after which the source's lines go on as they were.
  std::string as_lines(const std::string& lines, std::size_t position) const {
    return "\n" + lines + "\n#line " + std::to_string(line_of(position)) + " \"" + path.string() + "\"\n";
  }
  // A replacement of [begin, end) that keeps the number of lines.
  void replace(std::size_t begin, std::size_t end, std::string with) {
    with.append(
        static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                            text.begin() + static_cast<std::ptrdiff_t>(end), '\n')) -
            std::min(static_cast<std::size_t>(std::count(with.begin(), with.end(), '\n')),
                     static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                         text.begin() + static_cast<std::ptrdiff_t>(end), '\n'))),
        '\n');
    edits.push_back({begin, end, std::move(with)});
  }

  void note_macros();
  void run();
  void track_scope(std::size_t i);
  bool dynamic_shared(std::size_t i);
  bool launch(std::size_t i);
  bool assembly(std::size_t i);
  bool include(std::size_t i);
  void refuse(std::size_t i);
  std::string edited();

  Translator& translator;
  fs::path path;
  std::string text;
  std::vector<Token> tokens;
  std::vector<Edit> edits;
  std::set<std::string, std::less<>> shared_names{"__shared__"};  // and macros that stand for it
  std::set<std::string, std::less<>> extern_shared_names;         // macros for `extern __shared__`
  std::set<std::string, std::less<>> file_scope_names;            // dynamic shared memory that is a macro now
  std::set<std::string_view> refused;
  std::vector<bool> scopes;   // of the open braces: whether each is a namespace's
  std::size_t statement = 0;  // the first token after the last ; { or }
};

std::size_t Translator::File::after_brackets(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view mark = word(i);
    if (tokens[i].kind != Kind::kMark) {
      continue;
    }
    if (mark == "(" || mark == "[" || mark == "{") {
      ++depth;
    } else if ((mark == ")" || mark == "]" || mark == "}") && --depth == 0) {
      return i + 1;
    }
  }
  return tokens.size();
}

// #define NAME __shared__ and #define NAME extern __shared__.
void Translator::File::note_macros() {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::kDirective || !is(i + 1, "define")) {
      continue;
    }
    bool has_extern = false, has_shared = false, has_more = false;
    for (std::size_t k = i + 3; k < tokens.size() && tokens[k].in_directive && tokens[k].kind != Kind::kDirective;
         ++k) {
      if (is(k, "extern")) {
        has_extern = true;
      } else if (shared_names.contains(word(k))) {
        has_shared = true;
      } else if (is(k, "[") || is(k, ";")) {
        has_more = true;
      }
    }
    if (has_shared && !has_more) {
      (has_extern ? extern_shared_names : shared_names).emplace(word(i + 2));
    }
  }
}

void Translator::File::track_scope(std::size_t i) {
  if (tokens[i].in_directive || tokens[i].kind != Kind::kMark) {
    return;
  }
  const std::string_view mark = word(i);
  if (mark == "{") {
    bool is_namespace = false;
    for (std::size_t k = statement; k < i; ++k) {
      is_namespace = is_namespace || is(k, "namespace") || (is(k, "extern") && tokens[k + 1].kind == Kind::kText);
    }
    scopes.push_back(is_namespace);
  } else if (mark == "}" && !scopes.empty()) {
    scopes.pop_back();
  }
  if (mark == "{" || mark == "}" || mark == ";") {
    statement = i + 1;
  }
}

// extern __shared__ T name[]; in any order, also by a macro: a pointer to the dynamic shared memory within a function, a
// macro for that pointer at file scope, where no thread is.
bool Translator::File::dynamic_shared(std::size_t i) {
  const bool by_macro = extern_shared_names.contains(word(i)) && !(i >= 1 && is(i - 1, "define"));
  const bool begins = by_macro || is(i, "extern") || (shared_names.contains(word(i)) && is(i + 1, "extern"));
  if (tokens[i].kind != Kind::kName || !begins || (i >= 1 && is(i - 1, "extern"))) {
    return false;
  }
  // Its type is what is left without the qualifiers; its name is the last word before the brackets.
  std::size_t end = i;
  bool shared = by_macro;
  std::string type;
  std::size_t name = tokens.size(), brackets = 0;
  for (; end < tokens.size() && tokens[end].in_directive == tokens[i].in_directive &&
         tokens[end].kind != Kind::kDirective && !is(end, ";");
       ++end) {
    if (is(end, "extern") || shared_names.contains(word(end)) || extern_shared_names.contains(word(end))) {
      shared = shared || !is(end, "extern");
    } else if ((is(end, "__align__") || is(end, "alignas") || is(end, "__attribute__")) && is(end + 1, "(")) {
      end = after_brackets(end + 1) - 1;
    } else if (is(end, "(") || is(end, "{") || is(end, "=")) {
      return false;
    } else if (is(end, "[") && brackets == 0) {
      name = end - 1;
      brackets = end;
      end = after_brackets(end) - 1;
      for (; is(end + 1, "["); end = after_brackets(end + 1) - 1) {
      }
    }
  }
  if (!shared || brackets == 0) {
    return false;
  }
  for (std::size_t k = i; k < name; ++k) {
    if ((is(k, "__align__") || is(k, "alignas") || is(k, "__attribute__")) && is(k + 1, "(")) {
      k = after_brackets(k + 1) - 1;
    } else if (!is(k, "extern") && !shared_names.contains(word(k)) && !extern_shared_names.contains(word(k))) {
      type.append(word(k)).append(" ");
    }
  }
  const std::string inner(text, tokens[after_brackets(brackets) - 1].end,
                          tokens[end - 1].end - tokens[after_brackets(brackets) - 1].end);
  if (!inner.empty()) {
    type = "::std::remove_extent_t<" + type + "[1]" + inner + "> ";
  }
  const std::string pointer = "static_cast<" + type + "*>(::kvwitness::simt::detail::dynamic_shared_memory())";
  const std::string variable(word(name));
  const bool file_scope =
      !tokens[i].in_directive && std::all_of(scopes.begin(), scopes.end(), [](bool b) { return b; });
  if (file_scope) {
    file_scope_names.insert(variable);
    const std::size_t stop = std::min(end, tokens.size() - 1);
    edits.push_back(
        {tokens[i].begin, tokens[stop].end,
         as_lines("#undef " + variable + "\n#define " + variable + " (" + pointer + ")", tokens[stop].begin)});
  } else {
    const std::string undefine =
        file_scope_names.contains(variable) ? as_lines("#undef " + variable, tokens[i].begin) : std::string();
    replace(tokens[i].begin, tokens[end - 1].end, undefine + type + "* const " + variable + " = " + pointer);
  }
  return true;
}

// The first token of the expression that ends before `end`: a name with its qualifiers and template arguments, an
// element, or something in parentheses.
std::size_t Translator::File::expression_before(std::size_t end) const {
  std::size_t at = end;
  for (bool more = true; more && at > 0;) {
    if (is(at - 1, ">") || is(at - 1, "]") || is(at - 1, ")")) {
      const std::string_view close = word(at - 1), open = close == ">" ? "<" : close == "]" ? "[" : "(";
      int depth = 0, inner = 0;
      do {
        --at;
        inner += close != ")" && is(at, ")") ? 1 : close != ")" && is(at, "(") ? -1 : 0;
        depth += inner == 0 && is(at, close) ? 1 : inner == 0 && is(at, open) ? -1 : 0;
      } while (at > 0 && depth != 0);
      more = at > 0 && (tokens[at - 1].kind == Kind::kName || is(at - 1, "]") || is(at - 1, ")"));
      continue;
    }
    if (tokens[at - 1].kind != Kind::kName) {
      break;
    }
    --at;
    if (at > 0 && is(at - 1, "template")) {
      --at;
    }
    more = false;
    if (at >= 2 && is(at - 1, ":") && is(at - 2, ":")) {
      at -= 2;
      more = at > 0 &&
             ((tokens[at - 1].kind == Kind::kName && !is(at - 1, "return") && !is(at - 1, "else")) || is(at - 1, ">"));
    } else if (at >= 1 && is(at - 1, ".")) {
      --at;
      more = true;
    } else if (at >= 2 && is(at - 1, ">") && is(at - 2, "-")) {
      at -= 2;
      more = true;
    }
  }
  return at;
}

// kernel<<<grid, block, bytes, stream>>>(arguments)
bool Translator::File::launch(std::size_t i) {
  const auto run_of = [&](std::size_t at, std::string_view mark) {
    return at + 2 < tokens.size() && is(at, mark) && is(at + 1, mark) && is(at + 2, mark) &&
           tokens[at].end == tokens[at + 1].begin && tokens[at + 1].end == tokens[at + 2].begin;
  };
  if (!run_of(i, "<") || i == 0 ||
      !(tokens[i - 1].kind == Kind::kName || is(i - 1, ">") || is(i - 1, ")") || is(i - 1, "]"))) {
    return false;
  }
  int depth = 0;
  for (std::size_t k = i + 3; k < tokens.size() && !is(k, ";"); ++k) {
    depth += is(k, "(") || is(k, "[") || is(k, "{") ? 1 : is(k, ")") || is(k, "]") || is(k, "}") ? -1 : 0;
    if (depth == 0 && run_of(k, ">") && is(k + 3, "(")) {
      const std::size_t first = expression_before(i);
      std::string kernel;
      for (std::size_t part = first; part < i; ++part) {
        const bool apart = part > first && tokens[part].begin != tokens[part - 1].end;
        kernel.append(apart ? " " : "").append(word(part));
      }
      replace(tokens[first].begin, tokens[i + 2].end,
              "::kvwitness::simt::detail::chevron([&](auto&&... kvwitness_arguments) -> decltype(" + kernel +
                  "(kvwitness_arguments...)) { return " + kernel +
                  "(kvwitness_arguments...); }, [&](auto kvwitness_address) -> decltype(kvwitness_address(" + kernel +
                  ")) { return kvwitness_address(" + kernel + "); }, ::kvwitness::simt::detail::ChevronConfig(");
      replace(tokens[k].begin, tokens[k + 2].end, "))");
      // A null pointer among the arguments must not become an integer on the way.
      for (std::size_t argument = k + 4, end = after_brackets(k + 3); argument < end; ++argument) {
        if (is(argument, "NULL") && (is(argument - 1, "(") || is(argument - 1, ",")) &&
            (is(argument + 1, ")") || is(argument + 1, ","))) {
          replace(tokens[argument].begin, tokens[argument].end, "nullptr");
        }
      }
      return true;
    }
  }
  return false;
}

// asm("mov.u32 %0, %%laneid;" : "=r"(lane)) and its kin; other PTX is refused where it stands.
bool Translator::File::assembly(std::size_t i) {
  if (tokens[i].kind != Kind::kName || !(is(i, "asm") || is(i, "__asm__") || is(i, "__asm"))) {
    return false;
  }
  std::size_t open = i + 1;
  while (is(open, "volatile") || is(open, "__volatile__") || is(open, "goto")) {
    ++open;
  }
  if (!is(open, "(")) {
    return false;
  }
  const std::size_t end = after_brackets(open);
  struct Register {
    std::string_view name;
    std::string_view value;
  };
  static constexpr auto kRegisters = std::to_array<Register>({{"laneid", "::kvwitness::simt::detail::lane_id()"},
                                                              {"lanemask_lt", "::__lanemask_lt<>()"},
                                                              {"lanemask_le", "::__lanemask_le<>()"},
                                                              {"lanemask_gt", "::__lanemask_gt<>()"},
                                                              {"lanemask_ge", "::__lanemask_ge<>()"},
                                                              {"lanemask_eq", "::__lanemask_eq<>()"}});
  std::string instruction;
  for (const char c : word(open + 1)) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '"' && c != ';') {
      instruction += c;
    }
  }
  for (const Register& source : kRegisters) {
    if (instruction == "mov.u32%0,%%" + std::string(source.name) && is(open + 2, ":") && is(open + 3, "\"=r\"") &&
        is(open + 4, "(") && (after_brackets(open + 4) == end - 1 || is(after_brackets(open + 4), ":"))) {
      const std::size_t close = after_brackets(open + 4) - 1;
      const std::string target = text.substr(tokens[open + 4].begin, tokens[close].end - tokens[open + 4].begin);
      replace(tokens[i].begin, tokens[end - 1].end, target + " = " + std::string(source.value));
      return true;
    }
  }
  replace(tokens[i].begin, tokens[end - 1].end,
          "static_assert(false, \"kvwitness simt: inline PTX (asm) is not served\")");
  return true;
}

bool Translator::File::include(std::size_t i) {
  if (tokens[i].kind != Kind::kDirective || !is(i + 1, "include") || i + 2 >= tokens.size() ||
      word(i + 2).front() != '"') {
    return false;
  }
  const std::string name(word(i + 2).substr(1, word(i + 2).size() - 2));
  const fs::path found = path.parent_path() / name;
  if (!fs::is_regular_file(found)) {
    return false;
  }
  // A translated file lies elsewhere, so whatever it includes is named in full.
  const fs::path original = fs::weakly_canonical(found), translated = translator.header(original);
  edits.push_back(
      {tokens[i + 2].begin, tokens[i + 2].end, "\"" + (translated.empty() ? original : translated).string() + "\""});
  if (!translated.empty()) {
    refused.insert("");  // the file needs translation, if only for this
  }
  return true;
}

// An #error, after which nothing is read any more, before the line that names it.
void Translator::File::refuse(std::size_t i) {
  if (tokens[i].kind != Kind::kName || tokens[i].in_directive) {
    return;
  }
  const bool device_wide =
      word(i).substr(0, 6) == "Device" && i >= 3 && is(i - 1, ":") && is(i - 2, ":") && is(i - 3, "cub");
  const Refusal all_of_cub{word(i), "CUB's device-wide algorithms are"};
  for (const Refusal& entry : kRefusals) {
    const Refusal& refusal = device_wide ? all_of_cub : entry;
    if (word(i) == refusal.name && refused.insert(refusal.feature).second) {
      const std::string line = "#error \"kvwitness simt: " + std::string(refusal.feature) + " not served (" +
                               std::string(refusal.name) + ")\"";
      edits.push_back({tokens[i].begin, tokens[i].begin,
                       "\n#line " + std::to_string(line_of(tokens[i].begin)) + " \"" + path.string() + "\"\n" + line +
                           "\n#include <kvwitness/simt/nothing_is_read_after_an_error>\n#line " +
                           std::to_string(line_of(tokens[i].begin)) + "\n"});
    }
  }
}

void Translator::File::run() {
  note_macros();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!include(i) && !dynamic_shared(i) && !launch(i) && !assembly(i)) {
      refuse(i);
    }
    track_scope(i);
  }
}

std::string Translator::File::edited() {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;  // an insertion before a replacement
  });
  std::string result;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < at) {
      continue;  // within what another rule has replaced
    }
    result.append(text, at, edit.begin - at).append(edit.text);
    at = edit.end;
  }
  return result.append(text, at);
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

std::string Translator::translate(const fs::path& source, bool is_main) {
  dependencies_.insert(source);
  File file(*this, source, read(source));
  file.run();
  const bool changed = std::any_of(file.edits.begin(), file.edits.end(), [&](const Edit& edit) {
    return file.text.compare(edit.begin, 1, "\"") != 0;  // more than the name of an untranslated header
  });
  if (!is_main && !changed && !file.refused.contains("")) {
    return {};
  }
  // nvcc includes this header on its own.
  const std::string first = is_main ? "#include <cuda_runtime.h>\n" : "";
  return first + "#line 1 \"" + source.string() + "\"\n" + file.edited();
}

fs::path Translator::header(const fs::path& source) {
  const auto [entry, is_new] = headers_.try_emplace(source);
  if (!is_new) {
    return entry->second;  // that of a header that includes itself is empty still
  }
  const std::string text = translate(source, false);
  if (text.empty()) {
    return {};
  }
  const fs::path target = output_.parent_path() / (std::to_string(headers_.size()) + "_" + source.filename().string());
  write(target, text);
  return headers_[source] = target;
}

void Translator::write_dependencies(const fs::path& depfile) const {
  std::string text = output_.string() + ":";
  for (const fs::path& dependency : dependencies_) {
    text += " ";
    for (const char c : dependency.string()) {
      text += c == ' ' ? "\\ " : std::string(1, c);
    }
  }
  write(depfile, text + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: " << argv[0] << " SOURCE.cu OUTPUT.cc [DEPFILE]\n";
    return 2;
  }
  try {
    Translator translator(argv[2]);
    write(argv[2], translator.translate(argv[1], true));
    if (argc == 4) {
      translator.write_dependencies(argv[3]);
    }
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 1;
  }
  return 0;
}

#include "tests/cli/json_schema.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kvwitness::harness {
namespace {

using Json = nlohmann::json;

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, const std::string& path) {
    check_keywords(schema, path);
    if (schema.contains("$ref")) {
      const std::string pointer = schema["$ref"].get<std::string>().substr(1);  // "#/$defs/name"
      check(root_.at(Json::json_pointer(pointer)), value, path);
    }
    if (schema.contains("const") && schema["const"] != value) complain(path, "is not " + schema["const"].dump());
    if (schema.contains("enum") && std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0) {
      complain(path, value.dump() + " is none of " + schema["enum"].dump());
    }
    if (schema.contains("type") && !has_type(value, schema["type"])) {
      complain(path, "is no " + schema["type"].get<std::string>());
    }
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) {
      complain(path, "is below the minimum");
    }
    if (schema.contains("maximum") && value.is_number() && value > schema["maximum"]) {
      complain(path, "is above the maximum");
    }
    if (schema.contains("anyOf")) check_any(schema["anyOf"], value, path);
    if (value.is_object()) check_members(schema, value, path);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) check(schema["items"], value[i], path + "/" + std::to_string(i));
    }
  }

  std::vector<std::string> violations;

 private:
  void complain(const std::string& path, const std::string& what) { violations.push_back(path + ": " + what); }

  void check_keywords(const Json& schema, const std::string& path) {
    constexpr std::array<std::string_view, 16> kKnown = {
        "$schema", "$defs",   "$ref",    "title",    "description", "type",
        "const",   "enum",    "anyOf",   "required", "properties",  "additionalProperties",
        "items",   "minimum", "maximum", ""};
    for (const auto& [key, unused] : schema.items()) {
      if (std::count(kKnown.begin(), kKnown.end(), key) == 0) {
        complain(path, "the schema's keyword " + key + " is not understood");
      }
    }
  }

  void check_any(const Json& alternatives, const Json& value, const std::string& path) {
    for (const Json& alternative : alternatives) {
      if (Validator attempt(root_); attempt.check(alternative, value, path), attempt.violations.empty()) return;
    }
    complain(path, "fits no alternative");
  }

  void check_members(const Json& schema, const Json& value, const std::string& path) {
    for (const Json& key : schema.value("required", Json::array())) {
      if (!value.contains(key)) complain(path, "lacks " + key.dump());
    }
    const Json known = schema.value("properties", Json::object());
    for (const auto& [key, member] : value.items()) {
      if (known.contains(key)) {
        check(known[key], member, path + "/" + key);
      } else if (schema.contains("additionalProperties")) {
        const Json& rule = schema["additionalProperties"];
        if (rule.is_object()) check(rule, member, path + "/" + key);
        if (rule == false) complain(path, "has the unknown key " + key);
      }
    }
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> schema_violations(const Json& schema, const Json& value) {
  Validator validator(schema);
  validator.check(schema, value, "");
  return validator.violations;
}

}  // namespace kvwitness::harness

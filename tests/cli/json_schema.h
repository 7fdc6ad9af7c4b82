// A validator for the part of JSON Schema that the project's schemas use.
#ifndef TESTS_CLI_JSON_SCHEMA_H
#define TESTS_CLI_JSON_SCHEMA_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvwitness::harness {

// Every way in which `value` breaks `schema`, as "/path: what"; none for a valid value. Knows $ref into the schema
// itself, type, const, enum, anyOf, required, properties, additionalProperties, items, minimum and maximum; a further
// keyword that would constrain is reported too, so that no rule of a schema is left unread.
std::vector<std::string> schema_violations(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace kvwitness::harness

#endif  // TESTS_CLI_JSON_SCHEMA_H

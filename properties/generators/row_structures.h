// The tokens of a row by their structure: the bulk values behind gen::row and the generated calls.
#ifndef PROPERTIES_GENERATORS_ROW_STRUCTURES_H
#define PROPERTIES_GENERATORS_ROW_STRUCTURES_H

#include <kvwitness/rapidcheck.h>

#include <cstdint>
#include <span>

#include "properties/generators/random_source.h"

namespace kvwitness::harness {

// Fills a row of shape.topk slots.
void fill_row(RandomSource& random, RowStructure structure, const RowShape& shape, std::span<std::int32_t> row);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_ROW_STRUCTURES_H

// SPDX-License-Identifier: BSD-3-Clause
// Evidence: what supports each value of a bundle. Some values follow from others and are derived again when a
// bundle is opened; some are derived by training again; the others are claims of the sender. check_bundle.cpp
// derives the values; `exp bundle show` (cli/bundle_show.cpp) and `exp verify` (cli/bundle_text.cpp) print by
// this table. forged_bundle_test changes every column of the schema and expects the result that the table
// states, so a new column needs a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::bundle {

enum class Evidence : std::uint8_t {
  recomputed,  ///< derived from other parts of the bundle when it is opened; a contradiction is refused
  trained,     ///< agrees with the other parts, and `exp verify` derives it by training again
  claimed,     ///< only the sender says it
  own,         ///< assigned by the reader's database; the value in the bundle is ignored
};
/// Returns "recomputed", "trained", "claimed" or "own".
const char* name_of(Evidence evidence);

/// The evidence of one column of the schema, or of the part of it that an SQL expression and a condition over
/// its table choose.
struct ColumnEvidence {
  const char* table;
  const char* column;
  Evidence evidence;
  const char* expression = "";  ///< SQL of the part; empty: the column itself
  const char* condition = "";   ///< SQL that selects its rows; empty: all
};
/// Returns the evidence of every column of every table, in the order of the schema.
std::span<const ColumnEvidence> column_evidence();

/// A claimed column with its values.
struct Claim {
  std::string table, column;
  std::vector<std::string> values;  ///< each once, sorted
  std::size_t count = 0;            ///< number of different values; `values` may have fewer
};
/// Returns every claimed column that has a value. `store` is that of a checked bundle. Each column has at
/// most `most` values; 0: all.
std::vector<Claim> claims_of(store::Store& store, std::size_t most);

}  // namespace encore::bundle

// Evidence: what supports each value of a bundle. Some values follow from others and are derived again
// when a bundle is opened; some are derived by training again; the others are claims of the sender. Place in
// the flow: check_bundle.cpp derives, `exp bundle show` and `exp verify` print by this table, and a test
// changes every column of the schema and expects the result that the table gives. A new column belongs here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

enum class Evidence : std::uint8_t {
  recomputed,  ///< derived from other parts of the bundle when it is opened; a contradiction is refused
  trained,     ///< likewise agrees with the other parts; `exp verify` derives it by training again
  claimed,     ///< only the sender says it
  own,         ///< of the reader's database: the value in the bundle is ignored
};
/// "recomputed", "trained", "claimed", "own"
const char* name_of(Evidence evidence);

/// One column of the schema, or the part of it that an SQL expression and condition over its table choose.
struct ColumnEvidence {
  const char* table;
  const char* column;
  Evidence evidence;
  const char* expression = "";  ///< of the part; empty: the column
  const char* condition = "";   ///< which rows; empty: all
};
/// Every column of every table, in the order of the schema.
std::span<const ColumnEvidence> column_evidence();

/// A value that is claimed.
struct Claim {
  std::string table, column;
  std::vector<std::string> values;  ///< each once, sorted
  std::size_t count = 0;            ///< of different values; `values` may be fewer
};
/// Every claimed column with a value. `store`: of a bundle that was checked. At most `most` values of each;
/// 0: all.
std::vector<Claim> claims_of(Store& store, std::size_t most);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Prints a search and lists of searches as tables and JSON, for `exp show`, `exp ls --search` and the end of
// `exp run`. Programs read the JSON: members keep their names; tables may change. Read next:
// analysis/search_view.hpp.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"
#include "store/searches.hpp"

namespace encore::cli {

/// Prints a search: method, objective, space, trials. `all`: every trial, otherwise the best ones.
void print_search(std::ostream& out, store::Store& store, const store::SearchRow& row,
                  const store::SearchRecord& record, const Terminal& terminal, bool all);
/// Returns everything about a search: space, trials with values, importance of options, confirmations.
/// Programs read the members, so none is renamed.
nlohmann::ordered_json search_json(store::Store& store, const store::SearchRow& row,
                                   const store::SearchRecord& record);
/// Prints a table of all searches of the database.
void print_searches(std::ostream& out, store::Store& store, const Terminal& terminal);
/// Returns the list of all searches, one object for each.
nlohmann::ordered_json searches_json(store::Store& store);

}  // namespace encore::cli

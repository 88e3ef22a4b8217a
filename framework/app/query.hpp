// SPDX-License-Identifier: BSD-3-Clause
// answer_query(): runs one SQL query of the user for `exp query`. The connection is read-only, and statements
// that write are refused before they start; both must stay, because the text comes from the user.
// cli/query_verb.cpp calls it and prints the rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/app.hpp"
#include "app/form.hpp"

namespace encore::app {

struct QueryRequest {
  bool csv = false;
  bool json = false;
  std::string sql;  ///< one statement
};

Form<QueryRequest> query_form();

/// Receives the names of the columns, then each row. Values are numbers, text (blobs as hexadecimal digits)
/// or null.
struct QueryWriter {
  std::function<void(const std::vector<std::string>& names)> begin;
  std::function<void(const std::vector<nlohmann::ordered_json>& row)> row;
};

/// Throws UsageError for invalid SQL or a statement that writes, WorkError if the user interrupted the query.
void answer_query(const QueryRequest& request, const App& app, const QueryWriter& writer);

}  // namespace encore::app

// SPDX-License-Identifier: BSD-3-Clause
// show(): selects the runs, or the search, about which cli/show_verb.cpp prints everything that the database
// has. It only reads. Read next: cli/show_text.hpp, cli/run_json.hpp.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "store/searches.hpp"

namespace encore::app {

struct ShowRequest {
  bool all = false;  ///< also settings with their default, and all trials of a search
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<ShowRequest> show_form();

struct ShownRuns {
  std::vector<store::RunRow> runs;
  bool one = false;  ///< the user asked for exactly one run; --json then prints an object, not a list
  std::optional<store::SearchRow> search = {};  ///< in place of runs, if the word names a search
};

ShownRuns show(const ShowRequest& request, const App& app, store::Store& store);

}  // namespace encore::app

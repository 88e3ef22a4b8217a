// SPDX-License-Identifier: BSD-3-Clause
// show: selects the runs, or the search, about which cli/show_verb.cpp prints everything that the database
// has.
#pragma once

#include <optional>
#include <vector>

#include "app/run_selection.hpp"
#include "store/searches.hpp"

namespace encore::app {

struct ShowRequest {
  bool all = false;
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<ShowRequest> show_form();

struct ShownRuns {
  std::vector<store::RunRow> runs;
  bool one = false;                             ///< exactly one was asked for
  std::optional<store::SearchRow> search = {};  ///< in place of runs
};

ShownRuns show(const ShowRequest& request, const App& app, store::Store& store);

}  // namespace encore::app

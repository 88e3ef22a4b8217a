// SPDX-License-Identifier: BSD-3-Clause
// budget_blocks(): the return on the budget of a search: the best score so far against the number of
// trainings, beside the expected best of independent random draws of the same space. Place in the flow:
// searches.cpp asks for it for each search with one objective.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "report/report_data.hpp"

namespace encore::report {

/// Returns the blocks for a search with one objective, otherwise none. Random draws are taken from all
/// `searches` of the same space and experiment.
std::vector<document::Block> budget_blocks(const ReportData& data, const analysis::SearchView& view,
                                           const std::deque<analysis::SearchView>& searches,
                                           const std::string& id);

}  // namespace encore::report

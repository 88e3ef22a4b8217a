// The return on the budget of a search: the best score so far against the number of trainings,
// beside the expected best of independent random draws of the same space. Place in the flow:
// searches.cpp asks.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "report/report_data.hpp"

namespace encore {

/// Blocks for a search with one objective; otherwise none. Random draws are taken from all `searches` of the
/// same space and experiment.
std::vector<Block> budget_blocks(const ReportData& data, const SearchView& view,
                                 const std::deque<SearchView>& searches, const std::string& id);

}  // namespace encore

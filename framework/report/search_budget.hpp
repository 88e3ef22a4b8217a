// What the budget of a search has bought: the best score so far against the trainings that were paid for,
// beside what independent random draws of the same space are expected to reach. Place in the flow:
// searches.cpp asks.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "report/report_data.hpp"

namespace encore {

/// Of a search with one objective; nothing otherwise. Random draws are taken from all `searches` of the same
/// space and experiment.
std::vector<Block> budget_blocks(const ReportData& data, const SearchView& view,
                                 const std::deque<SearchView>& searches, const std::string& id);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// The measures of steps that give a ranking of documents, and what each record adds to them. The steps
// `search`, `keyword_search` and `rerank` call both functions. Runs and files of predictions have the names,
// so they never change. Read ranking_measures.hpp next.
#pragma once

#include <vector>

#include <encore/measure.hpp>
#include <encore/records.hpp>
#include <encore/statistics.hpp>

namespace encore::ranking {

/// The measure by which such steps are compared.
inline constexpr const char* usual_select = "max dev/ndcg10";

/// Returns ndcg10, mrr, recall and map: means over the records that have a relevant document.
std::vector<Measure> hit_measures();

/// Adds to `statistics` what each record contributes, begin_example once for each. `labels`: the relevant
/// documents of each record, in the form of judged_documents.hpp. `hits`: the ids of the documents that an
/// answer names, the best first. Equal scores count in this order.
void measure_hits(const Records::TextLists& labels, const Records::TextLists& hits, Statistics& statistics);

}  // namespace encore::ranking

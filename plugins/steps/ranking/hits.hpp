// SPDX-License-Identifier: BSD-3-Clause
// What all steps that give a ranking of documents have in common: its measures, what each record adds to
// them, and the line for people about the best document. The steps `search`, `keyword_search` and `rerank`
// call these functions. Runs and files of predictions have the names of the measures, so these never change.
// No program reads the line, so it may change. Read ranking_measures.hpp next.
#pragma once

#include <string>
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
/// documents of each record, in the form of grades_in(). `hits`: the ids of the documents that an answer
/// names, the best first. Equal scores count in this order.
void measure_hits(const Records::TextLists& labels, const Records::TextLists& hits, Statistics& statistics);

/// The line about a request for which no document was found.
inline constexpr const char* no_hit_line = "no document was found";

/// Returns "ID  0.797  the beginning of the document ...": one line, cut between characters.
std::string hit_line(const std::string& id, double score, const std::string& document);

}  // namespace encore::ranking

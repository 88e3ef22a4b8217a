// SPDX-License-Identifier: BSD-3-Clause
// The measures of a ranking of documents: nDCG, reciprocal rank, recall and average precision, as trec_eval
// and ir-measures compute them; and the relevant documents of a query, which the field `labels` of its record
// names. The fit of the step `search` and hits.cpp call these pure functions. Stored runs have the values, so
// a change needs a new version of the steps. The form of the labels is that of the users' data files, so it
// stays.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace encore::ranking {

/// The number of documents over which `ndcg10` is computed.
inline constexpr std::size_t measured_depth = 10;

/// The ids of documents, the best first. trec_eval orders documents of equal score by falling id (by bytes).
using Ranking = std::span<const std::string>;

/// The grades of the documents that were judged for one query. A document without a grade counts as grade 0,
/// and grades below 1 as not relevant.
using Grades = std::map<std::string, int>;

/// Returns the grade of each document in a list of ids. An id without a grade has grade 1; "d12=3" is the
/// document d12 with grade 3. Of an id that stands twice the higher grade counts.
Grades grades_in(const std::vector<std::string>& labels);

/// Returns the number of relevant documents.
std::size_t count_relevant(const Grades& grades);

/// Returns the normalized discounted cumulative gain of the first `depth` documents (Jarvelin and Kekalainen
/// 2002): the sum of grade / log2(rank + 1), divided by that of the best possible ranking. Returns 0 if no
/// document is relevant.
double ndcg(Ranking ranking, const Grades& grades, std::size_t depth);

/// Returns 1 / rank of the first relevant document, or 0 if the ranking has none.
double reciprocal_rank(Ranking ranking, const Grades& grades);

/// Returns the share of the relevant documents that are among the first `depth`.
double recall(Ranking ranking, const Grades& grades, std::size_t depth);

/// Returns the mean, over all relevant documents, of the precision at the rank of each; a relevant document
/// that is not in the ranking adds 0.
double average_precision(Ranking ranking, const Grades& grades);

}  // namespace encore::ranking

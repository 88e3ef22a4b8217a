// SPDX-License-Identifier: BSD-3-Clause
// The measures of a ranking of documents: nDCG, reciprocal rank, recall and average precision, as trec_eval
// and ir-measures compute them. The fit and the measures of the step `search` call these pure functions.
// Stored runs have the values, so a change needs a new version of the step.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace encore::search {

/// A document with the score that a search gave it.
struct RankedDocument {
  std::string id;
  double score = 0.0;

  friend bool operator==(const RankedDocument&, const RankedDocument&) = default;
};

/// The grades of the documents that were judged for one query. A document without a grade counts as grade 0,
/// and grades below 1 as not relevant.
using Grades = std::map<std::string, int>;

/// Sorts by falling score. Documents of equal score are sorted by falling id (by bytes), as trec_eval does,
/// so that the order in which a search found them has no influence.
void sort_as_trec_eval(std::vector<RankedDocument>& documents);

/// Returns the number of relevant documents.
std::size_t count_relevant(const Grades& grades);

/// Returns the normalized discounted cumulative gain of the first `depth` documents (Jarvelin and Kekalainen
/// 2002): the sum of grade / log2(rank + 1), divided by that of the best possible ranking. Returns 0 if no
/// document is relevant.
double ndcg(std::span<const RankedDocument> ranking, const Grades& grades, std::size_t depth);

/// Returns 1 / rank of the first relevant document, or 0 if the ranking has none.
double reciprocal_rank(std::span<const RankedDocument> ranking, const Grades& grades);

/// Returns the share of the relevant documents that are among the first `depth`.
double recall(std::span<const RankedDocument> ranking, const Grades& grades, std::size_t depth);

/// Returns the mean, over all relevant documents, of the precision at the rank of each; a relevant document
/// that is not in the ranking adds 0.
double average_precision(std::span<const RankedDocument> ranking, const Grades& grades);

}  // namespace encore::search

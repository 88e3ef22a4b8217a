// SPDX-License-Identifier: BSD-3-Clause
// choose_fusion(): chooses how `search` joins words and vectors, by nDCG@10 on queries whose relevant
// documents are known. search.cpp calls it in fit(). Both parts are only joined if this helps beyond chance.
// Stored runs have the choice, so a change of its rules needs a new version of the step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <encore/document_index.hpp>

namespace encore::search {

/// What both parts found for one query, and the grade of a document by its position.
struct JudgedQuery {
  std::vector<IndexHit> words, vectors;
  std::function<double(const std::vector<FusedHit>&)> gain;  ///< nDCG@10 of a ranking
};

struct FusionChoice {
  Fusion fusion = {};
  SearchMethod single = SearchMethod::words;  ///< the better of words and vectors
  double words = 0.0, vectors = 0.0;          ///< the mean nDCG@10 of each part
  Fusion joined = {};                         ///< the better of `ranks` and `weighted`
  double fused = 0.0;                         ///< its mean nDCG@10 on queries that did not choose the weight
  double gain = 0.0, low = 0.0, high = 0.0;   ///< of `fused` over `single`, with its 95 % interval
};

/// Returns the better part alone, unless joining both is better: there are at least 20 queries, and the lower
/// end of the 95 % interval of the gain in nDCG@10 (paired bootstrap over queries) is above 0. The gain of
/// `weighted` is measured on each half of the queries with the weight that is best on the other half, so that
/// choosing a weight is not rewarded; the weight that is used is the best on all queries. There is at least
/// one query.
FusionChoice choose_fusion(const std::vector<JudgedQuery>& queries, std::uint64_t seed);

}  // namespace encore::search

// SPDX-License-Identifier: BSD-3-Clause
// The choice between words, vectors and both. Read fusion_choice.hpp first, and ranking/weight_choice.hpp,
// which decides whether a joined ranking helps.
#include "fusion_choice.hpp"

#include <encore/error.hpp>

#include "ranking/ranking_measures.hpp"
#include "ranking/weight_choice.hpp"

namespace encore::search {
namespace {

using ranking::Gains, ranking::mean;

Gains gains_of(const std::vector<JudgedQuery>& queries, const Fusion& fusion) {
  Gains gains;
  for (const JudgedQuery& query : queries)
    gains.push_back(query.gain(fuse(query.words, query.vectors, fusion, ranking::measured_depth)));
  return gains;
}

}  // namespace

FusionChoice choose_fusion(const std::vector<JudgedQuery>& queries, std::uint64_t seed) {
  ENCORE_REQUIRE(!queries.empty(), "a choice needs queries");
  const Gains words = gains_of(queries, {.method = SearchMethod::words});
  const Gains vectors = gains_of(queries, {.method = SearchMethod::vectors});
  const Gains ranks = gains_of(queries, {.method = SearchMethod::ranks});
  const ranking::WeightedGains weighted = ranking::best_weight(
      [&](double weight) { return gains_of(queries, {.method = SearchMethod::weighted, .weight = weight}); },
      2);
  const Gains& unseen = weighted.unseen;

  FusionChoice choice{.words = mean(words), .vectors = mean(vectors)};
  choice.single = choice.vectors > choice.words ? SearchMethod::vectors : SearchMethod::words;
  const bool takes_weight = mean(unseen) > mean(ranks);
  choice.joined = takes_weight ? Fusion{.method = SearchMethod::weighted, .weight = weighted.weight}
                               : Fusion{.method = SearchMethod::ranks};
  const Gains& fused = takes_weight ? unseen : ranks;
  const Gains& single = choice.single == SearchMethod::words ? words : vectors;
  const ranking::GainInterval gain = ranking::gain_over(fused, single, seed);
  choice.fused = mean(fused);
  choice.gain = gain.mean;
  choice.low = gain.low;
  choice.high = gain.high;
  choice.fusion = gain.helps() ? choice.joined : Fusion{.method = choice.single};
  return choice;
}

}  // namespace encore::search

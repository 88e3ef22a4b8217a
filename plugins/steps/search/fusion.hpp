// SPDX-License-Identifier: BSD-3-Clause
// How the step `search` makes one ranking of the documents that were found by words (BM25) and by vectors.
// fusion_choice.cpp calls fuse() to choose a method, search.cpp to answer. Answers of stored runs follow from
// these formulas, so a change needs a new version of the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/document_index.hpp>

namespace encore::search {

/// words: BM25 alone; vectors: cosines alone; ranks: the sum of 1 / (60 + rank) over both (reciprocal rank
/// fusion, Cormack et al. 2009); weighted: the weighted sum of both scores, each scaled so that the best hit
/// of its part has 1 and the last one 0.
enum class Method : std::uint8_t { words, vectors, ranks, weighted };

/// The names in options and in stored knowledge.
const char* name_of(Method method);
/// Returns nothing for another text.
std::optional<Method> method_named(std::string_view name);

struct Fusion {
  Method method = Method::words;
  double weight = 0.5;  ///< of the vectors, in [0, 1]; only `weighted` uses it

  bool uses_words() const { return method != Method::vectors; }
  bool uses_vectors() const { return method != Method::words; }
  friend bool operator==(const Fusion&, const Fusion&) = default;
};

/// The hits of one part, by falling score.
using Hits = std::span<const IndexHit>;

/// A document with its place in each part.
struct FusedHit {
  std::size_t position = 0;
  double score = 0.0;
  std::size_t word_rank = 0, vector_rank = 0;   ///< from 1; 0: the part did not find it
  double word_score = 0.0, vector_score = 0.0;  ///< 0 if the part did not find it
};

/// Returns the best `depth` documents of both parts by falling score; equal scores are in the order of
/// falling positions, which is that of falling ids. A part that the method does not use is not read.
std::vector<FusedHit> fuse(Hits words, Hits vectors, const Fusion& fusion, std::size_t depth);

}  // namespace encore::search

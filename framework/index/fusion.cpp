// SPDX-License-Identifier: BSD-3-Clause
// fuse(): the formulas that join a ranking by words and one by vectors. A document that only one part found
// gets nothing from the other one. DocumentIndex::find() calls it to answer, the step `search` to choose a
// method (plugins/steps/search/fusion_choice.cpp). Read encore/document_index.hpp first.
#include <encore/document_index.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace encore {
namespace {

/// The constant of reciprocal rank fusion, as in its source.
constexpr double rank_offset = 60.0;

constexpr std::array<std::pair<SearchMethod, const char*>, 4> names = {
    {{SearchMethod::words, "words"},
     {SearchMethod::vectors, "vectors"},
     {SearchMethod::ranks, "ranks"},
     {SearchMethod::weighted, "weighted"}}};

/// Scales the scores of a part to [0, 1]. Equal scores become 1.
class Scale {
 public:
  explicit Scale(std::span<const IndexHit> hits) {
    if (hits.empty()) return;
    lowest_ = hits.back().score;
    range_ = hits.front().score - lowest_;
  }
  double of(double score) const { return range_ > 0.0 ? (score - lowest_) / range_ : 1.0; }

 private:
  double lowest_ = 0.0, range_ = 0.0;
};

double reciprocal(std::size_t rank) {
  return rank > 0 ? 1.0 / (rank_offset + static_cast<double>(rank)) : 0.0;
}

}  // namespace

const char* name_of(SearchMethod method) {
  for (const auto& [known, name] : names)
    if (known == method) return name;
  return "unknown";
}

std::optional<SearchMethod> search_method_named(std::string_view name) {
  for (const auto& [method, known] : names)
    if (name == known) return method;
  return std::nullopt;
}

std::vector<FusedHit> fuse(std::span<const IndexHit> words, std::span<const IndexHit> vectors,
                           const Fusion& fusion, std::size_t depth) {
  std::map<std::size_t, FusedHit> by_position;
  if (fusion.uses_words())
    for (std::size_t i = 0; i < words.size(); ++i) {
      FusedHit& hit = by_position[words[i].position];
      hit.word_rank = i + 1;
      hit.word_score = words[i].score;
    }
  if (fusion.uses_vectors())
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      FusedHit& hit = by_position[vectors[i].position];
      hit.vector_rank = i + 1;
      hit.vector_score = vectors[i].score;
    }
  const Scale of_words(words), of_vectors(vectors);
  const auto score_of = [&](const FusedHit& hit) {
    switch (fusion.method) {
      case SearchMethod::words:
        return hit.word_score;
      case SearchMethod::vectors:
        return hit.vector_score;
      case SearchMethod::ranks:
        return reciprocal(hit.word_rank) + reciprocal(hit.vector_rank);
      case SearchMethod::weighted:
        break;
    }
    const double word = hit.word_rank > 0 ? of_words.of(hit.word_score) : 0.0;
    const double vector = hit.vector_rank > 0 ? of_vectors.of(hit.vector_score) : 0.0;
    return (1.0 - fusion.weight) * word + fusion.weight * vector;
  };
  std::vector<FusedHit> hits;
  for (auto& [position, hit] : by_position) {
    hit.position = position;
    hit.score = score_of(hit);
    hits.push_back(hit);
  }
  std::ranges::sort(hits, [](const FusedHit& a, const FusedHit& b) {
    return a.score != b.score ? a.score > b.score : a.position > b.position;
  });
  hits.resize(std::min(depth, hits.size()));
  return hits;
}

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Scores of sentences, and the choice among them. All sums run in the order of the text, so an answer has the
// same bits on every call. Read picking.hpp first.
#include "picking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "text_parts.hpp"

namespace encore::summary {
namespace {

constexpr std::array<std::pair<Method, const char*>, 5> names = {{{Method::lead, "lead"},
                                                                  {Method::longest, "longest"},
                                                                  {Method::centroid, "centroid"},
                                                                  {Method::mmr, "mmr"},
                                                                  {Method::learned, "learned"}}};

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Scales a vector to length 1; one of zeros stays.
void normalize(std::vector<double>& vector) {
  const double length = std::sqrt(product(vector, vector));
  if (length > 0.0)
    for (double& value : vector) value /= length;
}

/// Returns the place of a part: 1 for the first one, 0 for the last one.
double place_of(const Document& document, std::size_t part) {
  const std::size_t count = document.parts.size();
  return count < 2 ? 1.0 : 1.0 - static_cast<double>(part) / static_cast<double>(count - 1);
}

}  // namespace

const char* name_of(Method method) {
  return std::ranges::find(names, method, &std::pair<Method, const char*>::first)->second;
}

std::optional<Method> method_named(std::string_view name) {
  for (const auto& [method, known] : names)
    if (name == known) return method;
  return std::nullopt;
}

Document make_document(const std::vector<std::string>& parts, std::vector<std::vector<double>> vectors) {
  Document document;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t words = count_words(parts[i]);
    if (words == 0 || !seen.insert(parts[i]).second) continue;
    document.parts.push_back({.text = parts[i], .number = i, .words = words});
    if (vectors.empty()) continue;
    document.parts.back().vector = std::move(vectors[i]);
    normalize(document.parts.back().vector);
  }
  if (vectors.empty() || document.parts.empty()) return document;
  std::vector<double> centroid(document.parts.front().vector.size());
  for (const Part& part : document.parts)
    for (std::size_t i = 0; i < centroid.size(); ++i) centroid[i] += part.vector[i];
  normalize(centroid);
  for (const Part& part : document.parts) document.likeness.push_back(product(part.vector, centroid));
  return document;
}

std::vector<double> features_of(const Document& document, std::size_t part) {
  const double length = std::log1p(static_cast<double>(document.parts[part].words)),
               likeness = document.likeness[part];
  return {part == 0 ? 1.0 : 0.0,
          part == 1 ? 1.0 : 0.0,
          1.0 / (1.0 + static_cast<double>(part)),
          place_of(document, part),
          length,
          length * length,
          part == 0 ? length : 0.0,
          likeness,
          likeness * length};
}

std::vector<double> scores_of(const Document& document, const Ranker& ranker) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < document.parts.size(); ++i) switch (ranker.method) {
      case Method::lead:
        scores.push_back(-static_cast<double>(i));
        break;
      case Method::longest:
        scores.push_back(static_cast<double>(document.parts[i].words));
        break;
      case Method::centroid:
        scores.push_back(document.likeness[i]);
        break;
      case Method::mmr:
        scores.push_back((1.0 - ranker.position) * document.likeness[i] +
                         ranker.position * place_of(document, i));
        break;
      case Method::learned: {
        std::vector<double> features = features_of(document, i);
        features.push_back(1.0);
        scores.push_back(product(features, ranker.weights));
      }
    }
  return scores;
}

std::vector<std::size_t> pick(const Document& document, const std::vector<double>& scores,
                              const Ranker& ranker, const Limits& limits) {
  const std::vector<Part>& parts = document.parts;
  const double diversity = ranker.method == Method::mmr ? ranker.diversity : 0.0;
  std::vector<std::size_t> picked;
  std::vector<bool> is_taken(parts.size());
  std::vector<double> nearest(parts.size());  // the highest cosine with a part that was taken
  std::size_t words = 0;
  while (picked.size() < limits.parts) {
    std::optional<std::size_t> best;
    double most = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (is_taken[i]) continue;
      const bool fits = picked.empty() || limits.words == 0 || words + parts[i].words <= limits.words;
      if (!fits && ranker.method == Method::lead) break;
      if (!fits) continue;
      const double value = (1.0 - diversity) * scores[i] - diversity * nearest[i];
      if (best && value <= most) continue;
      best = i;
      most = value;
    }
    if (!best) break;
    is_taken[*best] = true;
    words += parts[*best].words;
    for (std::size_t i = 0; i < parts.size() && diversity > 0.0; ++i) {
      const double cosine = product(parts[i].vector, parts[*best].vector);
      nearest[i] = picked.empty() ? cosine : std::max(nearest[i], cosine);
    }
    picked.push_back(*best);
  }
  std::ranges::sort(picked);
  return picked;
}

std::string text_of(const Document& document, const std::vector<std::size_t>& picked,
                    std::string_view between) {
  std::string text;
  for (const std::size_t part : picked) {
    if (!text.empty()) text += between;
    text += document.parts[part].text;
  }
  return text;
}

}  // namespace encore::summary

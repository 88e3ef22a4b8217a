// SPDX-License-Identifier: BSD-3-Clause
// Implements quality.hpp with the n-grams of the task translate, whose files are compiled in.
// translate_with_terms.cpp calls it. Read quality.hpp first.
#include "quality.hpp"

#include <algorithm>
#include <cmath>

#include "ngrams/ngram_counts.hpp"
#include "ngrams/word_splitting.hpp"
#include "text_places.hpp"

namespace encore::translate_with_terms {
namespace {

constexpr std::size_t orders = 6;

double log_length(std::string_view text) {
  return std::log(static_cast<double>(code_points_before(text, text.size()) + 1));
}

}  // namespace

double sentence_chrf(std::string_view written, std::string_view reference) {
  const ngrams::Units letters = ngrams::Units::of_characters(ngrams::characters(written)),
                      wanted = ngrams::Units::of_characters(ngrams::characters(reference));
  double precision = 0.0, recall = 0.0;
  for (std::size_t n = 1; n <= orders; ++n) {
    if (letters.ngrams(n) == 0 || wanted.ngrams(n) == 0) break;
    const auto common = static_cast<double>(ngrams::common_ngrams(letters, wanted, n));
    precision += common / static_cast<double>(letters.ngrams(n));
    recall += common / static_cast<double>(wanted.ngrams(n));
  }
  // The number of orders divides both, so it cancels out of F with beta = 2 except as a factor.
  const std::size_t shorter = std::min({orders, letters.size(), wanted.size()});
  if (shorter == 0 || precision + recall == 0.0) return 0.0;
  return 5.0 * precision * recall / (4.0 * precision + recall) / static_cast<double>(shorter);
}

std::vector<double> quality_features(std::string_view source, const std::vector<WrittenText>& texts) {
  const WrittenText& best = texts.front();
  double agreement = 0.0;
  for (std::size_t i = 1; i < texts.size(); ++i) agreement += sentence_chrf(texts[i].text, best.text);
  if (texts.size() > 1) agreement /= static_cast<double>(texts.size() - 1);
  return {best.log_probability / static_cast<double>(best.tokens), best.log_probability,
          std::log(static_cast<double>(best.tokens)), log_length(best.text) - log_length(source), agreement};
}

}  // namespace encore::translate_with_terms

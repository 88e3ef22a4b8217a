// SPDX-License-Identifier: BSD-3-Clause
// Chooses sentences of a text for a summary: first each sentence gets a score, then the best are taken one by
// one within the limits. Pure functions of one text, for the steps of this folder. Answers of stored runs
// follow from them, so a change needs a new version of the steps. Read next: ridge.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore::summary {

/// How sentences are scored. Experiment files and stored knowledge have the names.
enum class Method : std::uint8_t {
  lead,      ///< the first sentences
  longest,   ///< the sentences with the most words, of equal ones the first
  centroid,  ///< the cosine with the mean vector of all sentences (Radev et al. 2004)
  mmr,       ///< the same and the place in the text, less the likeness to sentences that were taken already:
             ///< maximal marginal relevance (Carbonell and Goldstein 1998)
  learned,   ///< the ROUGE-L that a sentence will have, predicted from its features (Kupiec et al. 1995)
};
const char* name_of(Method method);
std::optional<Method> method_named(std::string_view name);
/// Returns whether scores of this method need the vectors of sentences.
inline bool uses_vectors(Method method) {
  return method != Method::lead && method != Method::longest;
}

/// A sentence, or another part of a text.
struct Part {
  std::string text;
  std::size_t number = 0;  ///< among the parts of the text, before some were left out
  std::size_t words = 0;
  std::vector<double> vector = {};  ///< of length 1, or zeros; empty for methods without vectors
};

/// The parts of one text in order, without blank ones, each repeated part only once.
struct Document {
  std::vector<Part> parts;
  std::vector<double> likeness;  ///< cosine of each part with the centroid; empty without vectors
};
/// Makes a document: leaves out blank and repeated parts, scales vectors to length 1, and computes the
/// cosines. `vectors` is empty or has one vector for each part.
Document make_document(const std::vector<std::string>& parts, std::vector<std::vector<double>> vectors = {});

/// The settings of a method. The others ignore `position`, `diversity` and `weights`.
struct Ranker {
  Method method = Method::lead;
  double position = 0.0;   ///< of mmr, in [0, 1]: the weight of the place in the text beside the cosine
  double diversity = 0.0;  ///< of mmr, in [0, 1]: the weight of the likeness to parts that were taken
  std::vector<double> weights = {};  ///< of learned: one for each feature, and a constant at the end
};

/// The features of a part for the method learned.
inline constexpr std::size_t feature_count = 9;
std::vector<double> features_of(const Document& document, std::size_t part);

/// Returns the score of each part before any is taken.
std::vector<double> scores_of(const Document& document, const Ranker& ranker);

struct Limits {
  std::size_t parts = 1;  ///< most parts, at least 1
  std::size_t words = 0;  ///< most words of all parts together; 0: no limit
};

/// Returns the numbers of the taken parts, ascending. The part with the highest score comes first (of equal
/// ones the first in the text), then the best of those that still fit, until none fits. The first part is
/// taken even if it has more words than the limit, so that only a text without words has no summary. `lead`
/// ends at the first part that does not fit.
std::vector<std::size_t> pick(const Document& document, const std::vector<double>& scores,
                              const Ranker& ranker, const Limits& limits);

/// Returns the taken parts of a text as one text: with blanks between, or `between`.
std::string text_of(const Document& document, const std::vector<std::size_t>& picked,
                    std::string_view between = " ");

}  // namespace encore::summary

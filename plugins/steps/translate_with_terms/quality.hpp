// SPDX-License-Identifier: BSD-3-Clause
// What the step knows about the quality of a translation without a reference: features of the strings that
// the model generated, from which a logistic regression (decide/logistic.hpp) estimates the probability that
// the translation is among the worst. Pure functions; sums run in one order. Runs store the coefficients by
// the order of the features, so a change needs a new version of the step.
#pragma once

#include <string_view>
#include <vector>

#include <encore/generates_text.hpp>

namespace encore::translate_with_terms {

/// Returns chrF of one text, as sacreBLEU computes it (docs/guides/translation.md): in [0, 1].
double sentence_chrf(std::string_view written, std::string_view reference);

/// Returns the features of a translation, the best of `strings` (the outputs of one search, the best first,
/// at least one): the mean and the sum of the log-probability of its tokens, the logarithms of its length and
/// of its length over that of the source, and the mean chrF of the other strings with it: a model that is
/// sure writes nearly the same text in all of them (Fomicheva et al. 2020).
std::vector<double> quality_features(std::string_view source, const std::vector<WrittenText>& texts);

}  // namespace encore::translate_with_terms

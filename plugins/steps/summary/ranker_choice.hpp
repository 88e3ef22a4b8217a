// SPDX-License-Identifier: BSD-3-Clause
// Fits and chooses how the step `extractive_summary` scores sentences, by the ROUGE-L of summaries of
// documents whose true summaries are known. extractive_summary.cpp calls it in fit(). Stored runs have the
// choice, so a change of its rules needs a new version of the step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "picking.hpp"

namespace encore::summary {

/// A text with its true summaries, at least one.
struct JudgedDocument {
  Document document;
  std::vector<std::string> references;
};

struct RankerChoice {
  Ranker ranker;
  std::vector<std::string> notes = {};  ///< lines for the log of the run
};

/// Returns the weights of the method `learned`: ridge regression of the ROUGE-L of each sentence alone.
std::vector<double> fit_weights(const std::vector<JudgedDocument>& documents);

/// Returns the better one of lead and longest, unless centroid, mmr or learned is better beyond chance: there
/// are at least 20 documents, and the lower end of the 95 % interval of its gain in mean ROUGE-L (paired
/// bootstrap over documents) is above 0. mmr and learned are measured on each half of the documents with what
/// the other half chose, so that choosing is not rewarded; what is used in the end is the best for all. There
/// is at least one document.
RankerChoice choose_ranker(const std::vector<JudgedDocument>& documents, const Limits& limits,
                           std::uint64_t seed);

}  // namespace encore::summary

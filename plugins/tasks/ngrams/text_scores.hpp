// SPDX-License-Identifier: BSD-3-Clause
// Scores of generated text against a reference: BLEU and chrF as in sacreBLEU, ROUGE as in rouge-score. The
// tasks translate and summarize add each example with add_translation() or add_summary(), the steps of
// summaries (steps/summary) with score_summary(); base/ngram_measures.hpp computes the values. Runs store the
// names of measures and columns, and published scores are those of the two packages, so neither may change.
// Column names are literals of text_scores.cpp only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

#include "unicode_splitting.hpp"

namespace encore::ngrams {

/// Returns "bleu" and "chrf" of a whole set (Papineni et al. 2002, Popovic 2015). They can be undefined,
/// because a set can be scored without generation. docs/guides/translation.md has sacreBLEU's signatures.
std::vector<Measure> translation_measures();
/// Adds one example to the columns of these measures.
void add_translation(std::string_view written, std::string_view reference, Statistics& statistics,
                     BleuTokenizer tokenizer = BleuTokenizer::mteval_13a);

/// Returns the measures ROUGE-1, -2 and -L: sums of the columns rouge_1, rouge_2 and rouge_l over that of
/// `count`. Their help is `before`, what is compared, and `behind`.
std::vector<Measure> rouge_measures(const std::string& before, const std::string& behind, const char* count,
                                    bool always);

/// Returns "rouge_1", "rouge_2", "rouge_l": F1 of common words, of common word pairs, and of the longest
/// common subsequence of words (Lin 2004), each the mean over examples. They may be undefined too.
std::vector<Measure> summary_measures();
void add_summary(std::string_view written, std::string_view reference, Statistics& statistics,
                 RougeTokenizer tokenizer = RougeTokenizer::ascii);

/// The values of these measures for one example.
struct SummaryScores {
  double rouge_1 = 0.0, rouge_2 = 0.0, rouge_l = 0.0;
};
SummaryScores score_summary(std::string_view written, std::string_view reference,
                            RougeTokenizer tokenizer = RougeTokenizer::ascii);
/// Returns for each measure the highest value of all references, as rouge-score's score_multi does; zeros if
/// there is none.
SummaryScores score_summary(std::string_view written, std::span<const std::string> references,
                            RougeTokenizer tokenizer = RougeTokenizer::ascii);

}  // namespace encore::ngrams

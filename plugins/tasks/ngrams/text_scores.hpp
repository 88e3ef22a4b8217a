// Scores of generated text against a reference: BLEU and chrF as sacreBLEU counts them, ROUGE as rouge-score
// does. Names of their columns are in this file alone. Place in the flow: Task::measure adds each example ->
// the reducers of base/ngram_measures.hpp, or a mean over examples.
#pragma once

#include <string_view>
#include <vector>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

#include "unicode_splitting.hpp"

namespace encore::ngrams {

/// "bleu" and "chrf" of the whole set (Papineni et al. 2002, Popovic 2015). They can be missing: a set may be
/// scored without generation. sacreBLEU's signatures of them are in docs/guides/translation.md.
std::vector<Measure> translation_measures();
/// Adds the current example to their columns.
void add_translation(std::string_view written, std::string_view reference, Statistics& statistics,
                     BleuTokenizer tokenizer = BleuTokenizer::mteval_13a);

/// "rouge_1", "rouge_2", "rouge_l": F1 of common words, of common pairs of words, and of the longest common
/// subsequence of words (Lin 2004), the mean over examples. They can be missing too.
std::vector<Measure> summary_measures();
void add_summary(std::string_view written, std::string_view reference, Statistics& statistics,
                 RougeTokenizer tokenizer = RougeTokenizer::ascii);

}  // namespace encore::ngrams

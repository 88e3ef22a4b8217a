// SPDX-License-Identifier: BSD-3-Clause
// Adds the counts of one generated text for BLEU, chrF and ROUGE to the statistics. Orders and averaging are
// the defaults of sacreBLEU and rouge-score. translate/translate.cpp and summarize/summarize.cpp call it for
// each example. Runs store the names of measures and columns, so these never change. Read text_scores.hpp
// first.
#include "text_scores.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "ngram_counts.hpp"
#include "word_splitting.hpp"

namespace encore::ngrams {
namespace {

constexpr std::size_t bleu_orders = 4, chrf_orders = 6;

std::string column(const char* name, std::size_t order) {
  return std::string(name) + "_" + std::to_string(order);
}

/// Returns F1, given the number of common units and of units on both sides.
double f1_of(std::size_t common, std::size_t written, std::size_t reference) {
  if (common == 0) return 0.0;
  const double precision = static_cast<double>(common) / static_cast<double>(written),
               recall = static_cast<double>(common) / static_cast<double>(reference);
  return 2.0 * precision * recall / (precision + recall);
}

}  // namespace

std::vector<Measure> translation_measures() {
  Measure bleu = {.name = "bleu",
                  .title = "BLEU",
                  .help =
                      "with decode: BLEU of the whole set, as sacreBLEU computes it: nrefs:1, case:mixed, "
                      "eff:no, tok:13a (or task.bleu_tokenizer), smooth:exp",
                  .fraction = true,
                  .reducer = Reducer::ngram_precision,
                  .columns = {"words", "reference_words"},
                  .always = false},
          chrf = {.name = "chrf",
                  .title = "chrF",
                  .help =
                      "with decode: chrF of the whole set, as sacreBLEU computes it: nrefs:1, case:mixed, "
                      "eff:yes, nc:6, nw:0, space:no",
                  .fraction = true,
                  .reducer = Reducer::ngram_f_score,
                  .always = false};
  for (std::size_t n = 1; n <= bleu_orders; ++n)
    for (const char* name : {"matches", "ngrams"}) bleu.columns.push_back(column(name, n));
  for (std::size_t n = 1; n <= chrf_orders; ++n)
    for (const char* name : {"chrf_written", "chrf_reference", "chrf_matches"})
      chrf.columns.push_back(column(name, n));
  return {bleu, chrf};
}

void add_translation(std::string_view written, std::string_view reference, Statistics& statistics,
                     BleuTokenizer tokenizer) {
  const auto add = [&](const std::string& name, std::size_t count) {
    statistics.add(name, static_cast<double>(count));
  };
  const Units words = Units::of_words(split(written, tokenizer)),
              reference_words = Units::of_words(split(reference, tokenizer));
  add("words", words.size());
  add("reference_words", reference_words.size());
  for (std::size_t n = 1; n <= bleu_orders; ++n) {
    add(column("matches", n), common_ngrams(words, reference_words, n));
    add(column("ngrams", n), words.ngrams(n));
  }
  const Units letters = Units::of_characters(characters(written)),
              reference_letters = Units::of_characters(characters(reference));
  for (std::size_t n = 1; n <= chrf_orders; ++n) {
    const std::size_t wanted = reference_letters.ngrams(n);
    add(column("chrf_written", n), wanted == 0 ? 0 : letters.ngrams(n));  // as in sacreBLEU
    add(column("chrf_reference", n), wanted);
    add(column("chrf_matches", n), common_ngrams(letters, reference_letters, n));
  }
}

std::vector<Measure> rouge_measures(const std::string& before, const std::string& behind, const char* count,
                                    bool always) {
  std::vector<Measure> measures;
  for (const auto& [name, title, what] : {std::tuple{"rouge_1", "ROUGE-1", "words"},
                                          {"rouge_2", "ROUGE-2", "pairs of words"},
                                          {"rouge_l", "ROUGE-L", "words of the longest common subsequence"}})
    measures.push_back({.name = name,
                        .title = title,
                        .help = before + "F1 of the " + what + ", " + behind,
                        .fraction = true,
                        .reducer = Reducer::ratio,
                        .columns = {name, count},
                        .always = always});
  return measures;
}

std::vector<Measure> summary_measures() {
  return rouge_measures("with decode: ",
                        "mean over examples, as rouge-score computes it without its stemmer; "
                        "task.rouge_tokenizer chooses what a word is",
                        "texts", false);
}

SummaryScores score_summary(std::string_view written, std::string_view reference, RougeTokenizer tokenizer) {
  const std::vector<std::string> words = split(written, tokenizer),
                                 reference_words = split(reference, tokenizer);
  const Units units = Units::of_words(words), reference_units = Units::of_words(reference_words);
  const auto f1_of_ngrams = [&](std::size_t n) {
    return f1_of(common_ngrams(units, reference_units, n), units.ngrams(n), reference_units.ngrams(n));
  };
  return {.rouge_1 = f1_of_ngrams(1),
          .rouge_2 = f1_of_ngrams(2),
          .rouge_l = f1_of(longest_common_subsequence(words, reference_words), words.size(),
                           reference_words.size())};
}

SummaryScores score_summary(std::string_view written, std::span<const std::string> references,
                            RougeTokenizer tokenizer) {
  SummaryScores best;
  for (const std::string& reference : references) {
    const SummaryScores scores = score_summary(written, std::string_view(reference), tokenizer);
    best.rouge_1 = std::max(best.rouge_1, scores.rouge_1);
    best.rouge_2 = std::max(best.rouge_2, scores.rouge_2);
    best.rouge_l = std::max(best.rouge_l, scores.rouge_l);
  }
  return best;
}

void add_summary(std::string_view written, std::string_view reference, Statistics& statistics,
                 RougeTokenizer tokenizer) {
  const SummaryScores scores = score_summary(written, reference, tokenizer);
  statistics.add("texts", 1.0);
  statistics.add("rouge_1", scores.rouge_1);
  statistics.add("rouge_2", scores.rouge_2);
  statistics.add("rouge_l", scores.rouge_l);
}

}  // namespace encore::ngrams

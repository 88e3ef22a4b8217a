// SPDX-License-Identifier: BSD-3-Clause
// The measures of the task "multilabel", and what one text adds to them. Column names are literals of this
// file only; runs store them, so they never change. multilabel.cpp calls it. Read measures.hpp first.
#include "measures.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "label_measures.hpp"

namespace encore::multilabel {

std::vector<Measure> measures() {
  const std::vector<std::string> f1 = {"correct", "predicted", "truth"}, area = {"score", "truth"};
  std::vector<Measure> measures = {
      {.name = "micro_f1",
       .title = "micro F1",
       .help = "F1 over all pairs of an example and a label",
       .fraction = true,
       .reducer = Reducer::harmonic_mean,
       .columns = f1},
      {.name = "macro_f1",
       .title = "macro F1",
       .help = "mean of the F1 of each label",
       .fraction = true,
       .reducer = Reducer::macro_harmonic_mean,
       .columns = f1},
      {.name = "macro_auc",
       .title = "macro AUC",
       .help = "mean area under the ROC curve over the labels that some examples have and others lack",
       .fraction = true,
       .reducer = Reducer::macro_area_under_ranks,
       .columns = area},
      {.name = "subset_accuracy",
       .title = "subset accuracy",
       .help = "share of the examples with exactly the right labels",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = {"exact", "texts"}}};
  std::ranges::move(tasks::measures_of_labels("examples"), std::back_inserter(measures));
  measures.push_back({.name = "auc/{label}",
                      .title = "AUC",
                      .help = "area under the ROC curve of one label",
                      .fraction = true,
                      .reducer = Reducer::area_under_ranks,
                      .columns = area,
                      .always = false});
  return measures;
}

void measure_text(const std::vector<std::string>& labels, const Labelling& text, Statistics& statistics) {
  const bool is_first = statistics.examples() == 0;
  statistics.begin_example();
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (is_first)
      for (const char* column : {"truth", "predicted", "correct"}) statistics.add(column, 0, labels[k]);
    statistics.add("score", static_cast<double>(text.scores[k]), labels[k]);
  }
  const std::set<std::string> predicted(text.predicted.begin(), text.predicted.end());
  std::size_t correct = 0;
  for (const std::string& label : text.predicted) statistics.add("predicted", 1, label);
  for (const std::string& label : text.truth) {
    statistics.add("truth", 1, label);
    if (!predicted.contains(label)) continue;
    statistics.add("correct", 1, label);
    ++correct;
  }
  statistics.add("texts", 1);
  statistics.add("exact", correct == text.truth.size() && correct == predicted.size() ? 1 : 0);
}

}  // namespace encore::multilabel

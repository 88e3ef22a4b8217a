// Names of columns are literals here and nowhere else.
#include "measures.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "label_measures.hpp"

namespace encore::classify {

std::vector<Measure> measures() {
  const std::vector<std::string> f1 = {"correct", "predicted", "truth"};
  std::vector<Measure> measures = {{.name = "accuracy",
                                    .help = "share of the texts with the right label",
                                    .fraction = true,
                                    .reducer = Reducer::ratio,
                                    .columns = {"correct", "truth"}},
                                   {.name = "f1_macro",
                                    .title = "macro F1",
                                    .help = "mean of the F1 of each label",
                                    .fraction = true,
                                    .reducer = Reducer::macro_harmonic_mean,
                                    .columns = f1},
                                   {.name = "mcc",
                                    .title = "MCC",
                                    .help = "Matthews' correlation of true and predicted labels, in [-1, 1]",
                                    .reducer = Reducer::matthews,
                                    .columns = {"confusion"}}};
  std::ranges::move(tasks::measures_of_labels(), std::back_inserter(measures));
  measures.push_back({.name = "confusion",
                      .help = "texts by their label, true and predicted",
                      .better = Better::neither,
                      .reducer = Reducer::matrix,
                      .columns = {"confusion"}});
  return measures;
}

void measure_text(std::string_view truth, std::string_view predicted, Statistics& statistics) {
  statistics.begin_example();
  statistics.add("truth", 1, truth);
  statistics.add("predicted", 1, predicted);
  statistics.add("correct", truth == predicted ? 1 : 0, truth);
  statistics.add("confusion", 1, truth, predicted);
}

}  // namespace encore::classify

// Names of columns are literals here and nowhere else.
#include "measures.hpp"

#include <string>

namespace encore::classify {

std::vector<Measure> measures() {
  const std::vector<std::string> f1 = {"correct", "predicted", "truth"};
  return {{.name = "accuracy",
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
           .columns = {"confusion"}},
          {.name = "f1/{label}",
           .title = "F1",
           .help = "of one label",
           .fraction = true,
           .reducer = Reducer::harmonic_mean,
           .columns = f1,
           .always = false},
          {.name = "precision/{label}",
           .help = "share of the texts given one label that have it",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "predicted"},
           .always = false},
          {.name = "recall/{label}",
           .help = "share of the texts with one label that are given it",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"correct", "truth"},
           .always = false},
          {.name = "confusion",
           .help = "texts by their label, true and predicted",
           .better = Better::neither,
           .reducer = Reducer::matrix,
           .columns = {"confusion"}}};
}

void measure_text(std::string_view truth, std::string_view predicted, Statistics& statistics) {
  statistics.begin_example();
  statistics.add("truth", 1, truth);
  statistics.add("predicted", 1, predicted);
  statistics.add("correct", truth == predicted ? 1 : 0, truth);
  statistics.add("confusion", 1, truth, predicted);
}

}  // namespace encore::classify

// The list, with what is shown of each.
#include "base/host_measures.hpp"

namespace encore {

const Measure& loss_measure() {
  static const Measure loss = {
      .name = "loss", .help = "mean loss of what is predicted", .better = Better::lower};
  return loss;
}

const std::vector<Measure>& training_measures() {
  static const std::vector<Measure> measures = {
      loss_measure(),
      {.name = "learning_rate",
       .title = "learning rate",
       .help = "as the schedule has it",
       .better = Better::neither},
      {.name = "gradient_norm",
       .title = "gradient norm",
       .help = "of all parameters, before it is limited",
       .better = Better::neither},
      {.name = "tokens_per_second",
       .title = "tokens per second",
       .unit = "tokens/s",
       .better = Better::neither},
      {.name = "step_seconds", .title = "seconds per step", .unit = "s", .better = Better::neither},
  };
  return measures;
}

}  // namespace encore

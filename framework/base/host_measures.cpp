// SPDX-License-Identifier: BSD-3-Clause
// The list of measures that every training has: loss, learning rate, speed. Names are stored in databases and
// never change; titles and help may. Read measures.hpp first.
#include "base/measures.hpp"

namespace encore {

const Measure& loss_measure() {
  static const Measure loss = {
      .name = "loss", .help = "mean loss of the predictions", .better = Better::lower};
  return loss;
}

const std::vector<Measure>& training_measures() {
  static const std::vector<Measure> measures = {
      loss_measure(),
      {.name = "learning_rate",
       .title = "learning rate",
       .help = "factor of the schedule times optimizer.learning_rate",
       .better = Better::neither},
      {.name = "gradient_norm",
       .title = "gradient norm",
       .help = "norm of all gradients, before clipping",
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

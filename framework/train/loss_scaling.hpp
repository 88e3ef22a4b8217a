// LossScaling: how the factor on the loss changes in a run (Micikevicius et al. 2018, Mixed Precision
// Training, section 3.2). In 16 bits small gradients are 0, which a factor on the loss prevents; where it is
// too large gradients become infinite. So it falls at once and rises slowly. All of it depends on gradients
// alone and stands in Progress, so that a resumed run goes on with equal bits. Place in the flow:
// trainer.cpp.
#pragma once

#include "config/experiment.hpp"
#include "record/progress.hpp"

namespace encore {

class LossScaling {
 public:
  explicit LossScaling(const TrainTable& train)
      : first_(train.loss_scale), steps_to_rise_(train.loss_scale_steps) {}

  /// Gives a run that begins its first factor.
  void begin(Progress& progress) const {
    if (first_ > 0.0) progress.loss_scale = LossScale{.factor = first_};
  }
  /// That of the next step; 1 where there is none.
  static double factor(const Progress& progress) {
    return progress.loss_scale ? progress.loss_scale->factor : 1.0;
  }
  /// Which of its updates a step makes, from 1: the steps before it that made none do not count.
  static std::int64_t update_number(const Progress& progress, std::int64_t step) {
    return step - (progress.loss_scale ? progress.loss_scale->left_out : 0);
  }
  /// After a step with an update. True where the factor has risen.
  bool updated(Progress& progress) const;
  /// After a step whose gradients are not finite, which makes no update: a smaller factor. False where there
  /// is none: such gradients come from elsewhere.
  static bool overflowed(Progress& progress);

 private:
  double first_;
  std::int64_t steps_to_rise_;
};

}  // namespace encore

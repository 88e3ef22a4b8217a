// See training_step.hpp.
#include "train/training_step.hpp"

#include <cmath>

#include <encore/kernels.hpp>

#include "record/crash_line.hpp"

namespace encore {

TrainingStep::TrainingStep(Model& model, Optimizer& optimizer, double clip_norm,
                           const std::string& optimizer_owner)
    : model_(model),
      optimizer_(optimizer),
      clip_norm_(clip_norm),
      update_text_(work_text("update", "", optimizer_owner)),
      clipping_("encore::clipping", 2 * sizeof(double)),
      squares_(reinterpret_cast<double*>(clipping_.data())),
      clip_(squares_ + 1) {}

TrainingStep::Gradient TrainingStep::compute_gradient(const DeviceBatch& batch, StepRandom random) {
  const Device& device = model_.device();
  const double* loss = model_.forward_backward(batch, batch.scales(), random);
  model_.parameters().sum_gradient_squares(squares_);
  kernels::clip_scale(device, squares_, clip_norm_, clip_);
  return {model_.read(loss), std::sqrt(model_.read(squares_))};
}

void TrainingStep::update(double learning_rate, std::int64_t step) {
  const CurrentWork work(update_text_.c_str());
  optimizer_.update(model_.device(), model_.parameters().blocks(clip_), learning_rate, step);
  model_.device().fence();
}

}  // namespace encore

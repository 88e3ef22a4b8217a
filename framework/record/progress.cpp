// SPDX-License-Identifier: BSD-3-Clause
// Converts Progress to the text in the metadata of a checkpoint, and back. train/ calls it. Old checkpoints
// must stay readable, so members keep their names and new ones are optional. Read progress.hpp first.
#include "record/progress.hpp"

#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace encore::record {

static void list(auto& field, A<LossScale> auto& scale) {
  field("factor", scale.factor);
  field("steps", scale.steps);
  field("left_out", scale.left_out);
}

static void list(auto& field, A<Progress> auto& progress) {
  field("step", progress.step);
  field("epoch", progress.epoch);
  field("batch", progress.batch);
  field("best_step", progress.best_step);
  field("epochs_without_better", progress.epochs_without_better);
  field("improved_in_epoch", progress.improved_in_epoch);
  field.optional("best_value", progress.best_value);
  field.optional("best_loss", progress.best_loss);
  field.optional("lowest_loss", progress.lowest_loss);
  field.optional("loss_scale", progress.loss_scale);
}

std::string progress_to_text(const Progress& progress) {
  return to_json_object(progress).dump();
}

Progress progress_from_text(const std::string& text) {
  try {
    return from_json_object<Progress>(parse_json(text));
  } catch (const Error& error) {
    throw Error(std::string("the checkpoint's progress cannot be read: ") + error.what());
  }
}

}  // namespace encore::record

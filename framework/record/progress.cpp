// SPDX-License-Identifier: BSD-3-Clause
// Progress: writes it as text into the metadata of a checkpoint, and reads it back. train/ calls it. Old
// checkpoints must stay readable, so members keep their names and new ones are optional. Read progress.hpp
// first.
#include "record/progress.hpp"

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore {

std::string progress_to_text(const Progress& progress) {
  nlohmann::json json = {{"step", progress.step},
                         {"epoch", progress.epoch},
                         {"batch", progress.batch},
                         {"best_step", progress.best_step},
                         {"epochs_without_better", progress.epochs_without_better},
                         {"improved_in_epoch", progress.improved_in_epoch}};
  if (progress.best_value) json["best_value"] = *progress.best_value;
  if (progress.best_loss) json["best_loss"] = *progress.best_loss;
  if (progress.lowest_loss) json["lowest_loss"] = *progress.lowest_loss;
  if (const auto& scale = progress.loss_scale)
    json["loss_scale"] = {{"factor", scale->factor}, {"steps", scale->steps}, {"left_out", scale->left_out}};
  return json.dump();
}

Progress progress_from_text(const std::string& text) {
  try {
    const nlohmann::json json = parse_json(text);
    Progress progress;
    json.at("step").get_to(progress.step);
    json.at("epoch").get_to(progress.epoch);
    json.at("batch").get_to(progress.batch);
    json.at("best_step").get_to(progress.best_step);
    json.at("epochs_without_better").get_to(progress.epochs_without_better);
    json.at("improved_in_epoch").get_to(progress.improved_in_epoch);
    const auto read = [&](const char* name, std::optional<double>& to) {
      if (json.contains(name)) to = json.at(name).get<double>();
    };
    read("best_value", progress.best_value);
    read("best_loss", progress.best_loss);
    read("lowest_loss", progress.lowest_loss);
    if (json.contains("loss_scale")) {
      const nlohmann::json& scale = json.at("loss_scale");
      progress.loss_scale = LossScale{scale.at("factor").get<double>(), scale.at("steps").get<std::int64_t>(),
                                      scale.at("left_out").get<std::int64_t>()};
    }
    return progress;
  } catch (const std::exception& error) {
    throw Error(std::string("the checkpoint's progress cannot be read: ") + error.what());
  }
}

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Implements parent_weights.hpp: fills the parameters of a new model from the weights file of the run that it
// starts from (model.from). The Trainer calls it at step 0. The rules for missing and unused tensors are
// those of pretrained_weights.cpp; keep both equal. Read parent_weights.hpp first.
#include "infer/parent_weights.hpp"

#include <algorithm>

#include <encore/error.hpp>

#include "base/load_file.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "model/load_parameters.hpp"
#include "record/weights_file.hpp"

namespace encore::infer {

bool is_of_run(const std::filesystem::path& path) {
  return path.filename() == record::weights_file;
}

PretrainedWeights load_parent(model::Model& model, const std::filesystem::path& weights, int threads) {
  const record::WeightsFile file(weights.parent_path());
  file.require_whole(threads);
  const model::NamedTensors& tensors = file.tensors().tensors();
  const auto names = [&](const std::string& path) -> std::vector<model::SourceRows> {
    if (!tensors.contains(path)) return {};
    const bool fits = tensors.at(path).shape == model.parameters().find(path).spec.shape;
    return fits || !is_of_head(path) ? model::same_name(path) : std::vector<model::SourceRows>{};
  };
  return tasks::with_file(weights, [&] {
    const model::Loaded loaded = model::load(model.device(), model.parameters(), model.parameters().values(),
                                             tensors, names, model::SourceTypes::floats);
    for (const std::string& path : loaded.missing)
      if (!is_of_head(path) && !model.parameters().find(path).factor)
        throw Error("it lacks parameter \"" + path + "\" of the model");
    for (const std::string& name : loaded.left)
      if (!is_of_head(name))
        throw Error("it holds \"" + name + "\", which a model of this shape does not have");
    model.parameters().values_changed();
    return PretrainedWeights{.fresh = loaded.missing,
                             .note = pretrained_note("step " + std::to_string(file.facts().step) + " of " +
                                                         weights.parent_path().filename().string(),
                                                     loaded.taken.size(), loaded.missing, loaded.left)};
  });
}

void require_classes_of_parent(const record::Specification& specification,
                               const config::Experiment& experiment, const plugin_host::Registry& registry,
                               const Task& task) {
  const auto from = specification.data.find(record::pretrained_role);
  if (experiment.train.retrains.empty() || from == specification.data.end() || !is_of_run(from->second.path))
    return;
  const std::filesystem::path file = std::filesystem::path(from->second.path).parent_path() / knowledge_file;
  const tasks::TaskParts parent = make_task_parts(experiment, registry);
  tasks::with_file(file, [&] { parent.task->restore(load_text(file, "list of labels")); });
  const std::vector<std::string> before = parent.task->labels(), now = task.labels();
  if (before == now) return;
  std::vector<std::string> added;
  for (const std::string& label : now)
    if (std::ranges::find(before, label) == before.end()) added.push_back(label);
  throw config::ConfigError(
      "data.more",
      (added.empty() ? "the training set lacks classes"
                     : "the examples have the class" + std::string(added.size() > 1 ? "es " : " ") +
                           quoted_list(added) + ", which do not exist in those") +
          " of run " + experiment.train.retrains +
          ", whose weights training starts from; leave such examples out, or train from scratch "
          "(exp retrain --from-scratch)");
}

std::filesystem::path parent_vocabulary(const std::filesystem::path& weights) {
  const std::filesystem::path file = weights.parent_path() / vocabulary_file;
  const record::WeightsFile facts(weights.parent_path());
  const auto known = facts.facts().files.find(vocabulary_file);
  if (known == facts.facts().files.end() || sha256_of_file(file) != known->second)
    throw Error(file.string() + " is not the vocabulary with which " + record::weights_file +
                " beside it was written; put the file back");
  return file;
}

}  // namespace encore::infer

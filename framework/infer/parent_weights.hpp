// ParentWeights: the parameters of a new model from the weights of the run that it starts from. Place in the
// flow: as pretrained_weights.hpp, which does this for a folder from elsewhere; here the names are our own.
#pragma once

#include <filesystem>

#include "infer/pretrained_weights.hpp"
#include "infer/setup.hpp"
#include "model/model.hpp"

namespace encore {

/// Whether `path`, which model.from names, is the weights file of a run and not a folder.
bool is_of_run(const std::filesystem::path& path);

/// Fills the parameters of `model` from a run's weights file, after comparing the digest of each tensor. All
/// of embedding and stacks must be there, fit, and be of use; of the head is taken what has the same name and
/// shape. Throws Error naming the file, and the parameter or the tensor that does not fit.
PretrainedWeights load_parent(Model& model, const std::filesystem::path& weights, int threads);

/// Throws ConfigError where a run that retrains another one, and starts from the weights of a run, would tell
/// other classes apart than these weights do: rows of the head would have other meanings. The task knows its
/// training set.
void require_classes_of_parent(const Specification& specification, const Experiment& experiment,
                               const Registry& registry, const Task& task);

/// The tokens of the run's tokenizer, beside its weights. Throws Error where they are not the ones that the
/// weights were written with.
std::filesystem::path parent_vocabulary(const std::filesystem::path& weights);

}  // namespace encore

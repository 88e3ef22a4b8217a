// SPDX-License-Identifier: BSD-3-Clause
// Fills the parameters of a new model from the weights of its parent, the run that it starts from
// (model.from). Place in the flow: the Trainer calls load_parent() at step 0, or load_pretrained() of
// pretrained_weights.hpp for a Hugging Face folder. Here the tensors have Encore's own names. The rules for
// missing and unused tensors are those of pretrained_weights.hpp; keep both equal.
#pragma once

#include <filesystem>

#include "infer/pretrained_weights.hpp"
#include "infer/setup.hpp"
#include "model/model.hpp"

namespace encore::infer {

/// Returns whether `path`, which model.from names, is the weights file of a run and not a folder.
bool is_of_run(const std::filesystem::path& path);

/// Fills the parameters of `model` from a run's weights file, after comparing the digest of each tensor. All
/// of embedding and stacks must be there, fit, and be used; tensors of the head with the same name and
/// shape are taken. Throws Error naming the file, and the parameter or the tensor that does not fit.
PretrainedWeights load_parent(model::Model& model, const std::filesystem::path& weights, int threads);

/// Throws ConfigError if a run that retrains another one, and starts from the weights of a run, has other
/// classes than these weights: rows of the head would have other meanings. The task must have read its
/// training set.
void require_classes_of_parent(const record::Specification& specification,
                               const config::Experiment& experiment, const plugin_host::Registry& registry,
                               const Task& task);

/// Returns the path of the parent's vocabulary, which lies beside its weights. Throws Error if its tokens
/// differ from those with which the weights were written.
std::filesystem::path parent_vocabulary(const std::filesystem::path& weights);

}  // namespace encore::infer

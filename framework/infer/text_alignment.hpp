// SPDX-License-Identifier: BSD-3-Clause
// Finds which tokens of a text and of its translation belong together: the mean of the cross-attention of all
// layers and heads in the row that predicts a token. The row that reads the token is better in deeper models
// (Chen et al. 2020), but in a model of two layers it belongs to the next word. apply/asked_run.cpp calls it
// for steps that put tags of a text into its translation. Each pair has a pass of its own, so its weights do
// not depend on others.
#pragma once

#include <string>
#include <vector>

#include <encore/generates_text.hpp>

#include "infer/engine.hpp"

namespace encore::infer {

/// Returns the alignment of each source with its target. Both strings are cut as data.max_length demands;
/// tokens that were cut are left out. Throws Error if the model is not one of strings and targets.
std::vector<TextAlignment> align_texts(Engine& engine, const std::vector<std::string>& sources,
                                       const std::vector<std::string>& targets);

}  // namespace encore::infer

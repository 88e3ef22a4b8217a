// SPDX-License-Identifier: BSD-3-Clause
// Loads the teacher: the run from whose class scores another run, the student, learns ([distil] teacher). The
// worker that trains the student uses it for forward passes. The two must agree in everything that gives a
// score its meaning: tokens, labels, rows. Place in the flow: train/session.cpp and the worker's check; what
// happens with the scores is in Model::learn_from and kernels::distillation_loss.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infer/engine.hpp"

namespace encore {

/// The run that `[distil] teacher` names, as it was planned; null if the experiment has none. Throws
/// ConfigError if it cannot be loaded or has changed since.
std::unique_ptr<Engine> load_teacher(const Specification& student, const Device& device);

/// Throws ConfigError naming the first difference between the teacher's tokenizer and the student's, of which
/// `lines` are what its vocabulary file holds; none of them: its vocabulary is not trained yet.
void require_same_tokens(const Engine& teacher, const TokenizerTable& table,
                         std::span<const std::string> lines);

/// Throws ConfigError naming the first difference between the names of the classes.
void require_same_labels(const Engine& teacher, const std::vector<std::string>& labels);

/// Calls Model::learn_from; throws ConfigError if the two models do not fit.
void learn_from(Model& student, Engine& teacher);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Teacher: the run from whose class scores another one learns ([distil] teacher), loaded for forward passes
// by the worker that trains the student. The two must agree in everything that gives a score its meaning:
// tokens, labels, rows. Place in the flow: train/session.cpp and the worker's check; Model::learn_from and
// kernels::distillation_loss use the scores.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infer/engine.hpp"

namespace encore::infer {

/// Loads the run that `[distil] teacher` names, as it was planned; null if the experiment has none. Throws
/// ConfigError if it cannot be loaded or has changed since.
std::unique_ptr<Engine> load_teacher(const record::Specification& student, const Device& device);

/// Throws ConfigError naming the first difference between the teacher's tokenizer and the student's. `lines`:
/// the student's vocabulary file; empty: its vocabulary is not trained yet.
void require_same_tokens(const Engine& teacher, const config::TokenizerTable& table,
                         std::span<const std::string> lines);

/// Throws ConfigError naming the first difference between the names of the classes.
void require_same_labels(const Engine& teacher, const std::vector<std::string>& labels);

/// Calls Model::learn_from; throws ConfigError if the two models do not fit.
void learn_from(model::Model& student, Engine& teacher);

}  // namespace encore::infer

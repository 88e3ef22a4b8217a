// SPDX-License-Identifier: BSD-3-Clause
// load_teacher() and the functions that compare a teacher with its student. The teacher is the run that
// `[distil] teacher` names; the student learns from its class scores. Both must agree in everything that
// gives a score its meaning: tokens, labels, rows. train/session.cpp calls the functions before a training,
// and worker/check_verb.cpp before the first run of a plan. Read next: Model::learn_from (model/model.hpp).
// A new rule may refuse more teachers; no existing rule may be dropped.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infer/engine.hpp"

namespace encore::infer {

/// Loads the run that `[distil] teacher` names; returns null if the experiment names none. Throws ConfigError
/// if the run cannot be loaded, or if its weights are not those that the plan recorded.
std::unique_ptr<Engine> load_teacher(const record::Specification& student, const Device& device);

/// Throws ConfigError with the first difference between the tokenizers of teacher and student. `table`: the
/// student's tokenizer. `lines`: the lines of the student's vocabulary file; if there are none, the
/// vocabulary is not trained yet, and only the options are compared.
void require_same_tokens(const Engine& teacher, const config::TokenizerTable& table,
                         std::span<const std::string> lines);

/// Throws ConfigError with the first difference between the classes of the teacher and `labels`, those of the
/// student.
void require_same_labels(const Engine& teacher, const std::vector<std::string>& labels);

/// Connects the student to the teacher by Model::learn_from. No training step happens here. Throws
/// ConfigError if the two models do not fit. The teacher must outlive the student.
void learn_from(model::Model& student, Engine& teacher);

}  // namespace encore::infer

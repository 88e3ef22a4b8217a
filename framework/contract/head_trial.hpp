// SPDX-License-Identifier: BSD-3-Clause
// make_head_trial() makes the Trial (trial.hpp) of a head, whose columns and targets follow from its
// declarations. trial.cpp calls it for the contract suite, onnx_check.cpp and layer_checks.cpp ask the other
// functions what a head takes. A trial may give a head only what encore/head.hpp promises.
#pragma once

#include <memory>

#include "contract/trial.hpp"

namespace encore::contract {

/// Makes a trial of a head, as make_trial() of trial.hpp does.
std::unique_ptr<Trial> make_head_trial(const Device& device, const Offer& offer, const Options& options,
                                       const TrialSetup& setup, double smoothing);

/// Returns the head alone, as make_head_trial() makes it. Throws the error of the head about a task with such
/// targets.
std::unique_ptr<Head> make_trial_head(const Offer& offer, const Options& options, std::int64_t width,
                                      Space targets);

/// Returns whether a layer or head accepts such a setup: a head may want its targets over another space.
/// Throws the error of the head about a task whose targets it cannot take.
bool takes_targets(const Device& device, const Offer& offer, const Options& options, const TrialSetup& setup);
/// Returns whether the offer is a head that reads the weights of targets if a task has them.
bool takes_weights(const Device& device, const Offer& offer, const Options& options, TrialSetup setup);

/// Returns whether the offer learns from a teacher if the experiment has one: a head, or a layer with
/// relations.
bool takes_teacher(const Device& device, const Offer& offer, const Options& options, TrialSetup setup);

}  // namespace encore::contract

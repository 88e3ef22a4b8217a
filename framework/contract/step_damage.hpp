// SPDX-License-Identifier: BSD-3-Clause
// Checks what a step does with data that it cannot use: a development set without records, knowledge that was
// damaged, files of its fit that have changed. step_checks.cpp calls them. A step must throw encore::Error,
// as encore/step.hpp demands, or succeed where that is allowed.
#pragma once

#include <cstddef>
#include <string>

#include "contract/step_samples.hpp"

namespace encore::contract {

/// Fits on data that may not suffice. Throws Error if the step throws something else than encore::Error.
void require_refusals(const StepTrial& trial);

/// Throws Error unless restore() refuses every damaged form of `known`, which knowledge() wrote. Returns the
/// number of these forms.
std::size_t require_damage_refused(const StepTrial& trial, const std::string& known);

/// Changes each file that fit() made in the folder of the trial, one after another. Throws Error unless
/// restore() or apply() notices each change.
void require_changed_files_refused(const StepTrial& trial, const std::string& known);

}  // namespace encore::contract

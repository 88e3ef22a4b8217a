// SPDX-License-Identifier: BSD-3-Clause
// The checks of steps of applications (encore/step.hpp). suite.cpp adds them to each step of a plugin.
// Plugins of other authors must pass them, so a check may demand only what encore/step.hpp promises. Read
// next: step_samples.hpp, which makes the records.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "contract/step_samples.hpp"
#include "contract/suite.hpp"

namespace encore::contract {

/// Returns the checks of a step, on records that the suite makes or, for the fields of a reader, on those of
/// the author's file. The offer must outlive the list.
std::vector<Check> step_checks(const Offer& offer, const CheckData& data);

// What a step does with data that it cannot use (step_damage.cpp): it must throw encore::Error, as
// encore/step.hpp demands, or succeed where that is allowed.

/// Fits on data that may not suffice. Throws Error if the step throws something else than encore::Error.
void require_refusals(const StepTrial& trial);

/// Throws Error unless restore() refuses every damaged form of `known`, which knowledge() wrote. Returns the
/// number of these forms.
std::size_t require_damage_refused(const StepTrial& trial, const std::string& known);

/// Changes each file that fit() made in the folder of the trial, one after another. Throws Error unless
/// restore() or apply() notices each change.
void require_changed_files_refused(const StepTrial& trial, const std::string& known);

}  // namespace encore::contract

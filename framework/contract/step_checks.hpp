// SPDX-License-Identifier: BSD-3-Clause
// The checks of steps of applications (encore/step.hpp). suite.cpp adds them to each step of a plugin.
// Plugins of other authors must pass them, so a check may demand only what encore/step.hpp promises. Read
// next: step_samples.hpp, which makes the records.
#pragma once

#include <vector>

#include "contract/suite.hpp"

namespace encore::contract {

/// Returns the checks of a step, on records that the suite makes or, for the fields of a reader, on those of
/// the author's file. The offer must outlive the list.
std::vector<Check> step_checks(const Offer& offer, const CheckData& data);

}  // namespace encore::contract

// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the checks of steps that ask a step and compare its answers bit by bit. step_checks.cpp calls
// them. They demand of an answer only what encore/step.hpp promises. Read next: step_samples.hpp, which makes
// the records.
#pragma once

#include <string>

#include <encore/step.hpp>

namespace encore::contract {

/// A line for people; it is not a field of fields().gives.
inline constexpr const char* shown_field = "shown";

/// Returns the answers of the step. Throws Error unless there is one for each record.
Records answers_to(AppStep& step, const Records& records);

/// Throws Error unless the answers have the declared fields, finite numbers, and the type that the names
/// `shown` and `vector` stand for.
void require_given(const Records& given, const StepFields& fields);

/// Throws Error unless both have equal bits in all fields. `how` completes the sentence "record 3, asked
/// again, gets another value".
void require_same_answers(const Records& given, const Records& others, const std::string& how);

/// Throws Error unless each record gets the answer in `given` also alone and in another order.
void require_alone(AppStep& step, const Records& asked, const Records& given);

}  // namespace encore::contract

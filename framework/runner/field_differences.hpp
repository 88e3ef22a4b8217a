// SPDX-License-Identifier: BSD-3-Clause
// differing_fields(): finds the fields in which two JSON objects differ, such as the numeric environments of
// a run and of its verification. verifier.cpp stores the result and `exp verify` prints it. The form is
// stored, so its members do not change.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace encore::runner {

/// Returns [{"field", "run", "verification"}], with a dot before the members of an object ("plugins.adam");
/// null if a side lacks the field.
nlohmann::json differing_fields(const nlohmann::json& run, const nlohmann::json& verification);

}  // namespace encore::runner

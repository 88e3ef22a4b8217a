// SPDX-License-Identifier: BSD-3-Clause
// take_parent() and take_teacher(): find the weights of the run that another one starts from or learns from.
// Callers: app/parent_runs.hpp when it plans; Runner again before it begins a run, since the parent may have
// been trained meanwhile. The worker reads the weights at step 0 (infer/parent_weights.hpp). What the events
// record of the weights is stored, so its members do not change.
#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"

namespace encore::runner {

/// Returns the run that a specification starts or learns from; none if it needs none. Throws Error if that
/// run is not in the database.
std::optional<store::RunRow> parent_of(store::Store& store, const record::Specification& specification,
                                       store::Need need = store::Need::start);

/// Returns the weights file of a completed run, with the recorded digest. Throws Error that says why there is
/// none.
record::DataFile weights_of(store::Store& store, const store::RunRow& run);

/// Gives the specification the weights to start from: those of its folder if the run resumes from a
/// checkpoint (`from_start`: it does not), else those that its parent has now. Returns what the attempt
/// should record of it, null if it reads no weights of a run. Throws Error that says why it cannot begin.
nlohmann::json take_parent(store::Store& store, record::Specification& specification, bool from_start);

/// Does the same for the weights to learn from, which every attempt reads.
nlohmann::json take_teacher(store::Store& store, record::Specification& specification, bool from_start);

/// Finds the present files of the runs that it needs, for a run that was planned when the database was
/// elsewhere.
void find_parent_files(store::Store& store, const store::RunRow& run, record::Specification& specification);

}  // namespace encore::runner

// The weights of the run that another one starts or learns from: where they are, and which. Place in the
// flow: app/parent_runs.hpp asks when it plans, Runner before it begins a run, since the parent may have been
// trained meanwhile. The worker reads them at step 0 (infer/parent_weights.hpp).
#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"

namespace encore {

/// The run that a specification starts or learns from; none where it needs none. Throws Error where that run
/// is not in the database.
std::optional<RunRow> parent_of(Store& store, const Specification& specification, Need need = Need::start);

/// The weights file of a completed run, with the digest that was recorded. Throws Error that says why there
/// is none.
DataFile weights_of(Store& store, const RunRow& run);

/// Gives the specification the weights to start from: those that its folder says where the run goes on from a
/// checkpoint (`from_start`: it does not), else those that its parent has now. Returns what the attempt
/// should record of it, null where it reads no weights of a run. Throws Error that says why it cannot begin.
nlohmann::json take_parent(Store& store, Specification& specification, bool from_start);

/// The same of the weights to learn from, which every attempt reads.
nlohmann::json take_teacher(Store& store, Specification& specification, bool from_start);

/// Says where the files of the runs that it needs lie now, of a run that was planned when the database lay
/// elsewhere.
void find_parent_files(Store& store, const RunRow& run, Specification& specification);

}  // namespace encore

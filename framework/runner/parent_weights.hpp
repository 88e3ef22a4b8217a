// SPDX-License-Identifier: BSD-3-Clause
// Finds the weights of the runs that a run starts from, learns from or calls in its steps. Planners in app/
// call weights_of() and linked_run(); Runner and SlurmRunner call take_weights() before an attempt, since
// the parent may have been trained meanwhile; verifications call find_parent_files(). The worker reads the
// weights at step 0 (infer/parent_weights.hpp). The table of the specification that names such a run is also
// the role of its weights in `data`. The events about weights are stored, so their members do not change.
#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"

namespace encore::runner {

/// Returns the run that a table of the specification names (record::run_links). Throws Error if that run is
/// not in the database.
store::RunRow linked_run(store::Store& store, const record::Specification& specification,
                         const std::string& table);

/// Returns the weights file of a completed run, with the recorded digest. Throws Error that says why there is
/// none.
record::DataFile weights_of(store::Store& store, const store::RunRow& run);

/// What an attempt records of weights that it reads: an event of the store, with its body.
struct TakenWeights {
  const char* event = "";
  nlohmann::json body;
};

/// Gives the specification the weights of the runs that it needs. A run that resumes from a checkpoint
/// (`from_start`: it does not) keeps those of its folder; the others are those that these runs have now.
/// Returns what the attempt should record: nothing of weights that it does not read. Throws Error that says
/// why it cannot begin.
std::vector<TakenWeights> take_weights(store::Store& store, record::Specification& specification,
                                       bool from_start);

/// Finds the present files of the runs that it needs, for a run that was planned when the database was
/// elsewhere.
void find_parent_files(store::Store& store, const store::RunRow& run, record::Specification& specification);

}  // namespace encore::runner

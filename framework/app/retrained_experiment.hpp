// SPDX-License-Identifier: BSD-3-Clause
// retrained_text(): the experiment of a run with more data, as the text of an experiment file;
// held_out_share() and added_files() return the options that an earlier `exp retrain` has added. The text has
// the settings of the run's file, base files, overrides and sweep; defaults are left out, so that they count
// as defaults again. retrain.cpp calls it and plans the text as `exp run` plans a file. The text decides the
// identity of the new run: after a change, old retrainings are not found again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore::app {

/// What the new run has in place of the old run's settings.
struct RetrainWishes {
  std::string name;               ///< of the new run
  std::vector<std::string> with;  ///< absolute paths
  double held_out = 0.0;          ///< data.held_out; 0: none
  bool from_scratch = false;      ///< do not start from the run's weights
  std::map<std::string, std::string> models =
      {};                                     ///< of an application: the run's id for each step that asks
  std::vector<std::string> plugin_path = {};  ///< absolute; empty: no such line
};

/// Returns data.held_out of a run; 0: none.
double held_out_share(const record::Specification& specification);
/// Returns the files of its data.more.
std::vector<std::string> added_files(const record::Specification& specification);

/// Returns the experiment file. `specification` is that of `run`, the parent. Throws Error if the new run
/// should start where the parent did, and that run is no longer in the database.
std::string retrained_text(store::Store& store, const store::RunRow& run,
                           const record::Specification& specification, const RetrainWishes& wishes);

}  // namespace encore::app

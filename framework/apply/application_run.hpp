// SPDX-License-Identifier: BSD-3-Clause
// ApplicationRun is the run of an experiment with [app]: it reads the sets, fits the steps on a share of the
// development set, measures them on the rest and on the test set, and writes what predict, compare and verify
// read. worker/train_verb.cpp uses it in place of Session and Trainer. It has no checkpoints: an interrupted
// run starts again. Digests of the steps' knowledge and answers are stored, so their order must not change.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <encore/device.hpp>

#include "apply/application.hpp"
#include "tasks/set_files.hpp"
#include "train/control.hpp"
#include "train/observer.hpp"
#include "train/snapshots.hpp"

namespace encore::apply {

class ApplicationRun {
 public:
  /// Loads the models and reads the sets. Throws Error if a file is no longer the planned one, or a set lacks
  /// a field that a step reads.
  ApplicationRun(record::Specification specification, std::filesystem::path run_folder, std::int64_t attempt,
                 const Device& device);

  const Application& application() const { return application_; }
  /// Returns the records of a set; null if the run has none.
  const Records* records(data::Split split) const;
  /// Returns how often each label occurs in a set; empty unless the steps' truth is one text per record.
  std::map<std::string, std::int64_t> labels(data::Split split) const;

  /// Fits, measures, writes the files, and reports all of it and the end of the run.
  record::Ending conclude(train::Observer& observer, train::Control& control);

 private:
  class Watch;

  void fit(train::Observer& observer, const Watch& watch);
  void report_files_of_steps(train::Observer& observer) const;
  record::MeasuredValues measure(data::Split split, const Records& records, train::Observer& observer,
                                 train::Control& control, const Watch& watch);
  void name_shared_sets(train::Observer& observer) const;
  std::set<std::string> own_files(data::Split split) const;

  std::filesystem::path run_folder_;
  Application application_;
  tasks::RecordSets sets_;
  std::vector<std::string> notes_;   ///< about the new examples, for the log
  Records fitted_on_, measured_on_;  ///< the shares of the development set
  train::Snapshots snapshots_;
};

}  // namespace encore::apply

// SPDX-License-Identifier: BSD-3-Clause
// compare_record(): compares a complete verification with the record of the run, beyond digests and scores:
// values of training that do not depend on the clock, the meaning of each metric, facts about data and model,
// the result, and the files of the run. It finds bundles in which these were forged together with their
// spool. verifier.cpp calls it last, for `exp verify` of a bundle. A new record of a run should be compared
// here too, unless the clock or the machine decides it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "store/store.hpp"

namespace encore::runner {

struct RecordDifference {
  std::string
      what;  ///< "train/loss", "the meaning of dev/f1", "its result: best_step", "predictions/test.jsonl"
  std::int64_t step = 0;          ///< of a value or a checkpoint; else the run's last
  std::string run, verification;  ///< both values; empty: missing
};

/// How many records were compared, by kind, and how many of them differ.
struct RecordComparison {
  std::size_t values = 0, meanings = 0, facts = 0, files = 0;
  std::size_t different = 0;
  std::optional<RecordDifference> first;
};

/// `run_folder` is that of the run, with files that were compared with the list of its bundle. `verification`
/// is the folder in which the whole run was trained again. A file that the run's folder lacks is not
/// compared, and what an attempt of an earlier version did not report is not a difference.
RecordComparison compare_record(store::Store& store, const store::RunRow& run,
                                const std::filesystem::path& run_folder,
                                const std::filesystem::path& verification);

/// Returns whether the clock or the machine decides the values of a metric, so that no training repeats them.
bool measures_machine(const Metric& metric);

}  // namespace encore::runner

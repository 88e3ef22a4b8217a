// SPDX-License-Identifier: BSD-3-Clause
// make_report() makes a Document of the record of a run, a sweep or all runs. It contains what the record
// has, and equal databases give equal documents: times are those that were recorded, in UTC. Place in the
// flow: `exp report` calls it and passes the document to a writer (document/). Read next: report_data.hpp
// (the data), then sections.hpp (one file per section).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/document.hpp"
#include "store/selection.hpp"

namespace encore::report {

struct ReportOptions {
  store::RunSelection runs = {};  ///< empty: every run
  std::string metric =
      {};  ///< split/measure; empty: the measure that selects checkpoints, on test if it is there
  /// The old side of a comparison: a word that selects runs (store/selection.hpp), or a date "2026-11-01"
  /// (UTC). With a date the runs that ended before it are the old side, the others the new one. Empty: no
  /// comparison.
  std::string against = {};
  bool pool = false;            ///< as in analysis::CompareOptions
  std::size_t most_rows = 100;  ///< of a table with a row per run or candidate; 0: all
  bool brief = false;           ///< two pages: abstract, one table, one picture, how to repeat it
  /// The only sections of the report, by the names of report_sections(): "results", "data", "abstract".
  /// Empty: all.
  std::vector<std::string> sections = {};
  std::vector<std::string> without = {};  ///< sections that are left out
};

/// Throws UnknownRun if no run is selected, and Error for a metric that none of the runs has, an invalid
/// date, and an unknown section.
document::Document make_report(store::Store& store, const ReportOptions& options);

/// Returns every name that `sections` and `without` accept.
const std::vector<std::string>& report_sections();

}  // namespace encore::report

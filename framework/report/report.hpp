// A report: what the database knows of a run, a sweep or everything, as a Document. Nothing in it is typed by
// hand, and equal databases give equal documents: times are those that were recorded, in UTC. Place in the
// flow: `exp report` asks here and hands the document to a writer (document/). Read next: material.hpp (what
// is read), then one file per section.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/document.hpp"
#include "store/selection.hpp"

namespace encore {

struct ReportOptions {
  RunSelection runs = {};   ///< which; where it says nothing, every run
  std::string metric = {};  ///< split/measure; empty: test/f1, else what selects checkpoints
  /// The other side of a comparison: runs by a word of store/selection.hpp, or a date "2026-11-01" (UTC):
  /// then the runs that were finished before it are the old side, the others the new one.
  std::string against = {};
  std::size_t most_rows = 100;  ///< of a table with a row per run or candidate; 0: all
};

/// Throws UnknownRun where no run is meant, and Error for a metric that none of the runs has or a date that
/// is none.
Document make_report(Store& store, const ReportOptions& options);

}  // namespace encore

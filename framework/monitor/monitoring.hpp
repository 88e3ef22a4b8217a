// SPDX-License-Identifier: BSD-3-Clause
// monitor() describes the inputs that a run's model has answered: how they differ from the reference (the
// development set, as the worker counted it), whether that is more than chance (shift_test.hpp), how many
// answers were right, and how fast they came. `exp monitor` (cli/monitor_verb.cpp) and report/service.cpp
// read the inputs from the database (store/served.hpp), call it and print the result. json_of() is the output
// of `exp monitor --json`, so a field keeps its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/statistics.hpp"
#include "monitor/shift_measures.hpp"
#include "record/text_reference.hpp"
#include "store/served.hpp"

namespace encore::monitor {

struct MonitorOptions {
  std::size_t window = 1000;  ///< the last N inputs are described; the test counts all of them
  double alpha = 0.001;       ///< largest probability of a false alarm, however often the test is read
};

/// How one measure of the inputs, such as their length, differs from the reference.
struct MeasuredShift {
  std::string name = {};
  std::optional<double> reference = {}, live = {};  ///< means over inputs; nothing if they are not meaningful
  ShiftMeasures shift = {};
  double log10_evidence = 0.0;  ///< the largest capital of the bets on this measure alone, which began at 1
};

/// The share that a label has of all labels in the answers.
struct LabelShares {
  std::string label = {};
  double reference = 0.0, live = 0.0;
};

/// The result of monitor(). `measures`, `labels`, `verdicts` and the seconds are about the described inputs;
/// the test (all fields of the capital) counts every input.
struct Monitoring {
  std::string source = {};  ///< which set the reference was counted from
  std::int64_t reference_texts = 0;
  std::int64_t texts = 0, window = 0;  ///< all inputs that were kept, and those that are described
  double first = 0.0, last = 0.0;  ///< when the first and the last input were answered, in seconds since 1970
  std::vector<MeasuredShift> measures = {};
  std::vector<LabelShares> labels = {};
  double alpha = 0.0;
  double log10_evidence = 0.0;             ///< the largest capital of all bets together, which began at 1
  double log10_evidence_now = 0.0;         ///< their capital now
  std::vector<double> log10_path = {};     ///< their capital after each input
  std::optional<std::int64_t> alarm = {};  ///< number of inputs after which the capital was 1 / alpha
  store::ServedVerdicts verdicts = {};     ///< of the described inputs with feedback
  double seconds_median = 0.0, seconds_95 = 0.0, seconds_99 = 0.0;

  bool alert() const { return alarm.has_value(); }
};

/// Tests and describes the inputs `texts`, which must be all inputs of the run in the order of
/// store::read_served(). `verdicts` is the feedback of users on the last of them (store::read_verdicts).
Monitoring monitor(const record::TextReference& reference, const std::vector<store::ServedText>& texts,
                   const store::ServedVerdicts& verdicts, const MonitorOptions& options);

/// Returns the interval of the true share of right answers at 95 % (analysis::share_interval); [0, 1] without
/// feedback.
analysis::Interval interval_of(const store::ServedVerdicts& verdicts);

nlohmann::ordered_json json_of(const Monitoring& monitoring);

}  // namespace encore::monitor

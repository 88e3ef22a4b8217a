// SPDX-License-Identifier: BSD-3-Clause
// RunDisplay: shows a run of `exp run` while it trains: one live line on a terminal, beside those of other
// runs, or lines with a time elsewhere. Each dev score has a line in both cases. session_screen.cpp and
// verify_verb.cpp make one for each run; the runner calls it with the worker's events, from the session's
// thread. No program reads the lines, so their words may change, together with the tests and pages that quote
// them. A kind of event (record/events.hpp) without a show() is not shown.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/metric.hpp"
#include "cli/console.hpp"
#include "runner/run_observer.hpp"

namespace encore::cli {

class RunDisplay final : public runner::RunObserver {
 public:
  /// Shows one run. `title` stands in front of the live line: the run's name, with "2/8" in a sweep. `key`
  /// orders it among the others. `quiet` leaves only notices. `selected` is the metric that chooses
  /// checkpoints, shown first.
  RunDisplay(std::string title, Console& console, LiveLines& lines, int key, bool quiet,
             std::string selected = {});
  ~RunDisplay() override;

  void happened(const record::Event& event) override;
  void defined(const Metric& metric) override;
  void stepped(std::int64_t step, double loss) override;
  void silent(const runner::Inactivity& inactivity) override;
  void noticed(const std::string& text) override;

  /// Prints a line above the live line, unless the display is quiet.
  void say(const std::string& text);

 private:
  void show(const record::Started& started);
  void show(const record::Progressed& progress);
  void show(const record::Evaluated& scores);
  void show(const record::Logged& line);
  /// Prints a line above the live line, or with the time where there is none, even if the display is quiet.
  void print(const std::string& text);

  std::string title_;
  Console& console_;
  LiveLines& lines_;
  int key_;
  bool quiet_;
  std::string selected_;
  std::vector<Metric> metrics_;  ///< in the order of their definition
  std::chrono::steady_clock::time_point last_plain_line_;
  record::Progressed progress_;  ///< the newest
  double loss_sum_ = 0.0;        ///< of the steps since the last scores
  std::int64_t loss_count_ = 0;
  bool silent_ = false;
};

/// Returns "step 120/600  epoch 2  loss 0.412  12.3k tokens/s  lr 0.00048  34 s left".
std::string progress_text(const record::Progressed& progress);
/// Returns, for example, "warning: two sentences were cut"; an ordinary line has only its text.
std::string log_text(const record::Logged& line);
/// Returns "no step for 40 s, usually 0.02 s", or "no step yet, 80 s after its start".
std::string inactivity_text(const runner::Inactivity& inactivity);
/// Adds a metric or replaces its meaning.
void define(std::vector<Metric>& metrics, const Metric& metric);
/// Returns "dev F1 54.32 precision 60.11 loss 0.312": the measure of `selected` first, then the others in the
/// order of `metrics`, without those of single labels, for the first split with scores.
std::string measures_text(const record::MeasuredValues& measures, std::vector<Metric> metrics,
                          const std::string& selected);

}  // namespace encore::cli

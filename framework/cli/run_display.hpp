// RunDisplay: what `exp run` shows of a run while it trains: one live line on a terminal, among those of the
// runs beside it; time-stamped lines elsewhere; and a line for each dev score everywhere.
#pragma once

#include <chrono>
#include <string>

#include "cli/terminal.hpp"
#include "runner/run_observer.hpp"

namespace encore {

class RunDisplay final : public RunObserver {
 public:
  /// `title` stands in front of the live line: the run's name, with "2/8" in a sweep. `key` orders it among
  /// the others. `quiet` leaves only notices.
  RunDisplay(std::string title, LiveLines& lines, int key, bool quiet);
  ~RunDisplay() override;

  void started(const nlohmann::json& description) override;
  void progressed(const Progress& progress) override;
  void measured(const Scores& scores) override;
  void logged(const std::string& level, const std::string& text) override;
  void silent(const Silence& silence) override;
  void noticed(const std::string& text) override;

  /// A line of the caller's own, above the live line.
  void say(const std::string& text);

 private:
  void print(const std::string& text);

  std::string title_;
  LiveLines& lines_;
  int key_;
  bool quiet_;
  std::chrono::steady_clock::time_point last_plain_line_;
  Progress progress_;  ///< the newest
  bool silent_ = false;
};

/// "step 120/600  epoch 2  loss 0.412  12.3k tokens/s  lr 0.00048  34 s left"
std::string progress_text(const Progress& progress);
/// "no step for 40 s, usually 0.02 s"; "no step yet, 80 s after its start"
std::string silence_text(const Silence& silence);
/// "dev F1 54.32  precision 60.11  recall 49.50  loss 0.312": what is there of it, for the first split that
/// has scores.
std::string measures_text(const Measures& measures);

}  // namespace encore

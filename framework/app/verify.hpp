// SPDX-License-Identifier: BSD-3-Clause
// verify_runs(): trains runs again, compares digests bit by bit, and stores the verdicts; verify_search()
// makes every decision of a search again. cli/verify_verb.cpp calls them and prints the verdicts; for a
// bundle, exp-report unpacks it first (cli/bundle_verify.cpp). "Equal" is the promise of the project: no
// comparison may be weakened. Read next: runner/verifier.hpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "app/run_ranks.hpp"
#include "plan/search/decide.hpp"
#include "runner/verifier.hpp"
#include "store/searches.hpp"

namespace encore::app {

struct VerifyRequest {
  /// Steps of the training; not given: all, from the start, no kill.
  std::optional<std::int64_t> steps, from_checkpoint, kill_at;
  bool scores = false;                 ///< train to the end and compare every score
  int threads = 0;                     ///< 0: all CPUs of this process
  std::optional<std::string> backend;  ///< not given: that of the run
  RankRequest ranks;
  std::vector<std::string> plugin_path;  ///< instead of the folders of the training
  bool keep = false;                     ///< keep the folder of the new training
  // The members below are only for bundles.
  std::vector<std::string> data;      ///< folders with the data of the bundle
  std::optional<std::string> report;  ///< HTML file to write
  bool build = false;                 ///< build the recorded commit and verify with it
  std::optional<std::string> clone;   ///< of Encore, for `build`
  bool with_diff = false;             ///< apply the recorded changes, which are code of the bundle's author

  bool json = false, quiet = false;
  SelectionRequest selection;

  /// Returns whether the first word is a bundle: NAME.tar.zst.
  bool names_bundle() const;
};

/// The ending by which verify, serve and bundle recognize a bundle.
inline constexpr const char* bundle_ending = ".tar.zst";

Form<VerifyRequest> verify_form();

/// The reports of a verification. Called from its own thread.
class VerifyEvents {
 public:
  virtual ~VerifyEvents() = default;
  /// Called when the verification of a run begins. The returned observer receives the worker's events until
  /// `judged`.
  virtual runner::RunObserver& verifies(const store::RunRow& run, const runner::Verifier& verifier) = 0;
  /// Called when the verification of a run ends. `outcome` has a verdict or was interrupted.
  virtual void judged(const store::RunRow& run, const runner::VerificationOutcome& outcome) = 0;
};

enum class VerificationEnd { equal, different, interrupted };

/// Replaces the paths in the specification of a run by those on this machine.
using PlaceFiles = std::function<void(const store::RunRow& run, record::Specification& specification)>;

/// Verifies the selected runs. Throws Error for a problem of any run before the first is trained, WorkError
/// later.
VerificationEnd verify_runs(const VerifyRequest& request, const App& app, VerifyEvents& events,
                            store::Store& store, const std::vector<store::RunRow>& runs,
                            const PlaceFiles& place = {});

/// The result of making every decision of a search again from its observations.
struct SearchVerdict {
  std::size_t decisions = 0, observations = 0;      ///< numbers in the record of the search
  std::optional<std::size_t> first_different = {};  ///< counts from 0
  std::string stored = {}, recomputed = {};         ///< the stored and the new decision
  std::size_t seen = 0;                             ///< observations before this decision
  std::string changed_observation = {};             ///< the first that differs from its runs' current values

  bool equal() const { return !first_different && changed_observation.empty(); }
};
SearchVerdict verify_search(store::Store& store, const store::SearchRow& row);

}  // namespace encore::app

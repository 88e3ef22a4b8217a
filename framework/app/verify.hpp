// SPDX-License-Identifier: BSD-3-Clause
// verify: trains runs again, compares digests bit by bit, and stores the verdicts. For a search, it makes
// every decision again. cli/verify_verb.cpp prints the verdicts; for a bundle, exp-report unpacks it first
// (cli/bundle_verify.cpp).
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
  std::optional<std::int64_t> steps, from_checkpoint, kill_at;
  bool scores = false;
  int threads = 0;
  std::optional<std::string> backend;
  RankRequest ranks;
  std::vector<std::string> plugin_path;
  bool keep = false;
  // The members below are only for bundles.
  std::vector<std::string> data;
  std::optional<std::string> report;
  bool build = false;
  std::optional<std::string> clone;
  bool with_diff = false;

  bool json = false, quiet = false;
  SelectionRequest selection;

  /// Returns whether the first word is a bundle: NAME.tar.zst.
  bool names_bundle() const;
};

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
  std::size_t decisions = 0, observations = 0;
  std::optional<std::size_t> first_different = {};  ///< counts from 0
  std::string stored = {}, recomputed = {};         ///< the stored and the new decision
  std::size_t seen = 0;                             ///< observations before this decision
  std::string changed_observation = {};             ///< the first that differs from its runs' current values

  bool equal() const { return !first_different && changed_observation.empty(); }
};
SearchVerdict verify_search(store::Store& store, const store::SearchRow& row);

}  // namespace encore::app

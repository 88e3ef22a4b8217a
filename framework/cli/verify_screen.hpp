// SPDX-License-Identifier: BSD-3-Clause
// VerifyScreen: prints verifications while they run, and their verdicts, for stored runs (verify_verb.cpp)
// and for a bundle (bundle_verify.cpp). verdict_text() and verdict_details(): a verdict as text, from the
// stored JSON of any version; show_text.cpp prints the first line of it. Programs read the JSON of verdicts,
// so its members never change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/verify.hpp"
#include "cli/console.hpp"
#include "cli/run_display.hpp"
#include "store/store.hpp"

namespace encore::cli {

class VerifyScreen final : public app::VerifyEvents {
 public:
  VerifyScreen(const app::VerifyRequest& request, Console& console);

  runner::RunObserver& verifies(const store::RunRow& run, const runner::Verifier& verifier) override;
  void judged(const store::RunRow& run, const runner::VerificationOutcome& outcome) override;

  /// Verifies the runs and prints the verdicts. With --json it prints a list of them, or only the verdict
  /// itself if the user asked for `one` run. Returns the exit code.
  int run(const app::App& app, store::Store& store, const std::vector<store::RunRow>& runs, bool one,
          const app::PlaceFiles& place = {});

 private:
  const app::VerifyRequest& request_;
  Console& console_;
  LiveLines lines_;
  std::unique_ptr<RunDisplay> display_;
  std::vector<nlohmann::ordered_json> verdicts_;
};

/// Makes the decisions of a search again and prints the verdict. Returns the exit code.
int write_search_verdict(Console& console, store::Store& store, const store::SearchRow& row, bool json);

// --- verdicts as text (verdict_text.cpp) ---

/// Returns "equal: 77 digests of steps 0 to 20 agree (2 threads)", "different from step 5 on, first in
/// head.bias", ...
std::string verdict_text(const store::VerificationRow& verification);
/// Returns the lines below verdict_text(): digests, fields of the environment, distances; empty for an equal
/// verdict.
std::string verdict_details(const store::VerificationRow& verification);

}  // namespace encore::cli

// VerifyScreen: prints verifications while they run, and their verdicts, for stored runs (verify_verb.cpp)
// and for a bundle (bundle_verify.cpp).
#pragma once

#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/verify.hpp"
#include "cli/console.hpp"
#include "cli/run_display.hpp"

namespace encore {

class VerifyScreen final : public VerifyEvents {
 public:
  VerifyScreen(const VerifyRequest& request, Console& console);

  RunObserver& verifies(const RunRow& run, const Verifier& verifier) override;
  void judged(const RunRow& run, const VerificationOutcome& outcome) override;

  /// Verifies the runs and writes the verdicts, as JSON a list unless `one` was asked for. Returns the exit
  /// code.
  int run(const App& app, Store& store, const std::vector<RunRow>& runs, bool one,
          const PlaceFiles& place = {});

 private:
  const VerifyRequest& request_;
  Console& console_;
  LiveLines lines_;
  std::unique_ptr<RunDisplay> display_;
  std::vector<nlohmann::ordered_json> verdicts_;
};

/// Makes the decisions of a search again and prints the verdict. Returns the exit code.
int write_search_verdict(Console& console, Store& store, const SearchRow& row, bool json);

}  // namespace encore

// verify: trains runs again and compares digests bit by bit; the verdicts go into the store. Of a search
// every decision is made again. Of a bundle exp-report unpacks it first (cli/bundle_verify.cpp).
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

namespace encore {

struct VerifyRequest {
  std::optional<std::int64_t> steps, from_checkpoint, kill_at;
  bool scores = false;
  int threads = 0;
  std::optional<std::string> backend;
  RankRequest ranks;
  std::vector<std::string> plugin_path;
  bool keep = false;
  // Of a bundle alone.
  std::vector<std::string> data;
  std::optional<std::string> report;
  bool build = false;
  std::optional<std::string> clone;
  bool with_diff = false;

  bool json = false, quiet = false;
  SelectionRequest selection;

  /// Whether the first word is a bundle: NAME.tar.zst.
  bool names_bundle() const;
};

inline constexpr const char* bundle_ending = ".tar.zst";

Form<VerifyRequest> verify_form();

/// What a verification reports. Called from its own thread.
class VerifyEvents {
 public:
  virtual ~VerifyEvents() = default;
  /// The verification of a run begins; the answer learns what the worker does, until `judged`.
  virtual RunObserver& verifies(const RunRow& run, const Verifier& verifier) = 0;
  /// `outcome` has a verdict, or was interrupted.
  virtual void judged(const RunRow& run, const VerificationOutcome& outcome) = 0;
};

enum class VerificationEnd { equal, different, interrupted };

/// Says, in the specification of a run, where on this machine its files are.
using PlaceFiles = std::function<void(const RunRow& run, Specification& specification)>;

/// What is wrong with one of the runs is said, as an Error, before the first is trained. Throws WorkError
/// later.
VerificationEnd verify_runs(const VerifyRequest& request, const App& app, VerifyEvents& events, Store& store,
                            const std::vector<RunRow>& runs, const PlaceFiles& place = {});

/// Every decision of a search made again from what it had seen.
struct SearchVerdict {
  std::size_t decisions = 0, observations = 0;
  std::optional<std::size_t> first_different = {};  ///< counts from 0
  std::string stored = {}, recomputed = {};         ///< that decision, and what is decided now
  std::size_t seen = 0;                             ///< observations that it was made of
  std::string changed_observation = {};             ///< the first that is not what its runs answer now

  bool equal() const { return !first_different && changed_observation.empty(); }
};
SearchVerdict verify_search(Store& store, const SearchRow& row);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Verifier: trains a run's specification again, in a folder of its own, and compares every digest that the
// run has. It only reads the run, so that a verification cannot change what it verifies; the caller records
// the verdict. Place in the flow: cli/verify_verb.cpp and app/verify.cpp decide what is verified and how;
// this class starts the worker, follows its spool and judges. Read next: digest_comparison.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/digest_comparison.hpp"
#include "runner/run_observer.hpp"
#include "store/store.hpp"

namespace encore::runner {

struct VerificationTask {
  store::RunRow run;
  record::Specification specification;  ///< the run's, with the backend and plugin folders to verify with
  std::filesystem::path worker;         ///< the program
  int threads = 0;                      ///< of each rank; 0: the worker decides
  int ranks = 1;                        ///< as in WorkerPlace (worker_process.hpp)
  std::vector<std::string> rank_launcher = {};
  std::optional<std::int64_t> steps = {};            ///< only the first N steps
  std::optional<std::int64_t> from_checkpoint = {};  ///< of that step, instead of from the start
  std::optional<std::int64_t> kill_at = {};          ///< kill -9 after that step, then resume
  bool scores = false;  ///< train to the end, score dev and test as the run did, and compare that too
  /// With `scores`: take nothing from the run's folder but its settings, and compare all that it records.
  bool everything = false;
  bool keep = false;  ///< the folder stays
};

struct VerificationOutcome {
  bool interrupted = false;             ///< the user stopped it: there is no verdict
  store::VerificationRow verification;  ///< without interruption
  std::filesystem::path folder;         ///< where it was trained; removed unless asked to keep
};

class Verifier {
 public:
  /// Reads what the run has. Throws Error for a run that cannot be verified as asked: one that is running or
  /// has no digests in the range, data that changed, a checkpoint that is not kept.
  Verifier(store::Store& store, VerificationTask task, const std::atomic<int>& stop_requests);

  std::size_t digests() const { return comparison_.size(); }
  std::int64_t first_step() const { return comparison_.first_step(); }
  std::int64_t last_step() const { return comparison_.last_step(); }

  /// Trains and compares. Throws Error if the worker fails; the folder is then kept.
  VerificationOutcome run(RunObserver& observer);

 private:
  class Watch;
  /// The numeric environment of the first attempt that led to a step and differs from the verification's, and
  /// in which fields; of the last one where none differs.
  struct Environments {
    nlohmann::json run, differences;
  };
  enum class End : std::uint8_t { over, killed, stopped };

  void require_data() const;
  End train(const std::filesystem::path& folder, int attempt, bool dies, Watch& watch);
  /// Returns the steps of which the run's folder has the parameters: in a checkpoint, or in the weights file.
  std::set<std::int64_t> kept_steps() const;
  /// Returns the first of these steps at or after a difference, as far as the verification trains.
  std::optional<std::int64_t> distance_step(std::int64_t difference) const;
  void judge(const std::filesystem::path& folder, const Watch& watch,
             store::VerificationRow& verification) const;
  Environments compare_environments(const nlohmann::json& verification, int last_attempt) const;
  void compare_scores_of(const std::filesystem::path& folder, const nlohmann::json& differing_fields,
                         store::VerificationRow& verification) const;
  void compare_record_of(const std::filesystem::path& folder, const nlohmann::json& differing_fields,
                         store::VerificationRow& verification) const;
  void describe_drift(const std::filesystem::path& folder, store::VerificationRow& verification) const;

  store::Store& store_;
  const VerificationTask task_;
  const std::atomic<int>& stop_requests_;
  std::vector<store::AttemptRow> attempts_;
  std::vector<store::CheckpointRow> checkpoints_;  ///< on disk, one a step
  std::optional<std::int64_t> weights_step_;       ///< of the weights file in the run's folder
  DigestComparison comparison_;
};

/// Returns the fields in which two JSON objects differ, such as the numeric environments of a run and of its
/// verification: [{"field", "run", "verification"}], with a dot before the members of an object
/// ("plugins.adam"); null if a side lacks the field. The result is stored and printed, so its members keep
/// their names. (field_differences.cpp)
nlohmann::json differing_fields(const nlohmann::json& run, const nlohmann::json& verification);

}  // namespace encore::runner

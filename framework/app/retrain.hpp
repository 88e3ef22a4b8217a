// retrain: a run once more, on its data and on new data, and whether it takes the place of the one it came
// from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/promotion_rule.hpp"
#include "app/retraining_comparison.hpp"
#include "app/run_selection.hpp"
#include "app/run_session.hpp"

namespace encore {

struct RetrainRequest {
  std::string run;
  std::vector<std::string> with;      ///< files with new examples
  std::vector<std::string> new_test;  ///< compare on these; none: on a share of the new examples
  std::optional<double> hold_out;     ///< that share
  bool from_scratch = false;
  std::string promote_if = default_promotion_rule;
  std::optional<std::string> measure, name;
  std::vector<std::string> set;  ///< key=value
  std::optional<std::string> seed;
  bool dry_run = false;
  bool json = false;
  BackendRequest backend;
  SessionRequest session;
  SelectionRequest selection;
};

Form<RetrainRequest> retrain_form();

/// What would be done.
struct RetrainPlan {
  std::string run;  ///< name of the new run
  Action action = Action::start;
  bool from_scratch = false;
  std::vector<std::string> with;
  double held_out = 0.0;
  NewTest test;
  Metric measure;
  std::string rule;
};

struct RetrainResult {
  RunRow parent;
  RetrainPlan plan;
  std::optional<SessionResult> session = {};  ///< of this call's training
  /// Both where the run is complete and was compared.
  std::optional<RunRow> run = {};
  std::optional<Retraining> retraining = {};
  std::string state = {};  ///< of a run that is not complete: "interrupted", "not there"
};

/// What a retraining reports beside its session: it begins.
class RetrainEvents : public SessionEvents {
 public:
  virtual void retrains(const std::string& run, const RunRow& parent, bool from_scratch) = 0;
};

RetrainResult retrain(const RetrainRequest& request, const App& app, RetrainEvents& events);

}  // namespace encore

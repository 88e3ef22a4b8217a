// SPDX-License-Identifier: BSD-3-Clause
// retrain(): trains a run again on its data and new data, compares it with its parent, and decides by a rule
// whether the new run is promoted, that is whether it replaces its parent wherever --promoted selects runs.
// cli/retrain_verb.cpp calls it and prints plan and result; store/lineage.hpp stores parent, comparison and
// promotion. The rule of promotion and the order of the steps are documented for users and must stay; printed
// words may change. Read next: retrain.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/promotion_rule.hpp"
#include "app/retraining_comparison.hpp"
#include "app/run_selection.hpp"
#include "app/run_session.hpp"

namespace encore::app {

struct RetrainRequest {
  std::string run;                    ///< the first argument: a word that selects the parent
  std::vector<std::string> with;      ///< files with new examples
  std::vector<std::string> new_test;  ///< compare on these; empty: on a share of the new examples
  std::optional<double> hold_out;     ///< that share
  bool from_scratch = false;          ///< do not start from the parent's weights
  std::string promote_if = analysis::default_promotion_rule;  ///< the rule (analysis/promotion_rule.hpp)
  std::optional<std::string> measure, name;  ///< not given: that of the parent; made of its name
  std::vector<std::string> set;              ///< key=value
  std::optional<std::string> seed;
  bool dry_run = false;  ///< return the plan only
  bool json = false, csv = false;
  BackendRequest backend;
  SessionRequest session;
  SelectionRequest selection;
};

Form<RetrainRequest> retrain_form();

/// The plan of a retraining.
struct RetrainPlan {
  std::string run;                ///< name of the new run
  Action action = Action::start;  ///< of the new run, as in `exp plan`
  bool from_scratch = false;
  std::vector<std::string> with;         ///< files with new examples
  double held_out = 0.0;                 ///< share of the new examples that is not trained on
  NewTest test;                          ///< examples on which both runs are scored now
  Metric measure;                        ///< by which both runs are compared
  std::string rule;                      ///< decides about the promotion, as the user gave it
  std::vector<RetrainPlan> models = {};  ///< of an application: the models that are retrained before it
};

/// What `exp retrain` did. With --dry-run only parent and plan are set.
struct RetrainResult {
  store::RunRow parent;  ///< the old run
  RetrainPlan plan;
  std::optional<SessionResult> session = {};  ///< the training of this call
  /// Both are set if the run is complete and was compared.
  std::optional<store::RunRow> run = {};
  std::optional<analysis::Retraining> retraining = {};
  std::string state = {};  ///< state of an unfinished run: "interrupted", "not there"
};

/// Receives the events of the session of a retraining, and before them its beginning.
class RetrainEvents : public SessionEvents {
 public:
  /// Called when the new run `run` is planned, before its session begins.
  virtual void retrains(const std::string& run, const store::RunRow& parent, bool from_scratch) = 0;
};

/// Of an application, the models that its steps ask are retrained first.
/// Trains the new run unless it is complete, compares it unless that comparison is stored, and stores the
/// result. Throws ConfigErrors, UsageError and Error before anything is started, WorkError later.
RetrainResult retrain(const RetrainRequest& request, const App& app, RetrainEvents& events);

}  // namespace encore::app

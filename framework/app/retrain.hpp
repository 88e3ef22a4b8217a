// SPDX-License-Identifier: BSD-3-Clause
// retrain: trains a run again on its data and new data, and decides whether the new run replaces it.
// cli/retrain_verb.cpp prints the plan and the result.
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
  std::string run;
  std::vector<std::string> with;      ///< files with new examples
  std::vector<std::string> new_test;  ///< compare on these; empty: on a share of the new examples
  std::optional<double> hold_out;     ///< that share
  bool from_scratch = false;
  std::string promote_if = analysis::default_promotion_rule;
  std::optional<std::string> measure, name;
  std::vector<std::string> set;  ///< key=value
  std::optional<std::string> seed;
  bool dry_run = false;
  bool json = false, csv = false;
  BackendRequest backend;
  SessionRequest session;
  SelectionRequest selection;
};

Form<RetrainRequest> retrain_form();

/// The plan of a retraining.
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
  store::RunRow parent;
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
  virtual void retrains(const std::string& run, const store::RunRow& parent, bool from_scratch) = 0;
};

RetrainResult retrain(const RetrainRequest& request, const App& app, RetrainEvents& events);

}  // namespace encore::app

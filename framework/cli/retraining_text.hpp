// What `exp retrain` prints: what it would do, and what came of it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/retraining_comparison.hpp"

namespace encore {

/// What --dry-run shows.
struct RetrainPlan {
  std::string run;  ///< name
  const RunRow* parent = nullptr;
  std::string action;  ///< start, resume, skip ...
  bool from_scratch = false;
  std::vector<std::string> with;
  double held_out = 0.0;
  const NewTest* test = nullptr;
  const Metric* measure = nullptr;
  std::string rule;
};

void print_plan(std::ostream& out, const RetrainPlan& plan);
nlohmann::ordered_json json_of(const RetrainPlan& plan);

/// A table of both sets, and the verdict.
void print_outcome(std::ostream& out, const RunRow& run, const RunRow& parent, const Retraining& retraining);
/// `trained`: by this call.
nlohmann::ordered_json outcome_json(const RunRow& run, const RunRow& parent, const Retraining& retraining,
                                    bool trained);

}  // namespace encore

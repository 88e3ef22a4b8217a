// SPDX-License-Identifier: BSD-3-Clause
// exp plan: prints what `exp run` would do, or with --size what its models cost. app/plan.cpp makes the plan,
// plan_text.hpp and plan_size.cpp print it; help_verb.cpp lists the verb. Programs read the JSON: members
// keep their names. Read next: app/plan.hpp.
#include "app/plan.hpp"

#include <nlohmann/json.hpp>

#include "cli/plan_text.hpp"
#include "cli/verbs.hpp"
#include "plan/search/search_plan.hpp"

namespace encore::cli {

namespace {

using plan::search::DecisionKind;

std::string line_of(const app::PlannedSearch& planned, const app::NextDecision& shown) {
  const std::string trial = "trial " + std::to_string(shown.decision.trial + 1);
  const std::string epochs = length_text(planned.plan->search().options.unit, shown.decision.epochs);
  switch (shown.decision.kind) {
    case DecisionKind::propose:
      return "propose  " + trial + ", " + epochs + ":  " + text_of(planned.space(), shown.trial) +
             (shown.problem.empty() ? ""
              : shown.excluded      ? "\n         " + shown.problem
                                    : "\n         cannot be trained: " + shown.problem);
    case DecisionKind::promote:
      return "promote  " + trial + " to " + epochs;
    case DecisionKind::prune:
      return "prune    " + trial + " after " + epochs;
    case DecisionKind::confirm:
      return "confirm  " + trial + " with " + std::to_string(shown.decision.limits.confirm_seeds) +
             " fresh seeds";
    case DecisionKind::wait:
    case DecisionKind::finish:
      break;
  }
  return "";
}

nlohmann::ordered_json json_of(const app::PlannedSearch& planned, const app::NextDecision& next) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < next.trial.point.size(); ++i)
    if (next.trial.active[i])
      values[planned.space()[i].key] = plan::search::value_text(planned.space()[i], next.trial.point[i]);
  return {{"kind", plan::search::name_of(next.decision.kind)},
          {"trial", next.decision.trial + 1},
          {"epochs", next.decision.epochs},
          {"point", values},
          {"problem", next.problem}};
}

void write_search(const app::SearchPreview& view, bool json, Console& console) {
  const app::PlannedSearch& planned = *view.planned;
  const auto trials = planned.plan->search().limits.trials;
  if (json) {
    nlohmann::ordered_json next = nlohmann::ordered_json::array();
    for (const app::NextDecision& decision : view.decisions) next.push_back(json_of(planned, decision));
    console.print({{"search", planned.row.name},
                   {"identity", planned.row.identity},
                   {"settings", planned.row.settings},
                   {"space", planned.row.space},
                   {"trials", trials},
                   {"begun", planned.record.trials.size()},
                   {"running", view.in_progress},
                   {"next", next}});
    return;
  }
  console.out << "search " << planned.row.name << " on " << planned.row.backend << ": "
              << planned.record.trials.size() << " of " << trials << " trials started"
              << (view.in_progress > 0 ? ", " + std::to_string(view.in_progress) + " to resume" : "") << '\n';
  if (view.decisions.empty() && view.in_progress == 0)
    console.out << "nothing to do: the search is complete\n";
  for (const app::NextDecision& decision : view.decisions) console.out << line_of(planned, decision) << '\n';
  if (!view.complete) console.out << "... until a trial ends; its result decides what follows\n";
}

int plan_verb(const app::PlanVerbRequest& request, app::App& app, Console& console) {
  if (request.size.size) {
    const std::vector<app::SizedModel> sizes = app::plan_sizes(request, app);
    if (request.json)
      console.print(to_json_object<nlohmann::ordered_json>(sizes));
    else
      print_sizes(console.out, console.terminal, sizes);
    return exit_done;
  }
  if (app::names_search(request.plan)) {
    if (request.csv) throw app::UsageError("--csv is not available for a search; use --json");
    write_search(app::plan_search(request, app), request.json, console);
    return exit_done;
  }
  const app::PlanView view = app::plan_runs(request, app);
  if (request.json)
    console.print(plan_json(view, request.values));
  else if (request.csv)
    print_plan_csv(console.out, view);
  else if (request.values)
    print_values(console.out, console.terminal, view);
  else
    print_plan(console.out, console.terminal, view);
  return exit_done;
}

}  // namespace

Verb plan_verb() {
  return make_verb("plan", "show what run would do", app::plan_form, plan_verb);
}

}  // namespace encore::cli

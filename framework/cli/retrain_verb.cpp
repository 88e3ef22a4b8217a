// SPDX-License-Identifier: BSD-3-Clause
// exp retrain: prints the plan of a retraining, its training (session_screen.hpp) and its result.
// app/retrain.cpp does the work; help_verb.cpp lists the verb. Scripts read exit code 4 (not promoted) and
// the JSON, so both stay.
#include <filesystem>
#include <iosfwd>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "analysis/comparison.hpp"
#include "app/retrain.hpp"
#include "cli/session_screen.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "config/value.hpp"
#include "document/escape.hpp"
#include "report/wording.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

Json name_json(const store::RunRow& run) {
  return {{"name", run.name}, {"id", run.id}};
}

void print_retrain_plan(std::ostream& out, const app::RetrainPlan& plan, const store::RunRow& parent) {
  std::vector<std::string> names;
  for (const std::string& file : plan.with) names.push_back(std::filesystem::path(file).filename().string());
  std::vector<std::string> models;
  for (const app::RetrainPlan& model : plan.models)
    models.push_back(model.run + " (" + app::name_of(model.action) + ")");
  out << plan.run << ": " << app::name_of(plan.action) << '\n'
      << "  retrains  " << parent.name << " (" << parent.id << ")"
      << (store::is_application(parent) ? ""
          : plan.from_scratch           ? ", from the start"
                                        : ", from its weights")
      << '\n';
  if (!models.empty()) out << "  asks      " << listed(models) << '\n';
  out << "  with      " << listed(names) << '\n'
      << "  old set   " << plan.measure.split() << " set of " << parent.name << '\n'
      << "  new set   " << plan.test.text() << '\n'
      << "  measure   " << plan.measure.measure_name() << '\n'
      << "  promoted  if " << plan.rule << '\n';
}

Json json_of(const app::RetrainPlan& plan, const store::RunRow& parent) {
  Json files = Json::array();
  for (const record::DataFile& file : plan.test.files) files.push_back(file.path);
  Json models = Json::array();
  for (const app::RetrainPlan& model : plan.models)
    models.push_back({{"run", model.run}, {"action", app::name_of(model.action)}});
  return {{"run", plan.run},
          {"parent", name_json(parent)},
          {"action", app::name_of(plan.action)},
          {"from_scratch", plan.from_scratch},
          {"with", plan.with},
          {"held_out", plan.held_out},
          {"new_test", files},
          {"measure", plan.measure.name},
          {"rule", plan.rule},
          {"models", models}};
}

void print_outcome(std::ostream& out, const Terminal& terminal, const store::RunRow& run,
                   const store::RunRow& parent, const analysis::Retraining& retraining) {
  const Metric& measure = retraining.measure;
  Table table(
      {{"SET"}, {"EXAMPLES", Align::right}, {"PARENT", Align::right}, {"RETRAINED", Align::right}, {"GAIN"}});
  for (const auto& [which, set] :
       {std::pair("old: ", &retraining.old_set), std::pair("new: ", &retraining.new_set)})
    table.add({which + set->what, thousands(static_cast<std::int64_t>(set->examples)),
               analysis::metric_text(measure, set->parent), analysis::metric_text(measure, set->run),
               analysis::gain_text(measure, *set)});
  out << measure.title() << " of " << run.name << " and of its parent " << parent.name << '\n';
  table.print(out, terminal, 2);
  out << "the rule " << retraining.rule << (retraining.promoted ? " holds: " : " does not hold: ") << run.name
      << (retraining.promoted ? " is promoted" : " is not promoted") << '\n';
}

void print_outcome_csv(std::ostream& out, const store::RunRow& run, const store::RunRow& parent,
                       const analysis::Retraining& retraining) {
  const auto number = [](const std::optional<double>& value) {
    return value ? config::shortest(*value) : "";
  };
  out << document::csv_record({"run", "parent", "measure", "set", "what", "examples", "parent_score",
                               "run_score", "gain", "gain_low", "gain_high"});
  for (const auto& [which, set] :
       {std::pair("old", &retraining.old_set), std::pair("new", &retraining.new_set)})
    out << document::csv_record({run.name, parent.name, retraining.measure.name, which, set->what,
                                 std::to_string(set->examples), number(set->parent), number(set->run),
                                 number(set->gain), number(set->low), number(set->high)});
}

Json outcome_json(const store::RunRow& run, const store::RunRow& parent,
                  const analysis::Retraining& retraining, bool trained) {
  return {{"run", run.name},
          {"id", run.id},
          {"parent", name_json(parent)},
          {"trained", trained},
          {"promoted", retraining.promoted},
          {"retraining", Json(analysis::json_of(retraining))}};
}

int retrain_verb(const app::RetrainRequest& request, app::App& app, Console& console) {
  // The answer is the comparison, not the list of runs.
  SessionScreen screen(console, request.session.quiet, request.json || request.csv, false);
  const app::RetrainResult result = app::retrain(request, app, screen);
  if (request.dry_run) {
    if (request.json)
      console.print(json_of(result.plan, result.parent));
    else
      print_retrain_plan(console.out, result.plan, result.parent);
    return exit_done;
  }
  if (!result.retraining) {
    const int code = result.session ? exit_code_of(app, *result.session) : exit_done;
    if (code != exit_done) return code;
    console.noticed(result.plan.run + " is " + result.state +
                    ", so it is not compared yet; run the same command to resume it");
    return exit_interrupted;
  }
  const store::RunRow& run = *result.run;
  const analysis::Retraining& retraining = *result.retraining;
  if (request.json) {
    console.print(outcome_json(run, result.parent, retraining, result.session.has_value()));
  } else if (request.csv) {
    print_outcome_csv(console.out, run, result.parent, retraining);
  } else {
    if (!result.session) console.out << run.name << " (" << run.id << ") is complete\n";
    print_outcome(console.out, console.terminal, run, result.parent, retraining);
    if (retraining.promoted)
      console.out << "  next      " << console.suggestion({"serve", result.parent.name, "--promoted"})
                  << '\n';
  }
  return retraining.promoted ? exit_done : exit_not_promoted;
}

}  // namespace

Verb retrain_verb() {
  return make_verb("retrain", "train a run again with more data, and promote it if it is better",
                   app::retrain_form, retrain_verb);
}

}  // namespace encore::cli

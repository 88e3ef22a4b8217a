// Plan and outcome as lines, a table, and JSON.
#include "cli/retraining_text.hpp"

#include <filesystem>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "cli/table.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

Json name_json(const RunRow& run) {
  return {{"name", run.name}, {"id", run.id}};
}

}  // namespace

void print_plan(std::ostream& out, const RetrainPlan& plan) {
  std::vector<std::string> names;
  for (const std::string& file : plan.with) names.push_back(std::filesystem::path(file).filename().string());
  out << plan.run << ": " << plan.action << '\n'
      << "  retrains  " << plan.parent->name << " (" << plan.parent->id << "), "
      << (plan.from_scratch ? "from the start" : "from its weights") << '\n'
      << "  with      " << listed(names) << '\n'
      << "  old set   " << plan.measure->split() << " set of " << plan.parent->name << '\n'
      << "  new set   " << plan.test->text() << '\n'
      << "  measure   " << plan.measure->measure_name() << '\n'
      << "  promoted  if " << plan.rule << '\n';
}

Json json_of(const RetrainPlan& plan) {
  Json files = Json::array();
  for (const DataFile& file : plan.test->files) files.push_back(file.path);
  return {{"run", plan.run},       {"parent", name_json(*plan.parent)},
          {"action", plan.action}, {"from_scratch", plan.from_scratch},
          {"with", plan.with},     {"held_out", plan.held_out},
          {"new_test", files},     {"measure", plan.measure->name},
          {"rule", plan.rule}};
}

void print_outcome(std::ostream& out, const RunRow& run, const RunRow& parent, const Retraining& retraining) {
  const Metric& measure = retraining.measure;
  Table table(
      {{"SET"}, {"EXAMPLES", Align::right}, {"PARENT", Align::right}, {"RETRAINED", Align::right}, {"GAIN"}});
  for (const auto& [which, set] :
       {std::pair("old: ", &retraining.old_set), std::pair("new: ", &retraining.new_set)})
    table.add({which + set->what, thousands(static_cast<std::int64_t>(set->examples)),
               metric_text(measure, set->parent), metric_text(measure, set->run), gain_text(measure, *set)});
  out << measure.title() << " of " << run.name << " and of its parent " << parent.name << '\n';
  table.print(out, terminal_of(stdout), 2);
  out << "the rule " << retraining.rule << (retraining.promoted ? " holds: " : " does not hold: ") << run.name
      << (retraining.promoted ? " is promoted" : " is not promoted") << '\n';
}

Json outcome_json(const RunRow& run, const RunRow& parent, const Retraining& retraining, bool trained) {
  return {{"run", run.name},
          {"id", run.id},
          {"parent", name_json(parent)},
          {"trained", trained},
          {"promoted", retraining.promoted},
          {"retraining", Json(json_of(retraining))}};
}

}  // namespace encore

// diff: where two runs differ, from their settings to the host they ran on, and how far their weights and
// losses have come apart.
#include <iostream>

#include <nlohmann/json.hpp>

#include "analysis/foreign_values.hpp"
#include "cli/access.hpp"
#include "cli/difference_text.hpp"
#include "cli/drift_text.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "runner/drift.hpp"

namespace encore {

namespace {

nlohmann::ordered_json json_of(const RunRow& run, const RunFacts& facts) {
  return {{"name", run.name},   {"id", run.id},         {"question", run.question},
          {"group", run.group}, {"repeat", run.repeat}, {"state", name_of(run.state)},
          {"told", facts.told}};
}

/// What only one of two runs can tell would all look like a difference.
void keep_question(Facts& facts) {
  std::erase_if(
      facts, [](const Field& field) { return field.section != "configuration" && field.section != "data"; });
}

std::string relation_of(const RunRow& a, const RunRow& b) {
  if (a.id == b.id) return "these are one and the same run";
  if (a.question == b.question && a.backend == b.backend) return "repeats of one run: the same question";
  if (a.question == b.question) return "the same question on two backends";
  if (a.group == b.group) return "the same but for the seed";
  return "two questions";
}

nlohmann::json drift_of(const CommandLine& line, Store& store, const RunRow& a, const RunRow& b) {
  const double tolerance = line.number("tolerance");
  return drift_json(step_drifts(store, a, b),
                    curve_drifts(loss_curves(store, a.number), loss_curves(store, b.number), tolerance),
                    tolerance);
}

/// Of two words each means one run, and both may mean the same; else two are meant in all.
std::pair<RunRow, RunRow> two_runs(const CommandLine& line, Store& store) {
  const RunSelection selection = selection_from(line);
  const std::vector<std::string>& words = selection.words;
  if (words.empty() && !selection.narrows()) line.require("run", "two runs");
  if (words.size() == 2)
    return {selected_run(line, store, selection_from(line, {words[0]})),
            selected_run(line, store, selection_from(line, {words[1]}))};
  std::vector<RunRow> runs = selected_runs(line, store, selection).runs;
  if (runs.size() != 2)
    throw UsageError(
        "exp diff needs two runs, and " +
        (runs.size() == 1 ? "this is one: " : "these are " + std::to_string(runs.size()) + ": ") +
        names_text(runs) + " (exp diff -h shows an example)");
  return {std::move(runs[0]), std::move(runs[1])};
}

int print_diff(const CommandLine& line, Store& store) {
  const auto [a, b] = two_runs(line, store);
  RunFacts facts_a = all_facts(store, a), facts_b = all_facts(store, b);
  const bool both_told = facts_a.told && facts_b.told;
  if (!both_told) {
    keep_question(facts_a.fields);
    keep_question(facts_b.fields);
  }
  const std::vector<Difference> found = differences(facts_a.fields, facts_b.fields);
  const nlohmann::json drift = line.flag("drift") ? drift_of(line, store, a, b) : nlohmann::json();
  if (line.flag("json")) {
    nlohmann::ordered_json object = {
        {"a", json_of(a, facts_a)}, {"b", json_of(b, facts_b)}, {"differences", differences_json(found)}};
    if (!drift.is_null()) object["drift"] = drift;
    std::cout << object.dump(2) << '\n';
    return exit_done;
  }
  std::cout << relation_of(a, b) << '\n';
  if (found.empty())
    std::cout << "nothing differs\n";
  else
    print_differences(std::cout, terminal_of(stdout), found, a.name, b.name);
  if (!both_told)
    std::cout << (facts_a.told ? b.name : a.name)
              << " has not begun, so only the settings and the data were compared\n";
  if (!drift.is_null()) print_drift(std::cout, terminal_of(stdout), drift);
  return exit_done;
}

}  // namespace

int diff_verb(const Arguments& arguments) {
  CommandLine line(
      "diff",
      {"diff RUN RUN [options]",
       "Where two runs differ: settings with the place each was written, content of the data, numeric "
       "environment, build, host, plugins and code of their last attempts. Only what differs is shown; paths "
       "are ignored, contents are compared. Of two arguments each means one run; a sweep or a pattern alone "
       "means two. With --drift also how far their weights are apart, by layer, at every step of which both "
       "have a checkpoint, and their curves of loss.",
       {{"exp diff quickstart quickstart", "nothing differs"},
        {"exp diff quickstart quickstart --drift", "two runs of one question on two backends, side by side"},
        {"exp diff quickstart all --best dev/f1", "how a run differs from the best one"},
        {"exp diff quickstart quickstart --json", "for a program, with whole hashes and patches"}}});
  line.options()("drift", boost::program_options::bool_switch(), "how far weights and losses are apart");
  line.options()(
      "tolerance",
      boost::program_options::value<double>()->value_name("X")->default_value(default_tolerance, "0.001"),
      "with --drift: name the step from which a loss differs by more, relative");
  line.options()("json", boost::program_options::bool_switch(), "as JSON");
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  if (!(line.number("tolerance") >= 0.0)) throw UsageError("--tolerance must be a number from 0 on");
  if (!line.defaulted("tolerance") && !line.flag("drift"))
    throw UsageError("--tolerance is of no use without --drift");
  Store store(line.database(), OpenMode::read);
  return reading_values_of(store, [&] { return print_diff(line, store); });
}

}  // namespace encore

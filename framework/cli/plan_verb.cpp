// plan: what run would do, without doing it; nothing is written.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/planned_runs.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

nlohmann::ordered_json json_of(const PlannedRuns& planned) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < planned.runs.size(); ++i) {
    const PlannedRun& run = planned.runs[i];
    nlohmann::ordered_json varied = nlohmann::ordered_json::object();
    for (const auto& [key, value] : planned.plan.points[i].varied) varied[key] = value;
    nlohmann::ordered_json changed = nlohmann::ordered_json::array();
    for (const PluginChange& change : run.changed_plugins) changed.emplace_back(change.json());
    runs.push_back({{"name", run.before ? run.before->name : run.specification.name},
                    {"action", name_of(run.action)},
                    {"id", run.before ? nlohmann::ordered_json(run.before->id) : nlohmann::ordered_json()},
                    {"question", run.specification.question},
                    {"group", run.specification.group},
                    {"seed", run.specification.seed},
                    {"varied", varied},
                    {"changed_plugins", changed},
                    {"other_build", run.other_build}});
  }
  return {{"name", planned.plan.name},
          {"file", planned.file.string()},
          {"backend", planned.backend},
          {"excluded", planned.plan.excluded},
          {"duplicates", planned.plan.duplicates},
          {"runs", runs}};
}

void print_table(const PlannedRuns& planned) {
  Table table({{"ACTION"}, {"NAME"}, {"ID"}, {"SEED", Align::right}, {"QUESTION"}});
  for (const PlannedRun& run : planned.runs)
    table.add({Cell(name_of(run.action), run.to_do() ? Style::green : Style::dim),
               run.before ? run.before->name : run.specification.name, run.before ? run.before->id : "-",
               std::to_string(run.specification.seed), run.specification.question.substr(0, 12)});
  table.print(std::cout, terminal_of(stdout));
  std::cout << '\n'
            << planned.to_do() << " of " << planned.runs.size() << " runs to do on " << planned.backend;
  if (planned.plan.excluded > 0) std::cout << ", " << planned.plan.excluded << " excluded";
  if (planned.plan.duplicates > 0)
    std::cout << ", " << planned.plan.duplicates << " asked the same as another";
  std::cout << '\n';
  for (const std::string& line : kept_though(planned)) std::cout << line << '\n';
  for (const PlannedRun& run : planned.runs)
    if (run.goes_on())
      for (const PluginChange& change : run.changed_plugins)
        std::cout << run.before->name << " goes on only with --accept-plugin-change: " << change.text()
                  << '\n';
}

}  // namespace

int plan_verb(const Arguments& arguments) {
  CommandLine line(
      "plan",
      {"plan FILE [-S key=value]... [options]",
       "Shows what exp run would do with an experiment file: every run with its identity, and whether it\n"
       "would be started, gone on with or skipped. Everything is checked, nothing is written.",
       {{"exp plan experiments/quickstart.toml", "the runs of the file, and what is left to do"}}});
  add_plan_options(line);
  line.options()("json", boost::program_options::bool_switch(), "as JSON");
  if (!line.parse(arguments)) return exit_done;

  PlannedRuns planned = read_plan(line);
  if (std::filesystem::exists(line.database())) {
    Store store(line.database(), OpenMode::read);
    compare_with(store, planned);
  }
  require_startable(planned);
  if (line.flag("json"))
    std::cout << json_of(planned).dump(2) << '\n';
  else
    print_table(planned);
  return exit_done;
}

}  // namespace encore

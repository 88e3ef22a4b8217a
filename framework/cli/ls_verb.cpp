// ls: the runs of the database with their scores, newest first.
#include <fnmatch.h>

#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/run_json.hpp"
#include "cli/verbs.hpp"
#include "config/nearest.hpp"

namespace encore {

namespace {

struct ListedRun {
  RunRow run;
  double seconds = 0.0;  ///< in which an attempt worked on it
};

std::vector<RunState> states_from(const std::vector<std::string>& names) {
  const std::vector<std::string> all = {"pending",     "running", "completed", "failed",
                                        "interrupted", "lost",    "stopped"};
  std::vector<RunState> states;
  for (const std::string& name : names) {
    const auto state = run_state_from(name);
    if (!state)
      throw UsageError("--state \"" + name + "\" is no state" +
                       did_you_mean(name, all, "; there are " + quoted_list(all)));
    states.push_back(*state);
  }
  return states;
}

/// Of all attempts, without the pauses between them.
double working_seconds(Store& store, std::int64_t run) {
  Statement& row =
      store.database().cached("SELECT sum(coalesce(finished, ?) - started) FROM attempt WHERE run = ?");
  row.with(now(), run).step();
  const double seconds = row.number(0);
  row.reset();
  return seconds;
}

struct ListedRuns {
  std::vector<ListedRun> runs;
  bool complete = true;  ///< there are no more
};

/// At most `limit` runs, the newest; 0: all.
ListedRuns select_runs(const CommandLine& line, Store& store, std::size_t limit) {
  RunFilter filter;
  filter.states = states_from(line.texts("state"));
  filter.tag = line.text("tag");
  filter.sweep = line.text("sweep");
  if (line.flag("removed")) filter.sight = Sight::removed;
  const std::string pattern = line.text("name");
  // A pattern is matched here, behind the query: then the query may not stop early. One more than asked for
  // tells that there are more.
  if (limit > 0 && pattern.empty()) filter.limit = static_cast<std::int64_t>(limit) + 1;
  ListedRuns listing;
  for (RunRow& run : store.list_runs(filter)) {
    if (!pattern.empty() && ::fnmatch(pattern.c_str(), run.name.c_str(), 0) != 0) continue;
    listing.complete = limit == 0 || listing.runs.size() < limit;
    if (!listing.complete) break;
    const double seconds = working_seconds(store, run.number);
    listing.runs.push_back({std::move(run), seconds});
  }
  return listing;
}

bool is_filtered(const CommandLine& line) {
  return line.has("state") || line.has("name") || line.has("tag") || line.has("sweep");
}

/// How many more there are is told where it costs next to nothing.
std::string more_text(const CommandLine& line, Store& store, std::size_t shown) {
  std::string text = "the newest " + std::to_string(shown);
  if (!is_filtered(line))
    text += " of " + std::to_string(store.database()
                                        .integer(std::string("SELECT count(*) FROM run WHERE removed IS ") +
                                                 (line.flag("removed") ? "NOT NULL" : "NULL"))
                                        .value_or(0));
  return text + (is_filtered(line) ? "; there are more" : " runs") +
         ": -n N shows N, --all all, --state, --name, --tag and --sweep choose";
}

std::string epoch_text(const RunRow& run) {
  const auto epoch = run.progress.is_object() ? run.progress.find("epoch") : run.progress.end();
  return run.progress.is_object() && epoch != run.progress.end() && epoch->is_number_integer()
             ? std::to_string(epoch->get<std::int64_t>())
             : "-";
}

nlohmann::ordered_json score(const RunRow& run, const char* name) {
  const auto value = result_measure(run, name);
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

void print_json(const std::vector<ListedRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [run, seconds] : runs) {
    nlohmann::ordered_json& object = list.emplace_back(run_head_json(run));
    object["dev/f1"] = score(run, "dev/f1");
    object["test/f1"] = score(run, "test/f1");
    object["result"] = run.result;
    object["attempts"] = run.attempts;
    object["seconds"] = seconds;
    object["created"] = run.created;
  }
  std::cout << list.dump(2) << '\n';
}

void print_csv(const std::vector<ListedRun>& runs) {
  const auto number = [](std::optional<double> value) { return value ? nlohmann::json(*value).dump() : ""; };
  std::cout << csv_record(
      {"name", "id", "state", "backend", "seed", "dev_f1", "test_f1", "epochs", "seconds", "created"});
  for (const auto& [run, seconds] : runs) {
    const std::string epoch = epoch_text(run);
    std::cout << csv_record({run.name, run.id, name_of(run.state), run.backend, std::to_string(run.seed),
                             number(result_measure(run, "dev/f1")), number(result_measure(run, "test/f1")),
                             epoch == "-" ? "" : epoch, number(seconds), number(run.created)});
  }
}

void print_table(const std::vector<ListedRun>& runs) {
  Table table({{"NAME"},
               {"ID"},
               {"STATE"},
               {"DEV F1", Align::right},
               {"TEST F1", Align::right},
               {"EPOCHS", Align::right},
               {"TIME", Align::right},
               {"AGE", Align::right}});
  for (const auto& [run, seconds] : runs)
    table.add({run.name, run.id, state_cell(run.state), percent_text(result_measure(run, "dev/f1")),
               percent_text(result_measure(run, "test/f1")), epoch_text(run), duration_text(seconds),
               duration_text(now() - run.created)});
  table.print(std::cout, terminal_of(stdout));
}

/// Why the list is empty.
std::string none_text(const CommandLine& line, Store& store) {
  if (!is_filtered(line) && !line.flag("removed")) return "no runs yet";
  const std::string sweep = line.text("sweep");
  const bool unknown = line.has("sweep") && store.find_sweeps(sweep).empty();
  return "no runs match" + (unknown ? "; there is no sweep \"" + sweep + "\"" : "");
}

}  // namespace

int ls_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "ls", {"ls [options]",
             "Lists runs, the newest first, with state, F1 on dev and test, epochs, time spent and age.",
             {{"exp ls --state completed --name \"quick*\"", "complete runs whose names begin with quick"},
              {"exp ls --csv", "all runs for a spreadsheet"}}});
  line.options()("state", po::value<std::vector<std::string>>()->value_name("STATE"),
                 "only runs in this state (may be repeated)");
  line.options()("name", po::value<std::string>()->value_name("GLOB"),
                 "only names that match, as file names in a shell do");
  line.options()("tag", po::value<std::string>()->value_name("TAG"), "only runs with this tag");
  line.options()("sweep", po::value<std::string>()->value_name("NAME"),
                 "only runs of this experiment file, by its name");
  line.options()("removed", po::bool_switch(), "those that exp rm took out of sight instead");
  line.options()("number,n", po::value<int>()->value_name("N")->default_value(100),
                 "at most so many, the newest; 0: all (--json and --csv give all where -n is not written)");
  line.options()("all,a", po::bool_switch(), "short for -n 0");
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("csv", po::bool_switch(), "as CSV");
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("json") && line.flag("csv")) throw UsageError("--json and --csv exclude each other");
  if (line.flag("all") && !line.defaulted("number")) throw UsageError("--all and -n exclude each other");
  if (line.integer("number") < 0) throw UsageError("--number is negative; 0 means all");

  Store store(line.database(), OpenMode::read);
  const bool for_programs = line.flag("json") || line.flag("csv");
  const bool all = line.flag("all") || (for_programs && line.defaulted("number"));
  const ListedRuns listing =
      select_runs(line, store, all ? 0 : static_cast<std::size_t>(line.integer("number")));
  if (line.flag("json")) {
    print_json(listing.runs);
  } else if (line.flag("csv")) {
    print_csv(listing.runs);
  } else if (listing.runs.empty()) {
    std::cout << none_text(line, store) << '\n';
  } else {
    print_table(listing.runs);
    if (!listing.complete) std::cout << more_text(line, store, listing.runs.size()) << '\n';
  }
  return exit_done;
}

}  // namespace encore

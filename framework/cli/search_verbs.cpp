// exp run and exp plan of a file with [search], and exp verify of a search. See planned_search.hpp.
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/access.hpp"
#include "cli/base_notes.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/planned_search.hpp"
#include "cli/run_session.hpp"
#include "cli/search_session.hpp"
#include "cli/search_text.hpp"
#include "cli/stop_requests.hpp"
#include "plan/search/decide.hpp"
#include "record/run_paths.hpp"
#include "runner/check.hpp"
#include "runner/launched_runs.hpp"
#include "store/run_score.hpp"
#include "world/file_descriptor.hpp"

namespace encore {

namespace {

using nlohmann::ordered_json;
using search::Decision;
using search::DecisionKind;

/// Held while a process works on a search: two would decide past each other. The kernel releases it with the
/// process, however that ends.
FileDescriptor lock_search(const Store& store, const SearchRow& row) {
  const std::filesystem::path path = store.runs_folder() / ("search-" + std::to_string(row.number) + ".lock");
  std::filesystem::create_directories(store.runs_folder());
  FileDescriptor file = open_file(path, O_RDWR | O_CREAT);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error("another exp run works on search " + row.name + "; it is left alone");
  return file;
}

/// What would be decided, one after the other, if no trial ended meanwhile.
std::vector<Decision> next_decisions(const PlannedSearch& planned, std::size_t most) {
  std::vector<Decision> decisions;
  search::History history = planned.record.history;
  const search::Search& wanted = planned.plan->search();
  while (decisions.size() < most) {
    Decision decision = search::decide(planned.space(), wanted.options, wanted.limits, history);
    if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) break;
    if (decision.kind == DecisionKind::propose)
      history.trials.push_back({decision.point, std::vector<bool>(decision.point.size(), true)});
    history.decisions.push_back(decision);
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

std::size_t trials_in_progress(const PlannedSearch& planned) {
  const std::vector<search::TrialState> states = search::trial_states(planned.record.history);
  return static_cast<std::size_t>(std::ranges::count_if(states, &search::TrialState::active));
}

/// A proposal with what its conditions leave, and why it could not be trained.
struct ShownDecision {
  const Decision& decision;
  search::Trial trial;
  std::string problem;
  bool excluded = false;
};

ShownDecision shown(PlannedSearch& planned, const Decision& decision) {
  ShownDecision shown{.decision = decision, .trial = {}, .problem = {}};
  if (decision.kind != DecisionKind::propose) return shown;
  search::TrialRuns runs = planned.plan->make(decision.point);
  shown.trial = {decision.point, runs.active};
  shown.problem = runs.problem;
  shown.excluded = runs.excluded;
  if (!shown.problem.empty()) return shown;
  const Specification specification =
      specification_of(runs.runs.front(), planned.file.backend, planned.plugin_folders);
  const std::vector<Problem> problems = check_with_worker(planned.file.worker, {&specification});
  if (!problems.empty()) shown.problem = problems.front().text();
  return shown;
}

std::string line_of(const PlannedSearch& planned, const ShownDecision& shown) {
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

/// The runs whose mean an observation is, as far as they are still there: those of the trial, or those that
/// confirmation `nth` of the trial had. None where the runs do not say it.
std::vector<std::int64_t> runs_behind(const SearchRecord& record, const search::Observation& one,
                                      const search::TrialState& state, std::size_t nth) {
  const TrialRow& trial = record.trials[one.trial];
  if (one.outcome == search::Outcome::complete) return trial.runs;
  if (one.outcome != search::Outcome::confirmed) return {};
  const auto seeds = static_cast<std::size_t>(state.confirmations.at(nth));
  if (trial.confirmations.size() < seeds) return {};
  return {trial.confirmations.begin(), trial.confirmations.begin() + static_cast<std::ptrdiff_t>(seeds)};
}

/// Beyond what the order of a sum may change.
bool differ(double a, double b) {
  return std::fabs(a - b) > 1e-12 * std::max(std::fabs(a), std::fabs(b));
}

/// The first observation of a complete or confirmed trial that is not what its runs answer now; empty where
/// none is.
std::string changed_observation(Store& store, const SearchRow& row, const SearchRecord& record) {
  const search::SearchOptions options = search::options_from_json(row.settings);
  const std::vector<search::TrialState> states = search::trial_states(record.history);
  std::vector<std::size_t> confirmed(states.size(), 0);
  for (std::size_t i = 0; i < record.history.observations.size(); ++i) {
    const search::Observation& one = record.history.observations[i];
    const bool confirms = one.outcome == search::Outcome::confirmed;
    const std::vector<std::int64_t> runs =
        runs_behind(record, one, states[one.trial], confirms ? confirmed[one.trial]++ : 0);
    for (std::size_t j = 0; j < options.objectives.size() && !runs.empty(); ++j) {
      double sum = 0.0;
      bool known = true;
      for (const std::int64_t run : runs) {
        const auto value = judged_measure(store, store.read_run(run), options.objectives[j].metric);
        known = known && value.has_value();
        sum += value.value_or(0.0);
      }
      if (known && differ(sum / static_cast<double>(runs.size()), one.values[j]))
        return "observation " + std::to_string(i + 1) + ", of trial " + std::to_string(one.trial + 1) +
               ", says " + options.objectives[j].metric + " " + std::to_string(one.values[j]) +
               ", its runs answered " + std::to_string(sum / static_cast<double>(runs.size()));
    }
  }
  return "";
}

std::string description_of(const SearchRow& row, const Decision& decision) {
  std::string text = std::string(search::name_of(decision.kind));
  if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) return text;
  text += " trial " + std::to_string(decision.trial + 1) + " (" +
          length_text(search::options_from_json(row.settings).unit, decision.epochs) + ")";
  if (decision.kind == DecisionKind::propose)
    text += "  " + search::text_of(search::space_from_json(row.space),
                                   {decision.point, std::vector<bool>(decision.point.size(), true)});
  return text;
}

}  // namespace

int run_search(const CommandLine& line) {
  SessionFile session(runs_folder_of(line.database()), "exp run " + line.text("file"));
  const std::unique_ptr<PlannedSearch> planned = read_search_plan(line);
  print_base_notes(std::cerr, planned->file.sources);
  session.works_on(planned->plan->header().name);
  const std::vector<WorkerPlace> places =
      session_places(line, planned->file.backend, static_cast<std::size_t>(line.integer("jobs")));
  Store store(line.database(), OpenMode::create);
  store.settle();
  settle_launched(store);
  compare_with(store, *planned);
  const std::int64_t sweep = store.add_sweep(planned->file.plan.name, planned->file.file.string(),
                                             planned->file.sources.front().text, context_of(planned->file));
  if (planned->row.number == 0) {
    planned->row.sweep = sweep;
    add_search(store, planned->row);
  }
  const FileDescriptor lock = lock_search(store, planned->row);
  compare_with(store, *planned);  // another process may have worked on it before it released the lock
  if (planned->next().kind == DecisionKind::finish) {
    std::cout << "nothing to do: search " << planned->row.name << " is over\n";
    print_search(std::cout, store, planned->row, planned->record, terminal_of(stdout), false);
    return exit_done;
  }
  listen_for_stop_requests();
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    return SearchSession(line, store, *planned, sweep).run(places, session);
  } catch (const Error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    return exit_failed;
  }
}

int plan_search(const CommandLine& line) {
  constexpr std::size_t most = 10;
  if (line.has("run")) throw UsageError("a search names its runs as it proposes them; leave RUN out");
  const std::unique_ptr<PlannedSearch> planned = read_search_plan(line);
  print_base_notes(std::cerr, planned->file.sources);
  std::optional<Store> store;
  if (std::filesystem::exists(line.database())) {
    store.emplace(line.database(), OpenMode::read);
    compare_with(*store, *planned);
  }
  const std::size_t in_progress = trials_in_progress(*planned);
  const std::vector<Decision> decisions = next_decisions(*planned, most);
  if (line.flag("json")) {
    ordered_json next = ordered_json::array();
    for (const Decision& decision : decisions) {
      const ShownDecision one = shown(*planned, decision);
      ordered_json values = ordered_json::object();
      for (std::size_t i = 0; i < one.trial.point.size(); ++i)
        if (one.trial.active[i])
          values[planned->space()[i].key] = search::value_text(planned->space()[i], one.trial.point[i]);
      next.push_back({{"kind", search::name_of(decision.kind)},
                      {"trial", decision.trial + 1},
                      {"epochs", decision.epochs},
                      {"point", values},
                      {"problem", one.problem}});
    }
    std::cout << ordered_json{{"search", planned->row.name},
                              {"identity", planned->row.identity},
                              {"settings", planned->row.settings},
                              {"space", planned->row.space},
                              {"trials", planned->plan->search().limits.trials},
                              {"begun", planned->record.trials.size()},
                              {"running", in_progress},
                              {"next", next}}
                     .dump(2)
              << '\n';
    return exit_done;
  }
  std::cout << "search " << planned->row.name << " on " << planned->row.backend << ": "
            << planned->record.trials.size() << " of " << planned->plan->search().limits.trials
            << " trials begun"
            << (in_progress > 0 ? ", " + std::to_string(in_progress) + " to go on with" : "") << '\n';
  if (decisions.empty() && in_progress == 0) std::cout << "nothing to do: it is over\n";
  for (const Decision& decision : decisions)
    std::cout << line_of(*planned, shown(*planned, decision)) << '\n';
  if (decisions.size() == most) std::cout << "... as long as no trial has ended; then by what it gave\n";
  return exit_done;
}

int verify_search(const CommandLine& line, Store& store, const SearchRow& row) {
  const Snapshot snapshot(store.database());
  const SearchRecord record = read_search(store, row);
  const std::vector<RandomVariable> space = search::space_from_json(row.space);
  const search::SearchOptions options = search::options_from_json(row.settings);
  const auto different = search::first_different(space, options, record.history);
  const std::string changed = changed_observation(store, row, record);
  ordered_json json = {{"search", row.name},
                       {"outcome", different || !changed.empty() ? "different" : "equal"},
                       {"decisions", record.history.decisions.size()},
                       {"observations", record.history.observations.size()},
                       {"first_decision", different ? ordered_json(*different + 1) : ordered_json()},
                       {"observation", changed}};
  std::string text;
  if (different) {
    const Decision& made = record.history.decisions[*different];
    const Decision again =
        search::decide(space, options, made.limits, search::known_to(record.history, *different));
    json["stored"] = description_of(row, made);
    json["recomputed"] = description_of(row, again);
    text = "different  decision " + std::to_string(*different + 1) + "\n  stored      " +
           description_of(row, made) + "\n  recomputed  " + description_of(row, again) + ", of " +
           std::to_string(again.observations) + " observations\n";
  } else if (!changed.empty()) {
    text = "different  " + changed + "\n";
  } else {
    text = "equal  " + std::to_string(record.history.decisions.size()) + " decisions recomputed, of " +
           std::to_string(record.history.observations.size()) + " observations\n";
  }
  if (line.flag("json"))
    std::cout << json.dump(2) << '\n';
  else
    std::cout << row.name << "  " << text;
  return different || !changed.empty() ? exit_different : exit_done;
}

}  // namespace encore

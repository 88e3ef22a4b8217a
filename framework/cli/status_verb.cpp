// status: what is running now, and what was running and is not any more.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/run_display.hpp"
#include "cli/run_list.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "runner/launched_runs.hpp"
#include "runner/slurm/job_name.hpp"

namespace encore {

namespace {

/// What is chosen; otherwise what runs now, or did and is gone.
std::vector<RunRow> watched_runs(Store& store, const RunSelection& selection) {
  if (selection.words.empty() && !selection.narrows())
    return store.list_runs({.states = {RunState::running, RunState::lost}});
  const SelectedRuns selected = select_runs(store, selection);
  if (selected.runs.empty()) throw UnknownRun(none_text(store, selection, selected));
  return selected.runs;
}

std::string where_text(const RunRow& run, const std::optional<SchedulerNote>& note) {
  if (run.attempts == 0) return "-";
  if (job_of(run.holder)) return note && !note->job.empty() ? "job " + note->job : "Slurm";
  return run.holder.is_job() ? run.holder.host : run.holder.host + ":" + std::to_string(run.holder.pid);
}

std::string table_text(const CommandLine& line, Store& store, const std::vector<RunRow>& runs,
                       const Terminal& terminal) {
  if (runs.empty()) return "nothing is running\n";
  const std::vector<RunScore> scores = scores_of(store, runs);
  const std::string dev = score_title(scores, "dev");
  Table table({{"NAME"},
               {"ID"},
               {"STATE"},
               {"STEP", Align::right},
               {"EPOCH", Align::right},
               {"LOSS", Align::right},
               {dev, Align::right},
               {"BEST", Align::right},
               {"TOKENS/S", Align::right},
               {"LEFT", Align::right},
               {"WHERE"}});
  bool lost = false;
  std::string notes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRow& run = runs[i];
    const RunScore& score = scores[i];
    lost = lost || run.state == RunState::lost;
    const std::optional<SchedulerNote> note = scheduler_note(store, run);
    const bool live = run.state == RunState::running && (!note || note->begun);
    if (note && !note->begun) notes += run.name + ": " + note->text + "\n";
    const Inactivity inactivity = inactivity_of(run, now());
    const bool moves = live && !inactivity.noticeable();
    if (live && !moves)
      notes += run.name + ": " + inactivity_text(inactivity) + "; " +
               suggestion(line, {"stop", run.name, "--kill"}) + " ends it now\n";
    const Progressed* progress = run.progress ? &*run.progress : nullptr;
    table.add({run.name, run.id, state_cell(store, run),
               progress ? std::to_string(progress->step) + "/" + std::to_string(progress->total_steps) : "-",
               progress ? std::to_string(progress->epoch) : "-", progress ? number_text(progress->loss) : "-",
               score_text(score, score.latest ? score.latest : score.best, dev),
               score_text(score, score.best, dev),
               progress && moves ? count_text(progress->tokens_per_second) : "-",
               progress && moves ? duration_text(progress->eta_seconds) : "-", where_text(run, note)});
  }
  std::ostringstream out;
  table.print(out, terminal);
  out << notes;
  if (lost)
    out << "lost: its process is gone; the same exp run goes on from its last checkpoint, or begins anew "
           "where it has "
           "none\n";
  return out.str();
}

/// Null for a run that nobody works on.
nlohmann::ordered_json inactivity_json(const RunRow& run, const std::optional<SchedulerNote>& note) {
  if (run.state != RunState::running || (note && !note->begun)) return nullptr;
  const Inactivity inactivity = inactivity_of(run, now());
  return {{"seconds", inactivity.seconds},
          {"usual_step_seconds", inactivity.usual_step > 0.0 ? nlohmann::ordered_json(inactivity.usual_step)
                                                             : nlohmann::ordered_json()},
          {"noticeable", inactivity.noticeable()}};
}

/// Null for a run that no job of a scheduler holds.
nlohmann::ordered_json scheduler_json(const std::optional<SchedulerNote>& note) {
  if (!note) return nullptr;
  return {{"job", note->job}, {"state", note->state}, {"text", note->text}, {"begun", note->begun}};
}

/// As the worker has written it; null where it has not.
nlohmann::ordered_json progress_json(const RunRow& run) {
  if (!run.progress) return nullptr;
  return parse_json<nlohmann::ordered_json>(event_text(*run.progress, run.progress_time));
}

void print_json(Store& store, const std::vector<RunRow>& runs) {
  const std::vector<RunScore> scores = scores_of(store, runs);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::optional<SchedulerNote> note = scheduler_note(store, runs[i]);
    list.push_back({{"name", runs[i].name},
                    {"id", runs[i].id},
                    {"state", name_of(runs[i].state)},
                    {"score", score_json(scores[i])},
                    {"progress", progress_json(runs[i])},
                    {"silence", inactivity_json(runs[i], note)},
                    {"host", runs[i].holder.host},
                    {"process", runs[i].holder.pid},
                    {"scheduler", scheduler_json(note)}});
  }
  std::cout << list.dump(2) << '\n';
}

/// Draws the table over itself once a second until nothing runs any more. Between two runs of a sweep there
/// is a moment in which nothing runs: only a second look ends it.
void watch(const CommandLine& line, const RunSelection& selection, const Terminal& terminal) {
  std::string shown;
  bool idle = false;
  for (;;) {
    settle_launched_in_passing(line.database());
    Store store(line.database(), OpenMode::read);
    const std::vector<RunRow> runs = watched_runs(store, selection);
    const bool running = std::any_of(runs.begin(), runs.end(),
                                     [](const RunRow& run) { return run.state == RunState::running; });
    if (const std::string text = table_text(line, store, runs, terminal);
        text != shown && (running || idle)) {
      if (terminal.live && !shown.empty()) {
        // Past std::cout, whose filter (base/terminal_filter.hpp) lets only styles through.
        std::fprintf(stdout, "\033[%tdA\033[J", std::count(shown.begin(), shown.end(), '\n'));
        std::fflush(stdout);
      } else if (!shown.empty()) {
        std::cout << '\n';
      }
      std::cout << text;
      std::cout.flush();
      shown = text;
    }
    if (!running && idle) return;
    idle = !running;
    std::this_thread::sleep_for(std::chrono::milliseconds(idle ? 300 : 1000));
  }
}

}  // namespace

int status_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("status", {"status [RUN...] [options]",
                              "Shows every run that is being worked on, with step, loss, the dev score that "
                              "chooses its checkpoints (the newest and the best so far), speed and time "
                              "left, and those whose process is gone; or the runs that are named.",
                              {{"exp status -w", "look again every second until nothing is running"},
                               {"exp status \"quick*\"", "how some runs stand, whatever their state"}}});
  line.options()("watch,w", po::bool_switch(), "look again every second until nothing is running");
  line.options()("json", po::bool_switch(), "as JSON");
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("watch") && line.flag("json")) throw UsageError("--watch and --json exclude each other");

  const RunSelection selection = selection_from(line);
  const Terminal terminal = terminal_of(stdout);
  settle_launched_in_passing(line.database());
  if (line.flag("watch")) {
    watch(line, selection, terminal);
    return exit_done;
  }
  Store store(line.database(), OpenMode::read);
  const std::vector<RunRow> runs = watched_runs(store, selection);
  if (line.flag("json"))
    print_json(store, runs);
  else
    std::cout << table_text(line, store, runs, terminal);
  return exit_done;
}

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// exp status: prints the progress of runs, once or every second. app/status.cpp reads it; help_verb.cpp lists
// the verb. Programs read JSON and CSV: members and columns keep their names. Read next: app/status.hpp.
#include "app/status.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/terminal_filter.hpp"
#include "cli/run_display.hpp"
#include "cli/run_json.hpp"
#include "cli/run_list.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "runner/slurm/job_name.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string where_text(const store::RunRow& run, const std::optional<runner::SchedulerNote>& note) {
  if (run.attempts == 0) return "-";
  if (runner::job_of(run.holder)) return note && !note->job.empty() ? "job " + note->job : "Slurm";
  return run.holder.is_job() ? run.holder.host : run.holder.host + ":" + std::to_string(run.holder.pid);
}

Table table_of(const std::vector<app::RunStatus>& all, const std::string& dev) {
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
  for (const app::RunStatus& one : all) {
    const store::RunRow& run = one.run;
    const record::Progressed* const progress = run.progress ? &*run.progress : nullptr;
    const bool moves = progress != nullptr && one.moves();
    table.add({run.name, run.id, state_cell(run.state, one.note),
               progress ? std::to_string(progress->step) + "/" + std::to_string(progress->total_steps) : "-",
               progress ? std::to_string(progress->epoch) : "-",
               progress ? document::number_text(progress->loss) : "-",
               score_text(one.score, one.score.latest ? one.score.latest : one.score.best, dev),
               score_text(one.score, one.score.best, dev),
               moves ? document::count_text(progress->tokens_per_second) : "-",
               moves ? document::duration_text(progress->eta_seconds) : "-", where_text(run, one.note)});
  }
  return table;
}

std::string notes_of(const std::vector<app::RunStatus>& all, const Console& console) {
  std::string notes;
  for (const app::RunStatus& one : all) {
    if (one.note && !one.note->begun) notes += one.run.name + ": " + one.note->text + "\n";
    if (one.inactivity && one.inactivity->noticeable())
      notes += one.run.name + ": " + inactivity_text(*one.inactivity) + "; " +
               console.suggestion({"stop", one.run.name, "--kill"}) + " kills its worker\n";
  }
  if (std::ranges::any_of(all,
                          [](const app::RunStatus& one) { return one.run.state == store::RunState::lost; }))
    notes +=
        "lost: the run has no process; the same exp run command resumes it from its last checkpoint, or "
        "starts it again without one\n";
  return notes;
}

std::string text_of(const std::vector<app::RunStatus>& all, const Console& console) {
  if (all.empty()) return "nothing is running\n";
  std::vector<store::RunScore> scores;
  for (const app::RunStatus& one : all) scores.push_back(one.score);
  std::ostringstream out;
  table_of(all, score_title(scores, "dev")).print(out, console.terminal);
  return out.str() + notes_of(all, console);
}

/// Returns the inactivity as JSON; null for a run without a worker.
Json inactivity_json(const std::optional<runner::Inactivity>& inactivity) {
  if (!inactivity) return nullptr;
  return {{"seconds", inactivity->seconds},
          {"usual_step_seconds", inactivity->usual_step > 0.0 ? Json(inactivity->usual_step) : Json()},
          {"noticeable", inactivity->noticeable()}};
}

/// Returns the scheduler's note as JSON; null for a run without a scheduler's job.
Json scheduler_json(const std::optional<runner::SchedulerNote>& note) {
  if (!note) return nullptr;
  return {{"job", note->job}, {"state", note->state}, {"text", note->text}, {"begun", note->begun}};
}

/// Returns the progress that the worker has written, or null.
nlohmann::ordered_json progress_json(const store::RunRow& run) {
  if (!run.progress) return nullptr;
  return parse_json<nlohmann::ordered_json>(record::event_text(*run.progress, run.progress_time));
}

Json json_of(const std::vector<app::RunStatus>& all) {
  Json list = Json::array();
  for (const app::RunStatus& one : all)
    list.push_back({{"name", one.run.name},
                    {"id", one.run.id},
                    {"state", store::name_of(one.run.state)},
                    {"score", score_json(one.score)},
                    {"progress", progress_json(one.run)},
                    {"silence", inactivity_json(one.inactivity)},
                    {"host", one.run.holder.host},
                    {"process", one.run.holder.pid},
                    {"scheduler", scheduler_json(one.note)}});
  return list;
}

/// Redraws the table every second until no run is training. It ends after the second check without a run,
/// because there is a moment between two runs of a sweep.
void watch(const app::StatusRequest& request, const app::App& app, Console& console) {
  std::string shown;
  bool idle = false;
  for (;;) {
    const std::vector<app::RunStatus> all = app::status(request, app);
    const bool running = std::ranges::any_of(
        all, [](const app::RunStatus& one) { return one.run.state == store::RunState::running; });
    if (const std::string text = text_of(all, console); text != shown && (running || idle)) {
      if (console.terminal.live && !shown.empty())
        write_control(console.out, "\033[" + std::to_string(std::ranges::count(shown, '\n')) + "A\033[J");
      else if (!shown.empty())
        console.out << '\n';
      console.out << text << std::flush;
      shown = text;
    }
    if (!running && idle) return;
    idle = !running;
    std::this_thread::sleep_for(std::chrono::milliseconds(idle ? 300 : 1000));
  }
}

int status_verb(const app::StatusRequest& request, app::App& app, Console& console) {
  if (request.watch) {
    watch(request, app, console);
    return exit_done;
  }
  const std::vector<app::RunStatus> all = app::status(request, app);
  if (request.json)
    console.print(json_of(all));
  else if (request.csv)
    table_of(all, "DEV").print_csv(console.out);
  else
    console.out << text_of(all, console);
  return exit_done;
}

}  // namespace

Verb status_verb() {
  return make_verb("status", "show the runs in training", app::status_form, status_verb);
}

}  // namespace encore::cli

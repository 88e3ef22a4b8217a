// SPDX-License-Identifier: BSD-3-Clause
// SessionScreen: prints the events of a session of runs as lines, and chooses the exit code, for run_verb.cpp
// and retrain_verb.cpp. With --json only the answer goes to standard output. Exit codes are documented for
// scripts; the lines may change. Read next: session_screen.hpp.
#include "cli/session_screen.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

#include "app/planned_runs.hpp"
#include "cli/run_json.hpp"
#include "cli/run_summary.hpp"
#include "cli/verbs.hpp"
#include "store/run_score.hpp"

namespace encore::cli {

SessionScreen::SessionScreen(Console& console, bool quiet, bool json, bool answers)
    : console_(console),
      quiet_(quiet),
      json_(json),
      answers_(answers),
      out_(json ? console.err : console.out),
      lines_(out_, json ? console.error_terminal : console.terminal) {}

void SessionScreen::settled(const store::RunRow& run) {
  if (!quiet_)
    out_ << "merged the records of run " << run.name << "; it " << app::state_clause(run.state) << '\n';
}

void SessionScreen::planned(const app::PlannedRuns& planned) {
  for (const config::Problem& warning : planned.plan.warnings) out_ << "warning: " << warning.text() << '\n';
  for (const app::PlannedRun& run : planned.runs)
    if (run.action == app::Action::elsewhere)
      out_ << run.before->name << " is running in " << world::place_text(run.before->holder) << "; skipped\n";
  if (const std::size_t complete = planned.count(app::Action::skip); complete > 0 && planned.to_do() > 0)
    out_ << complete << " of " << planned.runs.size() << (planned.runs.size() == 1 ? " run is" : " runs are")
         << " complete, " << planned.to_do() << " to do\n";
  if (planned.changed && planned.to_do() > 0)
    out_ << planned.to_do() << " of " << planned.runs.size()
         << " runs to do, whose plugin files have changed\n";
  for (const std::string& line : app::kept_though(planned)) out_ << line << '\n';
  out_.flush();
}

void SessionScreen::incomplete(const store::RunRow& run, const std::vector<store::RecordGap>& gaps) {
  print_gaps(console_.err, console_, run, gaps);
}

void SessionScreen::unchecked(const app::UsedPlugin& plugin) {
  console_.err << warning_text(plugin) << '\n';
}

void SessionScreen::retrains(const std::string& run, const store::RunRow& parent, bool from_scratch) {
  say(run + " retrains " + parent.name + " (" + parent.id + ")" +
      (store::is_application(parent) ? ", with retrained models"
       : from_scratch                ? ", from the start"
                                     : ", from its weights"));
}

void SessionScreen::placed(const std::vector<runner::WorkerPlace>& places) {
  say(runner::places_text(places, runner::why_unpinned(world::usable_cores(), world::openmp_wishes())));
}

runner::RunObserver& SessionScreen::begun(const app::RunBegun& begun) {
  const std::string place =
      begun.tasks > 1 ? std::to_string(begun.task + 1) + "/" + std::to_string(begun.tasks) + " " : "";
  if (displays_.size() <= begun.task) displays_.resize(begun.task + 1);
  auto& display = displays_[begun.task] =
      std::make_unique<RunDisplay>(place + begun.name, console_, lines_, static_cast<int>(begun.task), quiet_,
                                   store::selected_metric(begun.select));
  if (begun.retry == 0 && begun.action != app::Action::start)
    display->say(begun.name + " " + (begun.action == app::Action::retry ? "failed" : "was interrupted") +
                 " before; " + (begun.from_start ? "it starts again" : resume_text(*store_, begun.id)));
  if (begun.retry > 0 && begun.tasks == 0) display->say(begun.name + " is retried");
  for (const store::RecordGap& gap : begun.gaps) display->noticed(gap.text);
  return *display;
}

void SessionScreen::ended(const app::RunEnded& ended) {
  const runner::RunOutcome& outcome = ended.outcome;
  const bool of_search = ended.tasks == 0;
  const bool has_display = ended.task < displays_.size() && displays_[ended.task];  // a job of Slurm has none
  if (has_display) displays_[ended.task].reset();
  lines_.hide();
  if (ended.again) {
    const std::string step = has_display || of_search ? " at step " + std::to_string(outcome.step) : "";
    noticed(ended.name + " was cut off" + step + ": " + outcome.reason + "; retrying" +
            (of_search ? "" : ": " + resume_text(*store_, ended.run->id)));
    return;
  }
  // A trial may turn out to be over by the work of another process.
  const bool over = of_search && outcome.recorded &&
                    (outcome.paused || outcome.state == store::RunState::completed ||
                     outcome.state == store::RunState::failed);
  if (!outcome.began && !over) {
    if (outcome.blocked)
      console_.err << ended.name << " was not started: " << outcome.reason << '\n';
    else if (!quiet_)
      print_left_alone(out_, ended.name, outcome);
    return;
  }
  if (outcome.state != store::RunState::completed) {
    if (!outcome.paused) print_not_completed(console_.err, console_, *store_, *ended.run, outcome);
  } else if (!outcome.recorded && !of_search) {
    print_not_recorded(console_.err, *store_, *ended.run, outcome);
  } else if (!of_search || !quiet_) {
    print_completed(out_, console_, *store_, *ended.run, outcome, ended.gaps, ended.tasks == 1);
    print_gaps(console_.err, console_, *ended.run, ended.gaps);
  }
}

void SessionScreen::decided(const app::TrialNews& news) {
  const std::string title = "trial " + std::to_string(news.trial + 1) + "/" + std::to_string(news.trials);
  switch (news.kind) {
    case app::TrialNews::Kind::proposed:
      return say(title + "  " + news.detail);
    case app::TrialNews::Kind::excluded:
      return say(title + " is " + news.detail);
    case app::TrialNews::Kind::not_trainable:
      return noticed(title + " cannot be trained: " + news.detail);
    case app::TrialNews::Kind::repeated:
      return say(title + " " + news.detail);
    case app::TrialNews::Kind::promoted:
      return say(title + " is promoted to " + news.length);
    case app::TrialNews::Kind::pruned:
      return say(title + " is pruned after " + news.length);
    case app::TrialNews::Kind::confirmed:
      return say(title + " is trained again with " + std::to_string(news.seeds) + " fresh seeds");
  }
}

void SessionScreen::noticed(const std::string& text) {
  lines_.hide();
  console_.noticed(text);
}

std::string SessionScreen::queue_text(const std::string& text, const record::Progressed* progress) const {
  return text + (lines_.terminal().live && progress != nullptr ? "  " + progress_text(*progress) : "");
}

void SessionScreen::queued(const std::string& text, const record::Progressed* progress) {
  const std::string now = queue_text(text, progress);
  if (now == queue_) return;
  queue_ = now;
  if (lines_.terminal().live) {
    lines_.set(0, now);
    lines_.refresh();
  } else if (!quiet_) {
    lines_.print(now);
  }
}

void SessionScreen::say(const std::string& text) {
  if (quiet_) return;
  lines_.hide();
  out_ << text << std::endl;
}

void SessionScreen::concluded(const app::SessionResult& result) {
  lines_.hide();
  if (json_ && answers_) {
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const std::int64_t number : result.ended) runs.push_back(run_head_json(store_->read_run(number)));
    console_.print(
        {{"version", 1}, {"runs", runs}, {"not_recorded", result.unrecorded}, {"not_started", result.left}});
  }
  if (result.detached) {
    out_ << result.held << (result.held == 1 ? " run is" : " runs are") << " submitted to Slurm ("
         << result.submitted << (result.submitted == 1 ? " submission)" : " submissions)");
    if (result.left > 0)
      out_ << "; " << result.left << " more wait for runs that they start from: run the same command "
           << "to submit them after those have ended";
    out_ << "\n  next      " << console_.suggestion({"status", "-w"}) << '\n' << std::flush;
    return;
  }
  if (result.left > 0)
    out_ << result.left << (result.left == 1 ? " more run was" : " more runs were") << " not started\n";
  if (result.planned > 1) {
    print_sweep_summary(out_, console_, *store_, result.ended);
    for (const std::string& name : result.unrecorded)
      out_ << name << " has ended, but its end is not recorded\n";
  }
  out_.flush();
}

int exit_code_of(const app::App& app, const app::SessionResult& result) {
  if (result.detached) return result.failed ? exit_failed : result.unfinished ? exit_interrupted : exit_done;
  const bool unfinished = result.unfinished || result.left > 0;
  if (unfinished && app.stop.load() > 0) return exit_interrupted;
  if (result.failed) return exit_failed;
  if (unfinished) return exit_interrupted;
  return result.gaps ? exit_failed : exit_done;
}

}  // namespace encore::cli

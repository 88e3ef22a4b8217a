// SPDX-License-Identifier: BSD-3-Clause
// Prints how a run or sweep ended, for session_screen.cpp: its scores, where it is stored, what is missing,
// why it stopped, and the next commands. Scores come from the database. The text is for people; `exp run
// --json` has the same facts for programs. A suggested command must run as it is printed. Read next:
// run_summary.hpp.
#include "cli/run_summary.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <set>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "analysis/predictions.hpp"
#include "analysis/selection_notice.hpp"
#include "app/run_selection.hpp"
#include "base/sha256.hpp"
#include "base/shell_word.hpp"
#include "cli/run_list.hpp"
#include "cli/table.hpp"
#include "record/checkpoint.hpp"
#include "store/run_batch.hpp"
#include "store/run_score.hpp"

namespace encore::cli {

namespace {

/// Returns, for example, "test F1 54.32 (dev F1 55.10, best at step 420)"; empty without scores.
std::string scores_text(store::Store& store, const store::RunRow& run) {
  const store::SelectionRule rule = store::scores_of(store, {run}).front().rule;
  const auto part = [&](const std::string& split) {
    const auto value = store::result_measure(run, split + "/" + rule.metric.measure_name());
    return value ? split + " " + rule.metric.title() + " " + analysis::metric_text(rule.metric, *value) : "";
  };
  const std::string test = part("test"), dev = part("dev");
  if (test.empty() && dev.empty()) return "";
  std::string more = test.empty() ? "" : dev;
  if (!is_application(run) && run.result.contains("best_step") && run.result["best_step"].is_number_integer())
    more += (more.empty() ? "" : ", ") + std::string("best at step ") +
            std::to_string(run.result["best_step"].get<std::int64_t>());
  return (test.empty() ? dev : test) + (more.empty() ? "" : " (" + more + ")");
}

std::string relative_text(const std::filesystem::path& path) {
  std::error_code failure;
  const std::filesystem::path near = std::filesystem::proximate(path, failure);
  const bool below = !failure && !near.empty() && *near.begin() != "..";
  return below ? near.string() : path.string();
}

void print_next(std::ostream& out, const Console& console, store::Store& store, const store::RunRow& run) {
  const std::filesystem::path folder = store.run_folder(run.id);
  const bool has_test = std::filesystem::exists(folder / analysis::predictions_name("test"));
  const std::string text = sample_text(folder / analysis::predictions_name(has_test ? "test" : "dev"),
                                       store::hides_its_data(store, run));
  out << "  next      " << console.suggestion({"show", run.name}) << '\n'
      << "            " << console.suggestion({"predict", run.name, text}) << '\n';
}

/// Suggests what compares and reports the runs of a sweep; without a name the list of all runs.
void print_next_of_sweep(std::ostream& out, const Console& console, const std::string& name) {
  if (name.empty()) {
    out << "  next      " << console.suggestion({"ls"}) << '\n';
    return;
  }
  out << "  next      " << console.suggestion({"compare", name}) << '\n'
      << "            " << console.suggestion({"report", name}) << '\n';
}

void print_place(std::ostream& out, const store::Store& store, const store::RunRow& run) {
  out << "  stored    " << relative_text(store.path()) << ", run " << run.id << " \"" << run.name << "\"\n"
      << "  folder    " << relative_text(store.run_folder(run.id)) << '\n';
}

/// Returns whether the text is also readable as one word of a command.
bool is_simple(const std::string& text) {
  return text.find_first_of("\"\\$`!") == std::string::npos && printable(text) == text;
}

using Inputs = std::vector<std::pair<std::string, std::string>>;

/// Returns the fields of a record in a line of a file of predictions; none if the line has no record.
Inputs inputs_in(const std::string& line) {
  try {
    return analysis::read_prediction(line).input;
  } catch (const Error&) {
    return {};
  }
}

/// Returns whether a record has a second text, by the shared names of fields (encore/records.hpp).
bool has_two_texts(const Inputs& inputs) {
  return std::ranges::any_of(
      inputs, [](const auto& input) { return input.first == "text2" || input.first == "context"; });
}

}  // namespace

std::string resume_text(const store::Store& store, const std::string& run_id) {
  const std::vector<record::CheckpointFile> checkpoints = record::list_checkpoints(store.run_folder(run_id));
  return checkpoints.empty()
             ? "it starts again, because it has no checkpoint yet"
             : "it resumes from its checkpoint of step " + std::to_string(checkpoints.back().step);
}

std::string sample_text(const std::filesystem::path& predictions, bool is_private) {
  constexpr std::ptrdiff_t fewest = 4, most = 14;  // words
  constexpr int most_lines = 200;
  std::ifstream in(predictions);
  std::string line;
  for (int count = 0; count < most_lines && std::getline(in, line); ++count) {
    const Inputs inputs = inputs_in(line);
    if (has_two_texts(inputs)) return "one text\tanother text";
    if (is_private) continue;
    const std::string text = inputs.size() == 1 ? inputs.front().second : "";
    const std::ptrdiff_t words = text.empty() ? 0 : 1 + std::ranges::count(text, ' ');
    if (words >= fewest && words <= most && is_simple(text)) return text;
  }
  return "a line of text";
}

void print_completed(std::ostream& out, const Console& console, store::Store& store, const store::RunRow& run,
                     const runner::RunOutcome& outcome, const std::vector<store::RecordGap>& gaps,
                     bool alone) {
  const std::string scores = scores_text(store, run);
  const bool whole = std::ranges::none_of(gaps, &store::RecordGap::lost);
  out << run.name << " completed in " << document::duration_text(outcome.seconds)
      << (whole ? "" : ", with gaps in its record") << (scores.empty() ? "" : ": ") << scores << '\n';
  for (const auto& [number, notice] : analysis::selection_notices(store, {run}))
    out << "  note      " << printable(notice) << '\n';
  if (alone) {
    print_place(out, store, run);
    print_next(out, console, store, run);
  }
  out.flush();
}

void print_not_recorded(std::ostream& out, const store::Store& store, const store::RunRow& run,
                        const runner::RunOutcome& outcome) {
  out << run.name << " finished training in " << document::duration_text(outcome.seconds)
      << ", but its end is not recorded: " << outcome.not_recorded_because << '\n'
      << "  folder    " << relative_text(store.run_folder(run.id)) << ", with every record\n"
      << " next run the same command when the database is writable again; it merges the records and trains "
         "nothing twice\n";
  out.flush();
}

void print_gaps(std::ostream& out, const Console& console, const store::RunRow& run,
                const std::vector<store::RecordGap>& gaps) {
  if (std::ranges::none_of(gaps, &store::RecordGap::lost)) return;
  out << "exp: " << run.name << " is complete, but its record has gaps:\n";
  for (const store::RecordGap& gap : gaps)
    if (gap.lost) out << "  missing   " << printable(gap.text) << '\n';
  out << "  next      " << console.suggestion({"show", run.name}) << '\n'
      << "            " << command_name()
      << " run with --fresh trains it again, as a new repeat; these records cannot be restored otherwise\n";
  out.flush();
}

void print_left_alone(std::ostream& out, const std::string& name, const runner::RunOutcome& outcome) {
  if (outcome.state == store::RunState::running)
    out << name << " is running in another process; skipped\n";
  else
    out << name << ": another process has trained it meanwhile; it " << app::state_clause(outcome.state)
        << '\n';
  out.flush();
}

void print_not_completed(std::ostream& out, const Console& console, const store::Store& store,
                         const store::RunRow& run, const runner::RunOutcome& outcome) {
  const std::string& name = run.name;
  const std::string words =
      outcome.state == store::RunState::lost ? "was cut off" : store::name_of(outcome.state);
  out << name << ' ' << words;
  if (outcome.state != store::RunState::failed && outcome.step > 0) out << " at step " << outcome.step;
  out << (outcome.reason.empty() ? "" : ": ") << outcome.reason << '\n';
  if (!outcome.log_tail.empty()) {
    out << "the last lines of its log (" << console.suggestion({"logs", name}) << " shows all):\n";
    std::string tail = outcome.log_tail;
    while (!tail.empty() && tail.back() == '\n') tail.pop_back();
    out << printable_lines(tail) << '\n';
  }
  if (!outcome.plugin.empty())
    out << "check the plugin: " << command_name() << ' ' << shell_command({"plugin", "check", outcome.plugin})
        << '\n';
  if (outcome.state != store::RunState::failed)
    out << "run the same command again; " << resume_text(store, run.id) << '\n';
  if (!outcome.recorded)
    out << "its last records are not in the database yet; the same command merges them\n";
  out.flush();
}

void print_sweep_summary(std::ostream& out, const Console& console, store::Store& store,
                         const std::vector<std::int64_t>& numbers) {
  std::vector<store::RunRow> runs;
  for (const std::int64_t number : numbers) runs.push_back(store.read_run(number));
  const std::vector<store::RunScore> scores = store::scores_of(store, runs);
  const std::string dev = score_title(scores, "dev"), test = score_title(scores, "test");
  Table table({{"NAME"}, {"ID"}, {"STATE"}, {dev, Align::right}, {test, Align::right}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto cell = [&](const std::string& split, const std::string& title) {
      return score_text(scores[i],
                        store::result_measure(runs[i], split + "/" + scores[i].rule.metric.measure_name()),
                        title);
    };
    table.add({runs[i].name, runs[i].id, state_cell(runs[i].state), cell("dev", dev), cell("test", test)});
  }
  out << '\n';
  table.print(out, console.terminal);
  std::set<std::string> names;
  for (const store::SweepRow& sweep : store::RunBatch(store, runs).sweeps()) names.insert(sweep.name);
  print_next_of_sweep(out, console, names.size() == 1 ? *names.begin() : "");
}

void print_nothing_to_do(std::ostream& out, const Console& console, store::Store* store,
                         const app::PlannedRuns& planned) {
  if (planned.changed) {
    out << "nothing to do: no run of " << planned.file.string()
        << " was trained with a plugin file that has changed\n";
    return;
  }
  if (planned.count(app::Action::skip) == 0 || store == nullptr) return;
  if (planned.runs.size() > 1) {
    out << "nothing to do: " << planned.count(app::Action::skip) << " of " << planned.runs.size()
        << " runs are complete\n";
    print_next_of_sweep(out, console, planned.plan.name);
    return;
  }
  const store::RunRow& run = *planned.runs.front().before;
  const std::string scores = scores_text(*store, run);
  out << "nothing to do: " << run.name << " is complete" << (scores.empty() ? "" : ", ") << scores << '\n'
      << "  next      " << console.suggestion({"show", run.name}) << '\n'
      << "            " << console.suggestion({"run", planned.file.string(), "--fresh"})
      << "  (trains it again)\n";
}

std::string warning_text(const app::UsedPlugin& plugin) {
  return "warning: plugin \"" + plugin.name + "\" (" + short_hash(plugin.sha256) +
         ") has not passed its checks on this machine; run " + command_name() + " " +
         shell_command({"plugin", "check", plugin.file.string()});
}

}  // namespace encore::cli

// See show_text.hpp.
#include "cli/show_text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>

#include "base/host_measures.hpp"
#include "cli/access.hpp"
#include "cli/curve.hpp"
#include "cli/format.hpp"
#include "cli/plugin_changes.hpp"
#include "cli/verdict_text.hpp"
#include "config/value.hpp"
#include "report/comparison.hpp"
#include "report/retraining.hpp"
#include "report/wording.hpp"
#include "runner/launched_runs.hpp"
#include "store/lineage.hpp"
#include "store/record_gaps.hpp"
#include "store/run_score.hpp"

namespace encore {

namespace {

void heading(std::ostream& out, const Terminal& terminal, const std::string& text) {
  out << '\n' << styled(terminal, Style::bold, text) << '\n';
}

void field(std::ostream& out, const std::string& name, const std::string& value) {
  constexpr std::size_t width = 12;
  if (value.empty()) return;
  out << "  " << name << std::string(name.size() < width ? width - name.size() : 1, ' ') << printable(value)
      << '\n';
}

std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return shortest(value.get<double>());
  return value.dump();
}

/// `pre (0123456789), weights 4f1c... read by attempt 1`
std::string parent_text(const ParentRow& parent) {
  const std::string name = parent.run ? parent.run->name + " (" + parent.run->id + ")" : parent.experiment;
  if (parent.sha256.empty()) return name + ", whose weights were not read yet";
  return name + ", weights " + short_hash(parent.sha256) + " read by attempt " +
         std::to_string(parent.attempt);
}

void print_summary(std::ostream& out, const RunRow& run, Store& store) {
  std::string tags;
  for (const std::string& tag : store.read_tags(run.number)) tags += (tags.empty() ? "" : ", ") + tag;
  field(out, "state", std::string(name_of(run.state)) + (run.reason.empty() ? "" : ": " + run.reason));
  if (const std::optional<SchedulerNote> note = scheduler_note(store, run)) field(out, "job", note->text);
  field(out, "backend", run.backend);
  field(out, "seed",
        std::to_string(run.seed) + (run.repeat > 1 ? ", repeat " + std::to_string(run.repeat) : ""));
  field(out, "sweep", run.sweep == run.name ? "" : run.sweep);
  field(out, "tags", tags);
  field(out, "note", run.note);
  field(out, "created", time_text(run.created));
  field(out, "completed", run.finished ? time_text(*run.finished) : "");
  if (const std::optional<ParentRow> parent = store.read_parent(run))
    field(out, "starts from", parent_text(*parent));
  if (const std::optional<RunRow> before = retrained_by(store, run))
    field(out, "retrains", before->name + " (" + before->id + ")");
  if (const std::optional<ParentRow> teacher = store.read_parent(run, Need::teacher))
    field(out, "learns from", parent_text(*teacher));
  field(out, "question", run.question);
  field(out, "folder", store.run_folder(run.id).string());
}

/// The value for one label, or over all of them where `key` is empty.
std::string score_cell(const Metrics& metrics, const RunRow& run, const Metric& column,
                       const std::string& key) {
  const std::string name = column.name + (key.empty() ? "" : "/" + key);
  const std::optional<double> value = result_measure(run, name);
  return value ? metric_text(key.empty() ? column : metrics.of(name), *value) : "-";
}

/// The labels for which the run has a value of any of the columns.
std::set<std::string> labels_of(const Metrics& metrics, const RunRow& run) {
  std::set<std::string> labels;
  for (const auto& [name, value] : run.result["measures"].items())
    if (const auto key = metrics.of(name).key()) labels.insert(*key);
  return labels;
}

/// Adds the families of a split that have no measure over all labels beside them ("test/f1" of
/// "test/f1/LOC").
void add_families(std::vector<Metric>& columns, const Metrics& metrics, const RunRow& run,
                  const std::string& split) {
  for (const auto& [name, value] : run.result["measures"].items()) {
    Metric member = metrics.of(name);
    const std::optional<std::string> key = member.key();
    if (!key || member.split() != split) continue;
    member.name = name.substr(0, name.size() - key->size() - 1);
    if (std::ranges::find(columns, member.name, &Metric::name) == columns.end()) columns.push_back(member);
  }
}

/// Columns: the measure that chooses checkpoints on dev and test, then the others on test, or on dev where
/// there is no test, those of single labels last. Rows: everything, then each label.
void print_scores(std::ostream& out, const RunRow& run, const Metrics& metrics, const std::string& selected,
                  const Terminal& terminal) {
  if (!run.result.is_object() || !run.result.contains("measures") || !run.result["measures"].is_object())
    return;
  heading(
      out, terminal,
      "scores of the best checkpoint (step " + run.result.value("best_step", nlohmann::json(0)).dump() + ")");
  std::vector<Metric> columns = metrics.in_order(selected, {"dev", "test"});
  std::erase_if(columns, [&](const Metric& metric) { return !result_measure(run, metric.name); });
  const std::string leading = Metric{.name = selected}.measure_name();
  const bool tested =
      std::ranges::any_of(columns, [](const Metric& metric) { return metric.split() == "test"; });
  std::erase_if(columns, [&](const Metric& metric) {
    return metric.measure_name() != leading && metric.split() != (tested ? "test" : "dev");
  });
  add_families(columns, metrics, run, tested ? "test" : "dev");
  std::vector<TableColumn> heads = {{"LABEL"}};
  for (const Metric& metric : columns)
    heads.push_back(
        {heading_text((metric.measure_name() == leading ? metric.split() + " " : "") + metric.title()),
         Align::right});
  Table table(heads);
  const auto add_row = [&](const std::string& label, const std::string& key) {
    std::vector<Cell> cells = {label};
    for (const Metric& metric : columns) cells.emplace_back(score_cell(metrics, run, metric, key));
    table.add(std::move(cells));
  };
  add_row("all", "");
  for (const std::string& label : labels_of(metrics, run)) add_row(label, label);
  table.print(out, terminal, 2);
}

void print_curve(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal,
                 const Metric& metric) {
  std::vector<CurvePoint> stored = store.read_curve(run.number, metric.name);
  std::vector<encore::PlotPoint> points;
  for (const CurvePoint& point : stored) points.push_back({static_cast<double>(point.step), point.value});
  CurveLook look;
  look.width = std::clamp(terminal.width - 20, 20, 72);
  look.height = 5;
  look.utf8 = terminal.utf8;
  look.label_scale = metric.is_fraction() ? 100.0 : 1.0;
  const std::vector<std::string> lines = draw_curve(points, look);
  if (lines.empty()) return;
  out << "\n  " << metric.name << " (last " << metric_text(metric, stored.back().value) << ")\n";
  for (const std::string& line : lines) out << "  " << line << '\n';
}

/// One row per dev score, which is one per epoch unless train.evaluate_every asks for more.
void print_epochs(std::ostream& out, Store& store, const RunRow& run, const Metrics& metrics,
                  const std::string& selected, const Terminal& terminal) {
  std::map<std::int64_t, std::map<std::string, double>> rows;
  std::vector<Metric> columns;
  for (const Metric& metric : metrics.in_order(selected, {"dev"})) {
    const std::vector<CurvePoint> points = store.read_curve(run.number, metric.name);
    for (const CurvePoint& point : points) rows[point.step][metric.name] = point.value;
    if (!points.empty()) columns.push_back(metric);
  }
  if (rows.empty()) return;
  heading(out, terminal, "dev scores");
  std::vector<TableColumn> heads = {{"STEP", Align::right}};
  for (const Metric& metric : columns) heads.push_back({heading_text(metric.title()), Align::right});
  Table table(heads);
  constexpr std::size_t most = 30;
  std::size_t left_out = rows.size() > most ? rows.size() - most : 0;
  if (left_out > 0) out << "  (the first " << left_out << " are left out; --json has all)\n";
  for (const auto& [step, values] : rows) {
    if (left_out > 0) {
      --left_out;
      continue;
    }
    std::vector<Cell> cells = {std::to_string(step)};
    for (const Metric& metric : columns) {
      const auto found = values.find(metric.name);
      cells.emplace_back(found == values.end() ? "-" : metric_text(metric, found->second));
    }
    table.add(std::move(cells));
  }
  table.print(out, terminal, 2);
}

void print_params(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal, bool all) {
  std::vector<ParamRow> params = store.read_params(run.number);
  const auto set = std::stable_partition(params.begin(), params.end(),
                                         [](const ParamRow& param) { return param.source != "default"; });
  const auto defaults = params.end() - set;
  if (!all) params.erase(set, params.end());
  heading(out, terminal, "settings");
  Table table({{"KEY"}, {"VALUE"}, {"FROM"}});
  for (const ParamRow& param : params)
    table.add({param.key, value_text(param.value),
               param.source == "default" ? param.source
               : param.at.empty()        ? param.source
                                         : param.at});
  table.print(out, terminal, 2);
  if (!all && defaults > 0) out << "  and " << defaults << " that have their default (--all shows them)\n";
}

void print_data(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal) {
  heading(out, terminal, "data");
  const std::optional<Started> started = last_started(store.read_attempts(run.number));
  std::map<std::string, SetFacts> unnamed = started ? started->data : std::map<std::string, SetFacts>();
  Table table({{"SET"}, {"EXAMPLES", Align::right}, {"SHA-256"}, {"FILE"}});
  for (const DatasetRow& set : store.read_datasets(run.number)) {
    const auto facts = unnamed.find(set.role);
    table.add({set.role, facts == unnamed.end() ? "" : thousands(facts->second.examples),
               set.sha256.substr(0, 12), set.path});
    unnamed.erase(set.role);
  }
  for (const auto& [split, facts] : unnamed)  // a share of the training files
    table.add({split, thousands(facts.examples), "", "split off train by data.split"});
  table.print(out, terminal, 2);
  if (started && started->max_length)
    out << "  data.max_length is " << thousands(*started->max_length) << " pieces for this training set\n";
}

void print_attempts(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal) {
  const std::vector<AttemptRow> attempts = store.read_attempts(run.number);
  if (attempts.empty()) return;
  heading(out, terminal, "attempts");
  Table table({{"NO", Align::right},
               {"STATE"},
               {"STARTED"},
               {"TIME", Align::right},
               {"FROM STEP", Align::right},
               {"HOST"},
               {"CODE"},
               {"WHY"}});
  for (const AttemptRow& attempt : attempts) {
    const double end = attempt.finished ? *attempt.finished : now();
    const bool timed = attempt.finished || attempt.state == RunState::running;
    table.add({std::to_string(attempt.ordinal), state_cell(attempt.state), time_text(attempt.started),
               timed ? duration_text(end - attempt.started) : "-",
               attempt.first_step ? std::to_string(*attempt.first_step) : "-", attempt.holder.host,
               attempt.commit_hash.empty()
                   ? "-"
                   : attempt.commit_hash.substr(0, 10) + (attempt.diff.empty() ? "" : "+"),
               attempt.reason.empty() ? attempt.spool_problem : attempt.reason});
  }
  table.print(out, terminal, 2);

  for (const RecordGap& gap : find_record_gaps(store, run))
    out << "  " << styled(terminal, gap.lost ? Style::red : Style::dim, printable(gap.text))
        << (gap.lost ? "" : "; nothing is missing in the database") << '\n';
  for (const EventRow& event : store.read_events(run.number, "plugin_change"))
    for (const nlohmann::json& change : event.body.value("plugins", nlohmann::json::array()))
      out << "  attempt " << event.attempt << " went on with a changed plugin: "
          << printable(change.value("name", "") + " " + change.value("old_version", "") + " (" +
                       short_hash(change.value("old_sha256", "")) + ") -> " +
                       change.value("new_version", "") + " (" + short_hash(change.value("new_sha256", "")) +
                       ")")
          << '\n';

  const AttemptRow& last = attempts.back();
  if (!last.plugins.empty()) {
    heading(out, terminal, "plugins (attempt " + std::to_string(last.ordinal) + ")");
    Table plugins({{"NAME"}, {"VERSION"}, {"SHA-256"}});
    for (const PluginRow& plugin : last.plugins)
      plugins.add({plugin.name, plugin.version, short_hash(plugin.sha256)});
    plugins.print(out, terminal, 2);
  }
  if (!last.environment.is_object()) return;
  heading(out, terminal, "numeric environment (attempt " + std::to_string(last.ordinal) + ")");
  for (const auto& [name, value] : last.environment.items())
    if (!value.is_structured()) field(out, name, value_text(value));
}

void print_checkpoints(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal) {
  std::vector<CheckpointRow> checkpoints = store.read_checkpoints(run.number);
  const std::size_t written = checkpoints.size();
  std::erase_if(checkpoints, [](const CheckpointRow& checkpoint) { return !checkpoint.on_disk; });
  if (written == 0) return;
  heading(out, terminal, "checkpoints");
  Table table({{"STEP", Align::right}, {"KIND"}, {"SIZE", Align::right}, {"SHA-256"}, {"FILE"}});
  for (const CheckpointRow& checkpoint : checkpoints)
    table.add({std::to_string(checkpoint.step), checkpoint.kind,
               bytes_text(static_cast<std::uint64_t>(checkpoint.bytes)), checkpoint.sha256.substr(0, 12),
               checkpoint.path});
  table.print(out, terminal, 2);
  if (written > checkpoints.size())
    out << "  " << written - checkpoints.size() << " older ones were removed\n";
}

void print_verifications(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal) {
  const std::vector<VerificationRow> verifications = store.read_verifications(run.number);
  if (verifications.empty()) return;
  heading(out, terminal, "verifications");
  for (const VerificationRow& verification : verifications) {
    const bool equal = verification.outcome == "equal";
    out << "  " << time_text(verification.time) << "  "
        << styled(terminal, equal ? Style::green : Style::red, printable(verdict_text(verification))) << '\n';
  }
}

void print_retraining(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal) {
  const nlohmann::json recorded = read_retraining(store, run);
  if (recorded.is_null()) return;
  heading(out, terminal, "retraining");
  for (const std::string& sentence : sentences(retraining_in(recorded)))
    out << "  " << printable(sentence) << '\n';
}

}  // namespace

void print_run(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal, bool all) {
  out << styled(terminal, Style::bold, run.name) << "  " << run.id << '\n';
  print_summary(out, run, store);
  const Metrics metrics = read_metrics(store.database());
  const std::string selected = scores_of(store, {run}).front().rule.metric.name;
  print_scores(out, run, metrics, selected, terminal);
  heading(out, terminal, "curves");
  print_curve(out, store, run, terminal, metrics.of("train/" + loss_measure().name));
  print_curve(out, store, run, terminal, metrics.of(selected));
  print_epochs(out, store, run, metrics, selected, terminal);
  print_params(out, store, run, terminal, all);
  print_data(out, store, run, terminal);
  print_attempts(out, store, run, terminal);
  print_checkpoints(out, store, run, terminal);
  print_verifications(out, store, run, terminal);
  print_retraining(out, store, run, terminal);
}

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Prints the sections of `exp show`, one function for each, in the order of print_run(), which show_verb.cpp
// calls; show_scores.cpp prints the section of scores. The text is for people and may change; programs read
// run_json.cpp. Read next: show_text.hpp.
#include "cli/show_text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>

#include "analysis/comparison.hpp"
#include "analysis/retraining.hpp"
#include "base/sha256.hpp"
#include "cli/run_list.hpp"
#include "cli/table.hpp"
#include "cli/verify_screen.hpp"
#include "config/value.hpp"
#include "document/quantity.hpp"
#include "report/wording.hpp"
#include "runner/launched_runs.hpp"
#include "store/job_usage.hpp"
#include "store/lineage.hpp"
#include "store/record_gaps.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

/// The width of the names before values.
constexpr std::size_t name_width = 12;

void field(std::ostream& out, const std::string& name, const std::string& value,
           std::size_t width = name_width) {
  if (value.empty()) return;
  out << "  " << name << std::string(name.size() < width ? width - name.size() : 1, ' ') << printable(value)
      << '\n';
}

std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return config::shortest(value.get<double>());
  return value.dump();
}

/// Returns `pre (0123456789), weights 4f1c... read by attempt 1`.
std::string parent_text(const store::ParentRow& parent) {
  const std::string name = parent.run ? parent.run->name + " (" + parent.run->id + ")" : parent.experiment;
  if (parent.sha256.empty()) return name + ", whose weights have not been read yet";
  return name + ", weights " + short_hash(parent.sha256) + " read by attempt " +
         std::to_string(parent.attempt);
}

/// Returns "database b.db, 2026-01-31 23:59:59".
std::string origin_text(const store::OriginRow& origin) {
  const std::string from =
      origin.kind == "merge" ? "database " + origin.name : origin.kind + " " + origin.name;
  return from + (origin.sha256.empty() ? "" : " (SHA-256 " + short_hash(origin.sha256) + ")") + ", " +
         time_text(origin.time);
}

void print_summary(std::ostream& out, const store::RunRow& run, store::Store& store) {
  std::string tags;
  for (const std::string& tag : store.read_tags(run.number)) tags += (tags.empty() ? "" : ", ") + tag;
  field(out, "state", std::string(store::name_of(run.state)) + (run.reason.empty() ? "" : ": " + run.reason));
  if (const std::optional<runner::SchedulerNote> note = runner::scheduler_note(store, run))
    field(out, "job", note->text);
  if (run.kind != "training") field(out, "kind", run.kind);
  if (run.origin) field(out, "recorded by", origin_text(*run.origin) + ", not by this database");
  field(out, "backend", run.backend);
  field(out, "seed",
        std::to_string(run.seed) + (run.repeat > 1 ? ", repeat " + std::to_string(run.repeat) : ""));
  field(out, "sweep", run.sweep == run.name ? "" : run.sweep);
  field(out, "tags", tags);
  field(out, "note", run.note);
  field(out, "created", time_text(run.created));
  field(out, "completed", run.finished ? time_text(*run.finished) : "");
  if (const std::optional<store::ParentRow> parent = store.read_parent(run))
    field(out, "starts from", parent_text(*parent));
  if (const std::optional<store::RunRow> before = store::retrained_by(store, run))
    field(out, "retrains", before->name + " (" + before->id + ")");
  for (const auto& [table, needed] : store.read_parents(run)) {
    if (table == record::pretrained_role) continue;
    const bool learns = table == record::teacher_role;
    field(out, learns ? "learns from" : "asks", parent_text(needed));
  }
  field(out, "question", run.question);
  field(out, "folder", store.run_folder(run.id).string());
}

void print_params(std::ostream& out, store::Store& store, const store::RunRow& run, const Terminal& terminal,
                  bool all) {
  std::vector<store::ParamRow> params = store.read_params(run.number);
  const auto set = std::stable_partition(
      params.begin(), params.end(), [](const store::ParamRow& param) { return param.source != "default"; });
  const auto defaults = params.end() - set;
  if (!all) params.erase(set, params.end());
  print_heading(out, terminal, "settings");
  Table table({{"KEY"}, {"VALUE"}, {"FROM"}});
  for (const store::ParamRow& param : params)
    table.add({param.key, value_text(param.value),
               param.source == "default" ? param.source
               : param.at.empty()        ? param.source
                                         : param.at});
  table.print(out, terminal, 2);
  if (!all && defaults > 0) out << "  and " << defaults << " with their default (--all shows them)\n";
}

void print_data(std::ostream& out, store::Store& store, const store::RunRow& run, const Terminal& terminal) {
  print_heading(out, terminal, "data");
  const std::optional<record::Started> started = store::last_started(store.read_attempts(run.number));
  std::map<std::string, record::SetFacts> unnamed =
      started ? started->data : std::map<std::string, record::SetFacts>();
  Table table({{"SET"}, {"EXAMPLES", Align::right}, {"SHA-256"}, {"FILE"}});
  for (const store::DatasetRow& set : store.read_datasets(run.number)) {
    const auto facts = unnamed.find(set.role);
    table.add({set.role, facts == unnamed.end() ? "" : thousands(facts->second.examples),
               short_hash(set.sha256), set.path});
    unnamed.erase(set.role);
  }
  for (const auto& [split, facts] : unnamed)  // a share of the training files
    table.add({split, thousands(facts.examples), "", "split off train by data.split"});
  table.print(out, terminal, 2);
  if (started && started->max_length)
    out << "  data.max_length is " << thousands(*started->max_length) << " tokens for this training set\n";
}

/// Returns, for example, "job 12_3: 1.24 MJ, at most 3.10 GB in a process; sums over 5 attempts".
std::string usage_text(const store::JobUsage& usage) {
  std::string text = "job " + usage.job + ":";
  if (usage.joules) text += " " + document::energy_text(*usage.joules);
  if (usage.peak_bytes)
    text += std::string(usage.joules ? ", at most " : " at most ") +
            bytes_text(static_cast<std::uint64_t>(*usage.peak_bytes)) + " in a process";
  if (usage.attempts > 1) text += "; sums over " + std::to_string(usage.attempts) + " attempts";
  return text;
}

/// Returns "0123456789", with a + if a diff is recorded.
std::string state_text(const std::string& hash, const std::string& diff) {
  return hash.empty() ? "-" : hash.substr(0, 10) + (diff.empty() ? "" : "+");
}

void print_attempts(std::ostream& out, store::Store& store, const store::RunRow& run,
                    const Terminal& terminal) {
  const std::vector<store::AttemptRow> attempts = store.read_attempts(run.number);
  if (attempts.empty()) return;
  print_heading(out, terminal, "attempts");
  Table table({{"NO", Align::right},
               {"STATE"},
               {"STARTED"},
               {"TIME", Align::right},
               {"FROM STEP", Align::right},
               {"HOST"},
               {"ENCORE"},
               {"EXPERIMENT"},
               {"WHY"}});
  for (const store::AttemptRow& attempt : attempts) {
    const double end = attempt.finished ? *attempt.finished : world::now_seconds();
    const bool timed = attempt.finished || attempt.state == store::RunState::running;
    table.add({std::to_string(attempt.ordinal), state_cell(attempt.state), time_text(attempt.started),
               timed ? document::duration_text(end - attempt.started) : "-",
               attempt.first_step ? std::to_string(*attempt.first_step) : "-", attempt.holder.host,
               attempt.source ? state_text(attempt.source->commit.empty() ? attempt.source->sha256
                                                                          : attempt.source->commit,
                                           attempt.source->diff)
                              : "-",
               state_text(attempt.commit_hash, attempt.diff),
               attempt.reason.empty() ? attempt.spool_problem : attempt.reason});
  }
  table.print(out, terminal, 2);

  std::string told;
  for (const auto& [attempt, usage] : store::read_job_usage(store, run.number))
    if (const std::string text = usage_text(usage); text != told)
      out << "  " << printable(told = text) << '\n';
  for (const store::RecordGap& gap : store::find_record_gaps(store, run))
    out << "  " << styled(terminal, gap.lost ? Style::red : Style::dim, printable(gap.text))
        << (gap.lost ? "" : "; the database has all records") << '\n';
  for (const store::EventRow& event : store.read_events(run.number, "plugin_change"))
    for (const nlohmann::json& change : event.body.value("plugins", nlohmann::json::array()))
      out << "  attempt " << event.attempt << " resumed with a changed plugin: "
          << printable(change.value("name", "") + " " + change.value("old_version", "") + " (" +
                       short_hash(change.value("old_sha256", "")) + ") -> " +
                       change.value("new_version", "") + " (" + short_hash(change.value("new_sha256", "")) +
                       ")")
          << '\n';

  const store::AttemptRow& last = attempts.back();
  if (!last.plugins.empty()) {
    print_heading(out, terminal, "plugins (attempt " + std::to_string(last.ordinal) + ")");
    Table plugins({{"NAME"}, {"VERSION"}, {"SHA-256"}});
    for (const store::PluginRow& plugin : last.plugins)
      plugins.add({plugin.name, plugin.version, short_hash(plugin.sha256)});
    plugins.print(out, terminal, 2);
  }
  if (!last.environment.is_object()) return;
  print_heading(out, terminal, "numeric environment (attempt " + std::to_string(last.ordinal) + ")");
  std::size_t width = name_width;
  for (const auto& [name, value] : last.environment.items()) width = std::max(width, name.size() + 2);
  for (const auto& [name, value] : last.environment.items())
    if (!value.is_structured()) field(out, name, value_text(value), width);
}

void print_checkpoints(std::ostream& out, store::Store& store, const store::RunRow& run,
                       const Terminal& terminal) {
  std::vector<store::CheckpointRow> checkpoints = store.read_checkpoints(run.number);
  const std::size_t written = checkpoints.size();
  std::erase_if(checkpoints, [](const store::CheckpointRow& checkpoint) { return !checkpoint.on_disk; });
  if (written == 0) return;
  print_heading(out, terminal, "checkpoints");
  Table table({{"STEP", Align::right}, {"KIND"}, {"SIZE", Align::right}, {"SHA-256"}, {"FILE"}});
  for (const store::CheckpointRow& checkpoint : checkpoints)
    table.add({std::to_string(checkpoint.step), checkpoint.kind,
               bytes_text(static_cast<std::uint64_t>(checkpoint.bytes)), short_hash(checkpoint.sha256),
               checkpoint.path});
  table.print(out, terminal, 2);
  if (written > checkpoints.size())
    out << "  " << written - checkpoints.size() << " older checkpoints were removed\n";
}

void print_verifications(std::ostream& out, store::Store& store, const store::RunRow& run,
                         const Terminal& terminal) {
  const std::vector<store::VerificationRow> verifications = store.read_verifications(run.number);
  if (verifications.empty()) return;
  print_heading(out, terminal, "verifications");
  for (const store::VerificationRow& verification : verifications) {
    const bool equal = verification.outcome == "equal";
    out << "  " << time_text(verification.time) << "  "
        << styled(terminal, equal ? Style::green : Style::red, printable(verdict_text(verification)))
        << (verification.origin ? "; claimed by " + printable(origin_text(*verification.origin)) : "")
        << '\n';
  }
}

void print_retraining(std::ostream& out, store::Store& store, const store::RunRow& run,
                      const Terminal& terminal) {
  const nlohmann::json recorded = store::read_retraining(store, run);
  if (recorded.is_null()) return;
  print_heading(out, terminal, "retraining");
  for (const std::string& sentence : analysis::sentences(analysis::retraining_in(recorded)))
    out << "  " << printable(sentence) << '\n';
}

}  // namespace

void print_run(std::ostream& out, store::Store& store, const store::RunRow& run, const Terminal& terminal,
               bool all) {
  out << styled(terminal, Style::bold, run.name) << "  " << run.id << '\n';
  print_summary(out, run, store);
  print_measured(out, store, run, terminal);
  print_params(out, store, run, terminal, all);
  print_data(out, store, run, terminal);
  print_attempts(out, store, run, terminal);
  print_checkpoints(out, store, run, terminal);
  print_verifications(out, store, run, terminal);
  print_retraining(out, store, run, terminal);
}

}  // namespace encore::cli

// SPDX-License-Identifier: BSD-3-Clause
// Writes everything that the database has about a run as JSON, for show_verb.cpp, dump_verb.cpp and other
// verbs with lists of runs. Programs read the names of the members: add members, but never rename one. Read
// next: run_json.hpp.
#include "cli/run_json.hpp"

#include <map>

#include "analysis/selection_notice.hpp"
#include "config/core_schema.hpp"
#include "store/job_usage.hpp"
#include "store/lineage.hpp"
#include "store/record_gaps.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

Json curves_json(store::Store& store, const store::RunRow& run) {
  Json curves = Json::object();
  for (const store::MetricRow& metric : store.read_metrics(run.number)) {
    Json steps = Json::array(), values = Json::array();
    for (const store::CurvePoint& point : store.read_curve(run.number, metric.name)) {
      steps.push_back(point.step);
      values.push_back(point.value);
    }
    curves[metric.name] = {{"unit", metric.meaning.unit}, {"step", steps}, {"value", values}};
  }
  return curves;
}

Json attempts_json(store::Store& store, const store::RunRow& run) {
  Json attempts = Json::array();
  std::map<int, store::JobUsage> used;
  for (auto& [attempt, usage] : store::read_job_usage(store, run.number)) used[attempt] = std::move(usage);
  for (const store::AttemptRow& attempt : store.read_attempts(run.number)) {
    Json plugins = Json::array();
    for (const store::PluginRow& plugin : attempt.plugins)
      plugins.push_back({{"name", plugin.name},
                         {"version", plugin.version},
                         {"sha256", plugin.sha256},
                         {"fingerprint", plugin.fingerprint}});
    attempts.push_back({{"attempt", attempt.ordinal},
                        {"state", store::name_of(attempt.state)},
                        {"reason", attempt.reason},
                        {"started", attempt.started},
                        {"finished", attempt.finished ? Json(*attempt.finished) : Json()},
                        {"first_step", attempt.first_step ? Json(*attempt.first_step) : Json()},
                        {"numeric_environment", attempt.environment},
                        {"host", attempt.host},
                        {"build", attempt.build},
                        {"plugins", plugins},
                        {"source", attempt.source ? Json(record::json_of(*attempt.source)) : Json()},
                        {"commit", attempt.commit_hash},
                        {"diff", attempt.diff}});
    if (const auto found = used.find(attempt.ordinal); found != used.end())
      attempts.back()["job_usage"] = {
          {"job", found->second.job},
          {"joules", found->second.joules ? Json(*found->second.joules) : Json()},
          {"resident_bytes", found->second.peak_bytes ? Json(*found->second.peak_bytes) : Json()},
          {"attempts", found->second.attempts}};
  }
  return attempts;
}

Json plugin_changes_json(store::Store& store, const store::RunRow& run) {
  Json changes = Json::array();
  for (const store::EventRow& event : store.read_events(run.number, "plugin_change"))
    changes.push_back({{"attempt", event.attempt},
                       {"time", event.time},
                       {"plugins", event.body.value("plugins", nlohmann::json::array())}});
  return changes;
}

Json parent_json(const std::optional<store::ParentRow>& parent) {
  if (!parent) return nullptr;
  return {{"name", parent->run ? Json(parent->run->name) : Json()},
          {"id", parent->run ? Json(parent->run->id) : Json()},
          {"experiment", parent->experiment.empty() ? Json() : Json(parent->experiment)},
          {"sha256", parent->sha256.empty() ? Json() : Json(parent->sha256)},
          {"attempt", parent->sha256.empty() ? Json() : Json(parent->attempt)}};
}

/// Returns the runs that the steps of an application ask, by the names of the steps.
Json asked_json(store::Store& store, const store::RunRow& run) {
  Json asked = Json::object();
  for (const auto& [table, parent] : store.read_parents(run))
    if (const std::string step = config::step_in(table); !step.empty()) asked[step] = parent_json(parent);
  return asked;
}

/// Returns the run that this run retrains, and the outcome.
Json retraining_json(store::Store& store, const store::RunRow& run) {
  const std::optional<store::RunRow> before = store::retrained_by(store, run);
  if (!before) return nullptr;
  return {{"name", before->name}, {"id", before->id}, {"outcome", Json(store::read_retraining(store, run))}};
}

Json origin_json(const std::optional<store::OriginRow>& origin) {
  if (!origin) return nullptr;
  return {{"kind", origin->kind},
          {"name", origin->name},
          {"sha256", origin->sha256.empty() ? Json() : Json(origin->sha256)},
          {"time", origin->time}};
}

Json verifications_json(store::Store& store, const store::RunRow& run) {
  Json verifications = Json::array();
  for (const store::VerificationRow& verification : store.read_verifications(run.number))
    verifications.push_back(
        {{"time", verification.time},
         {"outcome", verification.outcome},
         {"first_step", verification.first_step ? Json(*verification.first_step) : Json()},
         {"scope", verification.scope},
         {"origin", origin_json(verification.origin)},
         {"details", verification.details}});
  return verifications;
}

}  // namespace

nlohmann::ordered_json run_head_json(const store::RunRow& run) {
  return {{"name", run.name},     {"id", run.id},           {"state", store::name_of(run.state)},
          {"reason", run.reason}, {"backend", run.backend}, {"seed", run.seed},
          {"repeat", run.repeat}, {"sweep", run.sweep},     {"question", run.question},
          {"group", run.group}};
}

nlohmann::ordered_json run_json(store::Store& store, const store::RunRow& run) {
  Json params = Json::object(), data = Json::object(), checkpoints = Json::array(), artifacts = Json::array();
  for (const store::ParamRow& param : store.read_params(run.number))
    params[param.key] = {{"value", param.value}, {"source", param.source}, {"at", param.at}};
  for (const store::DatasetRow& set : store.read_datasets(run.number))
    data[set.role] = {{"path", set.path}, {"sha256", set.sha256}};
  // A set without a file is a share of the training files.
  const std::optional<record::Started> started = store::last_started(store.read_attempts(run.number));
  if (started)
    for (const auto& [split, facts] : started->data) data[split]["examples"] = facts.examples;
  if (started && started->max_length) data["train"]["max_length"] = *started->max_length;
  for (const store::CheckpointRow& checkpoint : store.read_checkpoints(run.number))
    checkpoints.push_back({{"step", checkpoint.step},
                           {"kind", checkpoint.kind},
                           {"path", checkpoint.path},
                           {"bytes", checkpoint.bytes},
                           {"sha256", checkpoint.sha256},
                           {"on_disk", checkpoint.on_disk}});
  for (const store::ArtifactRow& artifact : store.read_artifacts(run.number))
    artifacts.push_back({{"name", artifact.name}, {"path", artifact.path}, {"sha256", artifact.sha256}});
  Json gaps = Json::array();
  for (const store::RecordGap& gap : store::find_record_gaps(store, run))
    gaps.push_back({{"text", gap.text}, {"lost", gap.lost}});
  Json notices = Json::array();
  for (const auto& [number, notice] : analysis::selection_notices(store, {run})) notices.push_back(notice);
  Json object = run_head_json(run);
  object.update(Json{{"kind", run.kind},
                     {"origin", origin_json(run.origin)},
                     {"note", run.note},
                     {"tags", store.read_tags(run.number)},
                     {"created", run.created},
                     {"finished", run.finished ? Json(*run.finished) : Json()},
                     {"folder", store.run_folder(run.id).string()},
                     {"result", run.result},
                     {"params", params},
                     {"data", data},
                     {"retrains", retraining_json(store, run)},
                     {"starts_from", parent_json(store.read_parent(run, record::pretrained_role))},
                     {"learns_from", parent_json(store.read_parent(run, record::teacher_role))},
                     {"asks", asked_json(store, run)},
                     {"curves", curves_json(store, run)},
                     {"attempts", attempts_json(store, run)},
                     {"plugin_changes", plugin_changes_json(store, run)},
                     {"record_gaps", gaps},
                     {"notices", notices},
                     {"checkpoints", checkpoints},
                     {"artifacts", artifacts},
                     {"verifications", verifications_json(store, run)}});
  return object;
}

void write_runs_json(store::Store& store, const std::vector<store::RunRow>& runs,
                     const std::function<void(const std::string&)>& write) {
  write("[");
  for (const store::RunRow& run : runs)
    write((&run == &runs.front() ? "\n" : ",\n") +
          run_json(store, run).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  write("\n]\n");
}

}  // namespace encore::cli

// SPDX-License-Identifier: BSD-3-Clause
// compare_record(): compares points, meanings, facts, results and files of a run with those of its
// verification, and counts the differences. It is the last step of verifier.cpp. What depends on the clock or
// the machine is left out (measures_machine). The counts are stored with the verification. Read
// record_comparison.hpp first.
#include "runner/record_comparison.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/json_text.hpp"
#include "base/measure_json.hpp"
#include "base/sha256.hpp"
#include "record/spool_reader.hpp"
#include "runner/drift.hpp"
#include "runner/score_comparison.hpp"
#include "store/metrics.hpp"

namespace encore::runner {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Files of a run's folder that no event names.
constexpr const char* unrecorded_files[] = {"vocab.txt", "labels.txt", "max_length.txt"};

/// What the verification's spools contain, by kind of event.
struct Reported {
  std::map<std::string, Metric> metrics;
  std::optional<record::Started> started;
  std::map<std::int64_t, record::Saved> checkpoints;       ///< by step
  std::map<std::string, record::Wrote> artifacts;          ///< by name
  std::set<std::pair<std::int64_t, std::string>> digests;  ///< step and scope
  std::string result;                                      ///< JSON
};

Reported read_report(const fs::path& folder) {
  Reported reported;
  for (int attempt = 1; fs::exists(folder / record::spool_name(attempt)); ++attempt) {
    record::SpoolReader spool(folder / record::spool_name(attempt));
    for (record::SpoolRecord record; spool.next(record);) {
      if (record.kind == record::SpoolKind::metric)
        reported.metrics[record.name] = store::metric_from(record.name, record.unit, record.meaning);
      if (record.kind != record::SpoolKind::event) continue;
      const record::ReadEvent read = record.event();
      if (!read.event) continue;
      record::handle(
          *read.event, [&](const record::Started& started) { reported.started = started; },
          [&](const record::Saved& saved) { reported.checkpoints[saved.step] = saved; },
          [&](const record::Wrote& wrote) { reported.artifacts[wrote.name] = wrote; },
          [&](const record::Digested& digest) {
            reported.digests.emplace(digest.step, digest.scope);
            for (const auto& [path, value] : digest.tensors) reported.digests.emplace(digest.step, path);
          },
          [&](const record::Concluded&) { reported.result = read.body; });
    }
  }
  return reported;
}

/// Returns the members of an event, except its time.
std::map<std::string, json> members_of(const std::string& event) {
  std::map<std::string, json> members;
  const json object = json_or_null(event);
  if (object.is_object())
    for (const auto& [name, value] : object.items())
      if (name != "time" && name != "type" && !value.is_null()) members[name] = value;
  return members;
}

/// Returns the facts of the start of training that data, settings and seed decide, by name. Facts that were
/// not reported are missing.
std::map<std::string, json> facts_of(record::Started started) {
  started.numeric_environment = started.host = started.build = {};
  started.plugins.clear();
  started.threads.reset();
  started.pinning.clear();
  return members_of(record::event_text(started, 0.0));
}

class Comparing {
 public:
  Comparing(store::Store& store, const store::RunRow& run, const fs::path& run_folder,
            const fs::path& verification)
      : store_(store),
        run_(run),
        folder_(run_folder),
        again_(verification),
        reported_(read_report(verification)) {}

  RecordComparison compare() {
    for (const store::MetricRow& metric : store_.read_metrics(run_.number))
      last_ = std::max(last_, last_step(metric));
    meanings();
    values();
    digests();
    facts();
    result();
    files();
    return std::move(comparison_);
  }

 private:
  std::int64_t last_step(const store::MetricRow& metric) {
    const std::optional<store::CurvePoint> latest = store_.read_latest(run_.number, metric.name);
    return latest ? latest->step : 0;
  }

  void meanings() {
    std::set<std::string> own;
    const store::Metrics metrics =
        store::read_metrics(store_.database(), {run_});  // tables too, which have no points
    for (const Metric& metric : metrics.all()) {
      ++comparison_.meanings;
      own.insert(metric.name);
      const auto found = reported_.metrics.find(metric.name);
      const json run = json_of(metric.meaning);
      const json again = found == reported_.metrics.end() ? json() : json_of(found->second.meaning);
      if (run != again) differs("the meaning of " + metric.name, last_, run.dump(), again.dump());
    }
    for (const auto& [name, metric] : reported_.metrics)
      if (!own.contains(name)) differs(name, last_, "", json_of(metric.meaning).dump());
  }

  /// Compares in both directions, because a missing value is a difference too.
  void values() {
    const std::map<std::string, Curve> again = read_curves(again_, [](std::string_view) { return true; });
    std::map<std::string, Curve> own =
        read_curves(store_, run_.number, [](std::string_view) { return true; });
    for (const auto& [name, metric] : reported_.metrics) {
      if (measures_machine(metric)) continue;
      const auto found = again.find(name);
      compare_curves(name, own[name], found == again.end() ? Curve() : found->second);
    }
  }

  void compare_curves(const std::string& name, const Curve& own, const Curve& again) {
    const auto text = [](const Curve& curve, std::int64_t step) {
      const auto point = curve.find(step);
      return point == curve.end() ? std::string() : json(point->second).dump();
    };
    std::set<std::int64_t> steps;
    for (const Curve* curve : {&own, &again})
      for (const auto& [step, value] : *curve) steps.insert(step);
    comparison_.values += own.size();
    for (const std::int64_t step : steps)
      if (!own.contains(step) || !again.contains(step) || !same_value(own.at(step), again.at(step)))
        differs(name, step, text(own, step), text(again, step));
  }

  /// The verifier has compared the digests of the run; this checks that the run has all of them.
  void digests() {
    std::set<std::pair<std::int64_t, std::string>> own;
    for (const store::DigestRow& row : store_.read_digests(run_.number)) own.emplace(row.step, row.scope);
    for (const auto& [step, scope] : reported_.digests)
      if (!own.contains({step, scope})) differs("the digest of " + scope, step, "", "there");
  }

  void facts() {
    if (!reported_.started) return;
    const std::map<std::string, json> again = facts_of(*reported_.started);
    for (const store::AttemptRow& attempt : store_.read_attempts(run_.number))
      if (attempt.started_event) compare_members("its start: ", facts_of(*attempt.started_event), again);
  }

  void result() {
    if (run_.result.is_null() && reported_.result.empty()) return;
    compare_members("its result: ", members_of(run_.result.dump()), members_of(reported_.result));
  }

  void compare_members(const std::string& what, const std::map<std::string, json>& run,
                       const std::map<std::string, json>& again) {
    const auto text = [](const std::map<std::string, json>& members, const std::string& name) {
      const auto member = members.find(name);
      return member == members.end() ? std::string() : member->second.dump();
    };
    for (const auto& [name, value] : run) {
      ++comparison_.facts;
      if (text(again, name) != value.dump()) differs(what + name, last_, value.dump(), text(again, name));
    }
  }

  void files() {
    for (const store::CheckpointRow& row : store_.read_checkpoints(run_.number)) {
      const auto found = reported_.checkpoints.find(row.step);
      const bool is_there = found != reported_.checkpoints.end();
      compare_file(row.path, row.sha256, row.step, is_there ? found->second.sha256 : "");
      if (is_there && row.bytes != found->second.bytes)
        differs("the size of " + row.path, row.step, std::to_string(row.bytes),
                std::to_string(found->second.bytes));
    }
    std::set<std::string> own;
    for (const store::ArtifactRow& row : store_.read_artifacts(run_.number)) {
      own.insert(row.name);
      const auto found = reported_.artifacts.find(row.name);
      compare_file(row.path, row.sha256, last_,
                   found == reported_.artifacts.end() ? "" : found->second.sha256);
    }
    for (const auto& [name, wrote] : reported_.artifacts)
      if (!own.contains(name)) differs(wrote.path, last_, "", wrote.sha256);
    for (const char* name : unrecorded_files)
      if (fs::exists(folder_ / name))
        compare_file(name, sha256_of_file(folder_ / name), last_,
                     fs::exists(again_ / name) ? sha256_of_file(again_ / name) : "");
  }

  void compare_file(const std::string& path, const std::string& sha256, std::int64_t step,
                    const std::string& again) {
    ++comparison_.files;
    if (sha256 != again) differs(path, step, sha256, again);
  }

  void differs(const std::string& what, std::int64_t step, std::string run, std::string verification) {
    ++comparison_.different;
    if (!comparison_.first || step < comparison_.first->step)
      comparison_.first = RecordDifference{
          .what = what, .step = step, .run = std::move(run), .verification = std::move(verification)};
  }

  store::Store& store_;
  const store::RunRow& run_;
  const fs::path &folder_, &again_;
  const Reported reported_;
  std::int64_t last_ = 0;
  RecordComparison comparison_;
};

}  // namespace

RecordComparison compare_record(store::Store& store, const store::RunRow& run, const fs::path& run_folder,
                                const fs::path& verification) {
  return Comparing(store, run, run_folder, verification).compare();
}

bool measures_machine(const Metric& metric) {
  return metric.meaning.unit == "s" || metric.meaning.unit.ends_with("/s");
}

}  // namespace encore::runner

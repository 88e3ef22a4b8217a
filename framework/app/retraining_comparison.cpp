// SPDX-License-Identifier: BSD-3-Clause
// Compares a retrained run with its parent, from stored predictions and from answers of workers that score
// both now. retrain.cpp calls compare_with_parent() after the training. Both runs must be scored on equal
// examples in equal order, since the test pairs them. Read next: retraining_comparison.hpp.
#include "app/retraining_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "analysis/predictions.hpp"
#include "app/worker_answer.hpp"
#include "base/measure_json.hpp"
#include "base/nearest.hpp"
#include "record/evaluate_answer.hpp"
#include "report/wording.hpp"
#include "store/metrics.hpp"
#include "store/run_score.hpp"

namespace encore::app {

namespace {

/// The scores of a run on one set.
struct ScoredSet {
  Statistics statistics;
  std::size_t examples = 0;
  double value = NAN;
};

ScoredSet score_now(const ModelRequest& request, const App& app, store::Store& store,
                    const store::RunRow& run, const Metric& measure, const NewTest& test) {
  std::vector<std::string> more = {"--statistics", "--threads", std::to_string(request.threads)};
  for (const record::DataFile& file : test.files) more.insert(more.end(), {"--file", file.path});
  if (test.held_out > 0) more.insert(more.end(), {"--held-out", nlohmann::json(test.held_out).dump()});
  const TrainedRun trained = find_trained_run(store, run, request.backend, Takes::applications);
  const auto answer = worker_answer<record::EvaluateAnswer>(
      app.events, trained.worker, worker_arguments(app, request, trained, "evaluate", more));
  for (std::size_t i = 0; i < test.files.size(); ++i)
    if (answer.files.at(i).sha256 != test.files[i].sha256)
      throw Error(test.files[i].path + " has changed while the run was trained; run the same command again");
  ScoredSet result{.statistics = {}, .examples = answer.examples};
  for (const nlohmann::json& example : answer.statistics) add_example(result.statistics, example);
  const auto value = answer.measures.find(measure.measure_name());
  if (value != answer.measures.end()) result.value = value->second;
  return result;
}

Statistics stored_statistics(store::Store& store, const store::RunRow& run, const std::string& split) {
  const std::filesystem::path file =
      analysis::recorded_artifact(store, run, analysis::predictions_name(split));
  analysis::PredictedStatistics read = analysis::read_statistics(file);
  if (read.is_old)
    throw Error(file.string() + " was written by an older version without statistics; train " + run.name +
                " again (exp run FILE --fresh)");
  return std::move(read.statistics);
}

analysis::ComparedSet old_set(store::Store& store, const store::RunRow& run, const store::RunRow& parent,
                              const Metric& measure) {
  const std::string what = measure.split() == "dev" ? "development set" : measure.split() + " set";
  if (analysis::follows_from_examples(measure))
    return analysis::compared(measure, what, stored_statistics(store, parent, measure.split()),
                              stored_statistics(store, run, measure.split()));
  const std::optional<record::Started> started = store::last_started(store.read_attempts(run.number));
  const std::size_t examples = started && started->data.contains(measure.split())
                                   ? static_cast<std::size_t>(started->data.at(measure.split()).examples)
                                   : 0;
  return analysis::compared(measure, what, examples,
                            store::result_measure(parent, measure.name).value_or(NAN),
                            store::result_measure(run, measure.name).value_or(NAN));
}

analysis::ComparedSet new_set(const ModelRequest& request, const App& app, store::Store& store,
                              const store::RunRow& run, const store::RunRow& parent, const Metric& measure,
                              const NewTest& test) {
  const ScoredSet before = score_now(request, app, store, parent, measure, test),
                  after = score_now(request, app, store, run, measure, test);
  return analysis::follows_from_examples(measure)
             ? analysis::compared(measure, test.text(), before.statistics, after.statistics)
             : analysis::compared(measure, test.text(), after.examples, before.value, after.value);
}

}  // namespace

std::string NewTest::text() const {
  std::vector<std::string> names;
  for (const record::DataFile& file : files)
    names.push_back(std::filesystem::path(file.path).filename().string());
  if (held_out == 0) return listed(names);
  char share[40];
  std::snprintf(share, sizeof share, "%.4g", 100.0 * held_out);
  return std::string(share) + " % of " + listed(names);
}

Metric compared_measure(store::Store& store, const store::RunRow& run, const std::string& name) {
  const store::Metrics metrics = store::read_metrics(store.database(), {run});
  Metric measure = store::leading_metric(store, {run});
  if (!name.empty()) {
    std::vector<std::string> known;
    const nlohmann::json measures = run.result.is_object()
                                        ? run.result.value("measures", nlohmann::json::object())
                                        : nlohmann::json::object();
    for (const auto& [metric, value] : measures.items()) {
      const Metric one = metrics.of(metric);
      if (one.split() == measure.split()) known.push_back(one.measure_name());
    }
    if (std::ranges::find(known, name) == known.end())
      throw Error("run " + run.name + " has no measure \"" + name + "\"" +
                  did_you_mean(name, known, "; it has " + quoted_list(known)));
    measure = metrics.of(measure.split() + "/" + name);
  }
  if (!measure.is_known() || measure.meaning.better == Better::neither)
    throw Error(measure.name + " has no better direction; choose another measure with --measure");
  return measure;
}

analysis::Retraining compare_with_parent(const ModelRequest& request, const App& app, store::Store& store,
                                         const store::RunRow& run, const store::RunRow& parent,
                                         const Metric& measure, const NewTest& test) {
  return {.parent = parent.id,
          .measure = measure,
          .old_set = old_set(store, run, parent, measure),
          .new_set = new_set(request, app, store, run, parent, measure, test),
          .new_files = test.files,
          .held_out = test.held_out,
          .rule = {}};
}

bool is_same_comparison(const analysis::Retraining& retraining, const store::RunRow& parent,
                        const Metric& measure, const NewTest& test) {
  return retraining.parent == parent.id && retraining.measure.name == measure.name &&
         retraining.held_out == test.held_out &&
         std::ranges::equal(retraining.new_files, test.files, {}, &record::DataFile::sha256,
                            &record::DataFile::sha256);
}

}  // namespace encore::app

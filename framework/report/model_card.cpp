// SPDX-License-Identifier: BSD-3-Clause
// model_card() writes the README.md of an exported run from the record of that run. `exp export` calls it.
// Only recorded facts appear. The Hugging Face hub reads the head of the file, so its keys are fixed. Read
// model_card.hpp first.
#include "report/model_card.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/comparison.hpp"
#include "analysis/pooling.hpp"
#include "analysis/statistics.hpp"
#include "base/shell_word.hpp"
#include "document/escape.hpp"
#include "report/wording.hpp"
#include "store/run_score.hpp"

namespace encore::report {

namespace {

/// Returns a line of a table; the cells are Markdown already.
std::string row_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

std::string in_code(const std::string& text) {
  return document::markdown_code(text, true);
}

/// Returns the measures that this run has, the leading one first.
std::vector<Metric> metrics_of(store::Store& store, const store::RunRow& run) {
  const store::Metrics all = store::read_metrics(store.database(), {run});
  std::vector<Metric> metrics = all.in_order(store::leading_metric(store, {run}).name, {"test", "dev"});
  std::erase_if(metrics, [&](const Metric& metric) { return !store::result_measure(run, metric.name); });
  return metrics;
}

std::string score_row(const Metric& metric, const store::RunRow& run,
                      const std::vector<store::RunRow>& replicates) {
  std::vector<double> values;
  for (const store::RunRow& replicate : replicates)
    if (const auto value = store::result_measure(replicate, metric.name)) values.push_back(*value);
  const Unit unit = unit_of(metric);
  const std::string name =
      in_code(metric.name) + (unit.name.empty() ? "" : ", " + document::markdown_text(unit.name));
  const std::optional<analysis::Interval> interval = analysis::mean_interval(metric, values);
  const analysis::MeanDigits digits(metric, analysis::mean_of(values), analysis::deviation_of(values));
  const auto shown = [&](double value) { return document::markdown_text(digits.text(value)); };
  return row_of({name, shown(*store::result_measure(run, metric.name)), shown(analysis::mean_of(values)),
                 interval ? shown(interval->low) + " .. " + shown(interval->high) : "\u2013"});
}

std::string scores(store::Store& store, const store::RunRow& run,
                   const std::vector<store::RunRow>& replicates) {
  std::string text = "## Scores\n\n";
  const std::vector<Metric> metrics = metrics_of(store, run);
  if (metrics.empty()) return text + "The database holds no score of this run.\n\n";
  text += row_of({"measure", "this model", "mean", "95 % interval of the mean"}) +
          "| --- | ---: | ---: | --- |\n";
  for (const Metric& metric : metrics) text += score_row(metric, run, replicates);
  std::vector<std::string> seeds;
  for (const store::RunRow& replicate : replicates) seeds.push_back(std::to_string(replicate.seed));
  if (seeds.size() < 2)
    return text +
           "\nNo other run differs in the seed alone, so there is no interval: how far chance goes is not "
           "known.\n\n";
  return text + "\nMean and interval (Student's t) are over " + std::to_string(seeds.size()) +
         " runs that differ in the seed alone: " + listed(seeds) + ".\n\n";
}

std::string data(store::Store& store, const store::RunRow& run) {
  std::string text =
      "## Data\n\n" + row_of({"role", "file", "SHA-256 of the content"}) + "| --- | --- | --- |\n";
  for (const store::DatasetRow& set : store.read_datasets(run.number))
    text += row_of({in_code(set.role), in_code(std::filesystem::path(set.path).filename().string()),
                    in_code(set.sha256)});
  return text + "\n";
}

std::string with_changes(const std::string& state, const std::string& diff) {
  return state.empty() || diff.empty() ? state : state + ", and changes to it";
}

/// Returns a sentence about the source of Encore, or "".
std::string source_of(const store::AttemptRow& attempt) {
  if (!attempt.source) return "";
  const record::SourceVersion& source = *attempt.source;
  return source.commit.empty() ? "folder " + source.archive + ", SHA-256 " + source.sha256
                               : with_changes("commit " + source.commit, source.diff);
}

std::string proof(store::Store& store, const store::RunRow& run, const record::ExportAnswer& model) {
  std::string text =
      "## How to verify\n\nWith the database of the experiment and the data, train the model again and "
      "compare every parameter, with\n\n```sh\n" +
      shell_command({"exp", "verify", shell_argument(run.name) == run.name ? run.name : run.id}) +
      "\n```\n\n";
  const auto fact = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += row_of({name, in_code(value)});
  };
  text += row_of({"fact", "value"}) + "| --- | --- |\n";
  fact("run", run.id);
  fact("seed", std::to_string(run.seed));
  fact("parameters are those of step", std::to_string(model.step));
  fact("question, SHA-256 of settings and data", run.question);
  fact("the same without the seed", run.group);
  fact("SHA-256 of " + model.weights_file, model.weights_sha256);
  fact("backend", run.backend);
  if (const std::vector<store::AttemptRow> attempts = store.read_attempts(run.number); !attempts.empty()) {
    fact("source of Encore", source_of(attempts.back()));
    fact("commit of the experiment's repository",
         with_changes(attempts.back().commit_hash, attempts.back().diff));
  }
  std::vector<std::string> verdicts;
  for (const store::VerificationRow& verification : store.read_verifications(run.number))
    verdicts.push_back(verification.outcome + " (" + utc_text(verification.time) +
                       (verification.origin ? ", as " + verification.origin->name + " says)" : ")"));
  text += "\n";
  return verdicts.empty() ? text + "It has not been verified yet.\n\n"
                          : text + "Verified so far: " + document::markdown_text(listed(verdicts)) + ".\n\n";
}

std::string settings(store::Store& store, const store::RunRow& run) {
  std::string text = "## Settings\n\nEvery setting that is not a default.\n\n" +
                     row_of({"setting", "value"}) + "| --- | --- |\n";
  for (const store::ParamRow& param : store.read_params(run.number))
    if (param.source != config::name_of(config::Source::fallback))
      text += row_of({in_code(param.key), in_code(config::setting_text(param.value))});
  return text + "\n";
}

std::string rounding(const record::ExportAnswer& model) {
  if (model.dtype == model.rounded_from) return "";
  return "The weights in this folder are rounded from " + model.rounded_from + " to " + model.dtype +
         ". The scores are those of the weights before that.\n\n";
}

std::string use(const record::ExportAnswer& model) {
  if (!model.use.empty()) return "## Use\n\n" + model.use;
  return "## Use\n\n```python\nfrom transformers import AutoTokenizer, " + model.architecture +
         "\n\ntokenizer = AutoTokenizer.from_pretrained(DIR)\nmodel = " + model.architecture +
         ".from_pretrained(DIR)\n```\n";
}

/// Returns "It is an encoder. Encore trained it, starting from random weights.", from the recorded settings.
std::string origin_text(store::Store& store, const store::RunRow& run) {
  const std::vector<store::ParamRow> params = store.read_params(run.number);
  const ModelOrigin origin = model_origin(store, run, [&](const std::string& key) {
    const auto found = std::ranges::find(params, key, &store::ParamRow::key);
    return found == params.end() ? nlohmann::json() : found->value;
  });
  const std::vector<ModelOrigin> one = {origin};
  std::string text = std::string(origin.is_trained ? "Encore trained it, starting from "
                                                   : "Encore took it over without training, with ") +
                     start_text(one);
  for (const std::string& more : further_texts(one)) text += ", " + more;
  return "It is " + std::string(origin.kind == "decoder" ? "a decoder" : "an " + origin.kind) + ". " + text +
         ".";
}

}  // namespace

std::vector<store::RunRow> replicates_of(store::Store& store, const store::RunRow& run) {
  std::vector<store::RunRow> runs = store.list_runs({.states = {store::RunState::completed}});
  std::erase_if(runs, [&](const store::RunRow& other) {
    return other.group != run.group || other.backend != run.backend;
  });
  if (std::ranges::find(runs, run.number, &store::RunRow::number) == runs.end()) return {run};
  std::vector<analysis::RunSource> sources;
  for (const store::RunRow& other : runs)
    sources.push_back({&other, analysis::environments_of(store, other)});
  const std::vector<std::string> keys = analysis::candidate_keys(sources, false);
  std::string key;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].number == run.number) key = keys[i];
  std::vector<store::RunRow> same;
  std::set<std::uint64_t> seeds;
  // A repeat has the same seed again, so it is not another draw.
  const auto take = [&](const store::RunRow& other) {
    if (seeds.insert(other.seed).second) same.push_back(other);
  };
  take(run);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (keys[i] == key) take(runs[i]);
  std::ranges::sort(same, {}, &store::RunRow::seed);
  return same;
}

std::string model_card(store::Store& store, const store::RunRow& run, const record::ExportAnswer& model) {
  const std::vector<store::RunRow> replicates = replicates_of(store, run);
  return "---\nlibrary_name: " + model.library + "\npipeline_tag: " + model.pipeline +
         "\ntags:\n- encore\n---\n\n# " + document::markdown_text(run.name) + "\n\nA " +
         document::markdown_code(model.architecture, false) + " with " + thousands(model.parameters) +
         " parameters. " + document::markdown_text(origin_text(store, run)) +
         " The rest of this page is from the database of the experiment.\n\n" + rounding(model) +
         scores(store, run, replicates) + data(store, run) + proof(store, run, model) + settings(store, run) +
         use(model);
}

}  // namespace encore::report

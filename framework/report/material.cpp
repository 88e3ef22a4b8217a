// See material.hpp.
#include "report/material.hpp"

#include <algorithm>
#include <set>

#include "report/wording.hpp"
#include "store/searches.hpp"

namespace encore {

namespace {

/// How checkpoints are chosen, where all runs agree.
std::string selection_of(const Material& material) {
  std::set<std::string> rules;
  for (const RunRow& run : material.runs) rules.insert(setting_text(material.setting(run, "train.select")));
  return rules.size() == 1 ? *rules.begin() : "";
}

}  // namespace

bool Material::all_searched(const Question& question) const {
  return std::ranges::all_of(question.runs, [&](const RunRow& run) { return searched.contains(run.number); });
}

bool Material::any_searched(const Question& question) const {
  return std::ranges::any_of(question.runs, [&](const RunRow& run) { return searched.contains(run.number); });
}

const AttemptRow* Material::told(const RunRow& run) const {
  const auto own = attempts.find(run.number);
  if (own == attempts.end()) return nullptr;
  for (auto attempt = own->second.rbegin(); attempt != own->second.rend(); ++attempt)
    if (attempt->started_event) return &*attempt;
  return nullptr;
}

const Started* Material::started(const RunRow& run) const {
  const AttemptRow* attempt = told(run);
  return attempt != nullptr ? &*attempt->started_event : nullptr;
}

const SetFacts* Material::facts(const RunRow& run, const std::string& role) const {
  const Started* own = started(run);
  if (own == nullptr) return nullptr;
  const auto set = own->data.find(role);
  return set != own->data.end() ? &set->second : nullptr;
}

nlohmann::json Material::setting(const RunRow& run, const std::string& key) const {
  const auto own = params.find(run.number);
  if (own == params.end()) return nullptr;
  const auto found =
      std::lower_bound(own->second.begin(), own->second.end(), key,
                       [](const ParamRow& param, const std::string& name) { return param.key < name; });
  return found != own->second.end() && found->key == key ? found->value : nlohmann::json();
}

bool Material::hides_texts(const Question& question, const std::string& section) const {
  const std::vector<std::string>& named = options.sections;
  if (std::find(named.begin(), named.end(), section) != named.end()) return false;
  // What one run says of a set holds for every run that was scored on it.
  return std::any_of(question.runs.begin(), question.runs.end(),
                     [&](const RunRow& run) { return setting(run, "data.private") == nlohmann::json(true); });
}

std::size_t Material::rows_of(std::size_t all) const {
  return options.most_rows == 0 ? all : std::min(all, options.most_rows);
}

Material gather(Store& store, const std::vector<RunRow>& runs, const std::string& subject,
                const ReportOptions& options) {
  Material material{store, options, subject, read_metrics(store.database(), runs),
                    {},    {},      runs,    {},
                    {},    {},      {},      {},
                    {},    {},      {},      runs_of_searches(store)};
  std::sort(material.runs.begin(), material.runs.end(),
            [](const RunRow& a, const RunRow& b) { return natural_less(a.name, b.name); });
  RunBatch batch(store, material.runs);
  material.params = batch.params();
  material.datasets = batch.datasets();
  material.attempts = batch.attempts();
  material.artifacts = batch.artifacts();
  material.verifications = batch.verifications();
  material.sweeps = batch.sweeps();
  material.select = selection_of(material);
  material.metric =
      options.metric.empty() ? leading_metric(store, runs) : material.metrics.of(options.metric);
  material.factors = factors_of(material.runs, material.params);
  material.questions = questions_of(material);
  return material;
}

}  // namespace encore

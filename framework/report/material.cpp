// See material.hpp.
#include "report/material.hpp"

#include <algorithm>
#include <set>

#include "report/wording.hpp"

namespace encore {

namespace {

bool has_measure(const RunRow& run, const std::string& metric) {
  return run.result.is_object() && run.result.value("measures", nlohmann::json::object()).contains(metric);
}

/// How checkpoints are chosen, where all runs agree.
std::string selection_of(const Material& material) {
  std::set<std::string> rules;
  for (const RunRow& run : material.runs) rules.insert(setting_text(material.setting(run, "train.select")));
  return rules.size() == 1 ? *rules.begin() : "";
}

std::string metric_of(const Material& material) {
  if (!material.options.metric.empty()) return material.options.metric;
  const auto any_has = [&](const std::string& metric) {
    return std::any_of(material.runs.begin(), material.runs.end(),
                       [&](const RunRow& run) { return has_measure(run, metric); });
  };
  const std::size_t blank = material.select.find(' ');
  const std::string selected = blank == std::string::npos ? "" : material.select.substr(blank + 1);
  return !any_has("test/f1") && any_has(selected) ? selected : "test/f1";
}

}  // namespace

const AttemptRow* Material::told(const RunRow& run) const {
  const auto own = attempts.find(run.number);
  if (own == attempts.end()) return nullptr;
  for (auto attempt = own->second.rbegin(); attempt != own->second.rend(); ++attempt)
    if (attempt->started_event.is_object()) return &*attempt;
  return nullptr;
}

nlohmann::json Material::setting(const RunRow& run, const std::string& key) const {
  const auto own = params.find(run.number);
  if (own == params.end()) return nullptr;
  const auto found =
      std::lower_bound(own->second.begin(), own->second.end(), key,
                       [](const ParamRow& param, const std::string& name) { return param.key < name; });
  return found != own->second.end() && found->key == key ? found->value : nlohmann::json();
}

bool Material::hides_sentences(const Question& question) const {
  const std::vector<std::string>& named = options.sections;
  if (std::find(named.begin(), named.end(), "examples") != named.end()) return false;
  // What one run says of a set holds for every run that was scored on it.
  return std::any_of(question.runs.begin(), question.runs.end(),
                     [&](const RunRow& run) { return setting(run, "data.private") == nlohmann::json(true); });
}

std::size_t Material::rows_of(std::size_t all) const {
  return options.most_rows == 0 ? all : std::min(all, options.most_rows);
}

Material gather(Store& store, const std::vector<RunRow>& runs, const std::string& subject,
                const ReportOptions& options) {
  Material material{store, options, subject, {}, {}, runs, {}, {}, {}, {}, {}, {}, {}, {}};
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
  material.metric = metric_of(material);
  material.factors = factors_of(material.runs, material.params);
  material.questions = questions_of(material);
  return material;
}

}  // namespace encore

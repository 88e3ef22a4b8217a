// See material.hpp.
#include "report/material.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "report/wording.hpp"

namespace encore {

namespace {

/// With more candidates only the best is tested against each of the others.
constexpr std::size_t most_for_all_pairs = 12;
/// Reading the predictions of more runs than these takes longer than everything else together.
constexpr std::size_t most_runs_for_examples = 40;

// --- factors ---

/// The values of one setting, one per run, as text to compare and as what they are.
struct Values {
  std::vector<std::string> texts;
  std::vector<nlohmann::json> levels;
  bool swept = false;
};

bool level_before(const nlohmann::json& a, const nlohmann::json& b) {
  if (a.is_null() != b.is_null()) return b.is_null();
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_number() != b.is_number()) return a.is_number();
  return natural_less(setting_text(a), setting_text(b));
}

std::map<std::string, Values> values_by_key(const Material& material) {
  std::map<std::string, Values> keys;
  const std::string missing = nlohmann::json().dump();
  for (std::size_t i = 0; i < material.runs.size(); ++i) {
    const auto params = material.params.find(material.runs[i].number);
    if (params == material.params.end()) continue;
    for (const ParamRow& param : params->second) {
      Values& values = keys[param.key];
      values.texts.resize(material.runs.size(), missing);
      values.texts[i] = param.value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      values.swept = values.swept || param.source == "sweep";
      if (std::find(values.levels.begin(), values.levels.end(), param.value) == values.levels.end())
        values.levels.push_back(param.value);
    }
  }
  for (auto& [key, values] : keys)
    if (std::find(values.texts.begin(), values.texts.end(), missing) != values.texts.end() &&
        std::find(values.levels.begin(), values.levels.end(), nlohmann::json()) == values.levels.end())
      values.levels.push_back(nullptr);
  return keys;
}

/// Which runs have the same value: equal for settings that always change together.
std::vector<std::size_t> partition_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::size_t> partition;
  for (const std::string& text : texts)
    partition.push_back(seen.try_emplace(text, seen.size()).first->second);
  return partition;
}

/// Of settings that change together the one that people wrote: swept, a type, short.
bool names_better(const std::string& a, bool a_swept, const std::string& b, bool b_swept) {
  if (a_swept != b_swept) return a_swept;
  if (a.ends_with(".type") != b.ends_with(".type")) return a.ends_with(".type");
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

std::vector<Factor> factors_of(const Material& material) {
  const std::map<std::string, Values> keys = values_by_key(material);
  std::map<std::vector<std::size_t>, std::vector<std::string>> together;
  for (const auto& [key, values] : keys)
    if (values.levels.size() > 1) together[partition_of(values.texts)].push_back(key);
  std::vector<Factor> factors;
  for (const auto& [partition, names] : together) {
    Factor factor;
    factor.keys = names;
    factor.name = *std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
      return names_better(a, keys.at(a).swept, b, keys.at(b).swept);
    });
    const Values& values = keys.at(factor.name);
    factor.levels = values.levels;
    std::sort(factor.levels.begin(), factor.levels.end(), level_before);
    std::map<std::string, std::size_t> number;
    for (std::size_t i = 0; i < factor.levels.size(); ++i)
      number[factor.levels[i].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)] = i;
    for (const std::string& text : values.texts) factor.level.push_back(number.at(text));
    factor.numeric = std::all_of(factor.levels.begin(), factor.levels.end(),
                                 [](const nlohmann::json& level) { return level.is_number(); });
    factors.push_back(std::move(factor));
  }
  std::sort(factors.begin(), factors.end(),
            [](const Factor& a, const Factor& b) { return natural_less(a.name, b.name); });
  return factors;
}

// --- the metric and the questions ---

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

std::string slug(const std::string& text) {
  std::string id;
  for (const char letter : text) id += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '-';
  return id;
}

/// The data that a run was scored on.
const DatasetRow* set_of(const Material& material, const RunRow& run, const std::string& role) {
  const auto files = material.datasets.find(run.number);
  if (files == material.datasets.end()) return nullptr;
  for (const DatasetRow& file : files->second)
    if (file.role == role) return &file;
  return nullptr;
}

std::vector<std::string> labels_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> labels;
  std::vector<std::string> scored;  // a name of something else that only failed lengthens no other
  for (const Candidate& candidate : candidates) {
    labels.push_back(candidate.name);
    if (!candidate.values.empty()) scored.push_back(candidate.name);
  }
  if (scored.empty()) scored = labels;
  if (scored.size() < 2) return labels;
  std::string common = scored.front();
  for (const std::string& label : scored) {
    const auto end = std::mismatch(common.begin(), common.end(), label.begin(), label.end()).first;
    common.erase(end, common.end());
  }
  const std::size_t cut = common.rfind('-');
  if (cut == std::string::npos) return labels;
  if (std::any_of(scored.begin(), scored.end(),
                  [&](const std::string& label) { return label.size() <= cut + 1; }))
    return labels;
  const std::string front = common.substr(0, cut + 1);
  for (std::string& label : labels)
    if (label.size() > front.size() && label.starts_with(front)) label.erase(0, front.size());
  return labels;
}

std::vector<std::size_t> order_of(const Comparison& comparison) {
  std::vector<std::size_t> order(comparison.candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool lower = lower_is_better(comparison.options.metric);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const double a = comparison.candidates[i].mean, b = comparison.candidates[j].mean;
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
    return lower ? a < b : a > b;
  });
  return order;
}

/// Candidates without a value stand last in the order, and in no pair.
std::size_t scored_of(const Question& question) {
  return static_cast<std::size_t>(
      std::count_if(question.comparison.candidates.begin(), question.comparison.candidates.end(),
                    [](const Candidate& candidate) { return !std::isnan(candidate.mean); }));
}

void test(Store& store, Question& question) {
  Comparison& comparison = question.comparison;
  const std::size_t count = scored_of(question);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (count <= most_for_all_pairs) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) pairs.emplace_back(question.order[i], question.order[j]);
  } else if (const auto first = question.first()) {
    for (std::size_t i = 1; i < count; ++i) pairs.emplace_back(*first, question.order[i]);
  }
  test_pairs(store, comparison, pairs, count * (count - (count > 0 ? 1 : 0)) / 2);
}

std::vector<Question> questions_of(const Material& material) {
  const std::string role = material.metric.substr(0, material.metric.find('/'));
  std::map<std::pair<std::string, std::string>, Question> by_set;  // name of the file, its content
  for (const RunRow& run : material.runs) {
    const DatasetRow* file = set_of(material, run, role);
    const std::string name = file == nullptr ? "" : setting_text(file->path);
    by_set[{name, file == nullptr ? "" : file->sha256}].runs.push_back(run);
  }
  CompareOptions options;
  options.metric = material.metric;
  options.examples = material.runs.size() <= most_runs_for_examples;
  std::vector<Question> questions;
  for (auto& [set, question] : by_set) {
    const auto& [name, content] = set;
    // Two files of one name are told apart by their content.
    const bool shared = std::count_if(by_set.begin(), by_set.end(),
                                      [&](const auto& other) { return other.first.first == set.first; }) > 1;
    question.id =
        slug(material.metric) + (questions.empty() ? "" : "-" + std::to_string(questions.size() + 1));
    question.title = material.metric + (name.empty() ? "" : " on " + name) +
                     (shared ? " (" + content.substr(0, 8) + ")" : "");
    question.comparison = collect_candidates(material.store, question.runs, options);
    question.labels = labels_of(question.comparison.candidates);
    question.order = order_of(question.comparison);
    test(material.store, question);
    questions.push_back(std::move(question));
  }
  return questions;
}

}  // namespace

std::optional<std::size_t> Question::first() const {
  if (order.empty() || std::isnan(comparison.candidates[order.front()].mean)) return std::nullopt;
  return order.front();
}

bool Question::best(std::size_t candidate) const {
  const Verdict won = lower_is_better(comparison.options.metric) ? Verdict::lower : Verdict::higher;
  const Verdict lost = won == Verdict::higher ? Verdict::lower : Verdict::higher;
  std::size_t beaten = 0;
  for (const Pair& pair : comparison.pairs)
    if ((pair.a == candidate && pair.verdict == won) || (pair.b == candidate && pair.verdict == lost))
      ++beaten;
  return beaten > 0 && beaten + 1 == scored_of(*this);
}

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
  material.factors = factors_of(material);
  material.questions = questions_of(material);
  return material;
}

bool lower_is_better(const std::string& metric) {
  return metric.find("loss") != std::string::npos || metric.find("perplexity") != std::string::npos;
}

bool natural_less(const std::string& a, const std::string& b) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string left = number(a, i), right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace encore

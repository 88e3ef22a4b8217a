// SPDX-License-Identifier: BSD-3-Clause
// RunTimes: estimates the time of planned runs for `exp plan` (plan.cpp): finds the complete run with the
// fewest different settings, and scales its time. An estimate is only shown, never stored, so the rules may
// change; run_time.hpp states them for readers and must be changed with them.
#include "app/run_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace encore::app {

namespace {

/// Returns whether an option decides the amount of computation: sizes and kinds do; real numbers (rates,
/// shares) change what is computed, not how much.
bool decides_load(const std::string& key) {
  static constexpr std::array<std::string_view, 10> single = {"task.type",
                                                              "data.max_length",
                                                              "train.batch_size",
                                                              "train.batch_tokens",
                                                              "train.precision",
                                                              "train.batching",
                                                              "optimizer.type",
                                                              "train.evaluate_every",
                                                              "train.checkpoint_every",
                                                              "train.gradient_shards"};
  if (std::ranges::find(single, key) != single.end()) return true;
  return (key.starts_with("model.") && !key.starts_with("model.from.")) ||
         key.starts_with("distil.teacher.") || (key.starts_with("tokenizer.") && !key.ends_with(".vocab"));
}

template <class Visit>
void for_each_leaf(const nlohmann::json& table, const std::string& prefix, const Visit& visit) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object())
      for_each_leaf(value, key, visit);
    else
      visit(key, value);
  }
}

double number_in(const std::vector<std::pair<std::string, std::string>>& load, const std::string& key) {
  for (const auto& [name, value] : load)
    if (name == key) return std::strtod(value.c_str(), nullptr);
  return 0.0;
}

/// Returns the names that differ or that only one has. Both lists are sorted.
template <class Load>
std::vector<std::string> differences(const Load& a, const Load& b) {
  std::vector<std::string> names;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->first < right->first)) {
      names.push_back((left++)->first);
    } else if (left == a.end() || right->first < left->first) {
      names.push_back((right++)->first);
    } else {
      if (left->second != right->second) names.push_back(left->first);
      ++left;
      ++right;
    }
  }
  return names;
}

/// Returns layers times width squared, because nearly all arithmetic is products of matrices of this size.
template <class Load>
double scale(const Load& from, const Load& to) {
  double factor = 1.0;
  for (const auto& [key, power] : {std::pair("model.layers", 1.0), std::pair("model.width", 2.0)}) {
    const double was = number_in(from, key), is = number_in(to, key);
    if (was > 0.0 && is > 0.0) factor *= std::pow(is / was, power);
  }
  return factor;
}

/// Returns the ratio of the batch sizes; 0 if one is in tokens and the other in sequences.
template <class Load>
double batch_scale(const Load& from, const Load& to) {
  const double was = number_in(from, "train.batch_tokens"), is = number_in(to, "train.batch_tokens");
  if ((was > 0.0) != (is > 0.0)) return 0.0;
  if (was > 0.0) return is / was;
  return number_in(to, "train.batch_size") / std::max(1.0, number_in(from, "train.batch_size"));
}

/// Returns whether this setting changes only the amount of computation, not its kind.
bool is_like(const std::string& key) {
  static constexpr std::array<std::string_view, 11> sizes = {
      "model.layers",           "model.width",           "model.heads",         "optimizer.type",
      "data.max_length",        "train.batch_size",      "train.batch_tokens",  "train.evaluate_every",
      "train.checkpoint_every", "train.gradient_shards", "tokenizer.vocab_size"};
  return std::ranges::find(sizes, key) != sizes.end() || key.ends_with(".hidden") || key.ends_with(".heads");
}

/// The largest ratio of sizes for an estimate. Small models spend most of their time outside of products.
constexpr double most_scale = 16.0;

}  // namespace

RunTimes::RunTimes(store::Store& store, const std::string& backend, const std::string& host) {
  // For each run, the attempt that completed it: its steps, and those of the whole run.
  store::Statement& rows = store.database().cached(
      "SELECT run.number, run.name, run.id, dataset.sha256, attempt.finished - attempt.started, "
      "  attempt.progress ->> 'total_steps', length.key = 'train.epochs', length.value, attempt.first_step, "
      "  (SELECT max(step) FROM point WHERE point.run = run.number AND "
      "   metric = (SELECT number FROM metric WHERE name = 'train/loss')) "
      "FROM (SELECT * FROM run WHERE state = 'completed' ORDER BY number DESC LIMIT 2000) AS run "
      "JOIN attempt ON attempt.number = (SELECT max(number) FROM attempt WHERE attempt.run = run.number) "
      "JOIN run_dataset ON run_dataset.run = run.number AND run_dataset.role = 'train' "
      "JOIN dataset ON dataset.number = run_dataset.dataset "
      "JOIN param AS length ON length.run = run.number AND length.key IN ('train.epochs', 'train.steps') "
      "WHERE run.removed IS NULL AND run.backend = ? AND attempt.host_name = ? AND attempt.finished IS NOT "
      "NULL AND attempt.first_step IS NOT NULL "
      "ORDER BY run.number DESC LIMIT ?");
  rows.with(backend, host, most_runs);
  std::vector<std::int64_t> numbers;
  while (rows.step()) {
    const bool in_epochs = rows.integer(6) != 0;
    const double seconds = rows.number(4), total = rows.number(5), length = rows.number(7);
    const double steps = rows.number(9) - rows.number(8) + 1.0;
    if (seconds <= 0.0 || total <= 0.0 || length <= 0.0 || steps <= 0.0) continue;
    past_.push_back({.run = rows.text(1),
                     .run_id = rows.text(2),
                     .train_data = rows.text(3),
                     .seconds_per_step = seconds / steps,
                     .seconds_per_epoch = in_epochs ? seconds / steps * total / length : 0.0,
                     .load = {}});
    numbers.push_back(rows.integer(0));
  }
  rows.reset();
  for (std::size_t i = 0; i < past_.size(); ++i) past_[i].load = load_of(store, numbers[i]);
}

RunTimes::Load RunTimes::load_of(const nlohmann::json& config) {
  Load load;
  for_each_leaf(config, "", [&](const std::string& key, const nlohmann::json& value) {
    if (decides_load(key) && !value.is_number_float()) load.emplace_back(key, value.dump());
  });
  std::ranges::sort(load);
  return load;
}

RunTimes::Load RunTimes::load_of(store::Store& store, std::int64_t run) const {
  Load load;
  for (const store::ParamRow& param : store.read_params(run))
    if (decides_load(param.key) && param.type != "number") load.emplace_back(param.key, param.value.dump());
  std::ranges::sort(load);
  return load;
}

/// Returns the time for one epoch or step of the nearest run, scaled to `load`.
std::optional<TimeEstimate> RunTimes::per(Unit unit, const Load& load, const std::string& train_data) const {
  std::optional<TimeEstimate> best;
  for (const Past& past : past_) {
    const double seconds =
        unit == Unit::epoch ? past.seconds_per_epoch : past.seconds_per_step * batch_scale(past.load, load);
    if (past.train_data != train_data || seconds <= 0.0) continue;
    std::vector<std::string> different = differences(past.load, load);
    if (best && different.size() >= best->different.size()) continue;
    const double factor = scale(past.load, load), batches = batch_scale(past.load, load);
    const auto is_near = [](double ratio) { return ratio <= most_scale && ratio * most_scale >= 1.0; };
    if (!std::ranges::all_of(different, is_like) || !is_near(factor) || !is_near(batches)) continue;
    best = {seconds * factor, past.run, past.run_id, std::move(different)};
  }
  return best;
}

std::optional<TimeEstimate> RunTimes::estimate(const record::Specification& specification, double share) {
  const auto data = specification.data.find("train");
  if (past_.empty() || data == specification.data.end() || record::is_application(specification))
    return std::nullopt;
  const Load load = load_of(specification.config);
  const nlohmann::json& train = specification.config.at("train");
  const Unit unit = train.contains("steps") ? Unit::step : Unit::epoch;
  const char* length = unit == Unit::step ? "steps" : "epochs";
  std::string key = data->second.sha256 + "\n" + length;
  for (const auto& [name, value] : load) key += "\n" + name + "=" + value;
  auto known = known_.find(key);
  if (known == known_.end()) known = known_.emplace(key, per(unit, load, data->second.sha256)).first;
  std::optional<TimeEstimate> found = known->second;
  if (found) found->seconds *= train.at(length).get<double>() * share;
  return found;
}

double share_left(const store::RunRow& run) {
  if (!run.progress || run.progress->total_steps <= 0) return 1.0;
  const double done =
      static_cast<double>(run.progress->step) / static_cast<double>(run.progress->total_steps);
  return std::clamp(1.0 - done, 0.0, 1.0);
}

}  // namespace encore::app

// SPDX-License-Identifier: BSD-3-Clause
// Computes how steps scale over ranks (rank_scaling, called by `exp bench`): finds the case of one rank for
// each case of several ranks, and divides their times. The names of to_json() stay, because scripts read
// them. Read rank_scaling.hpp first.
#include "analysis/rank_scaling.hpp"

#include <algorithm>

namespace encore::analysis {

namespace {

std::int64_t whole_at(const nlohmann::json& settings, const char* key, std::int64_t otherwise) {
  const auto found = settings.find(key);
  return found != settings.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

std::int64_t ranks_of(const StepSummary& step) {
  return whole_at(step.measured->settings, "ranks", 1);
}

std::int64_t threads_of(const StepSummary& step) {
  return whole_at(step.measured->settings, "threads", 1);
}

/// Returns the settings of a case of one process with 1 / `parts` of the batch; null if that is not a whole
/// number of sequences or tokens.
nlohmann::json settings_of_one(nlohmann::json settings, std::int64_t parts) {
  settings.erase("ranks");
  settings.erase("threads");
  const char* size = settings.contains("batch_tokens") ? "batch_tokens" : "batch_size";
  const std::int64_t all = whole_at(settings, size, 0);
  if (all % parts != 0) return nullptr;
  settings[size] = all / parts;
  return settings;
}

const StepSummary* base_of(const BenchSummary& summary, const StepSummary& step, std::int64_t parts) {
  const nlohmann::json wanted = settings_of_one(step.measured->settings, parts);
  const StepSummary* best = nullptr;
  for (const StepSummary& one : summary.steps) {
    if (ranks_of(one) != 1 || settings_of_one(one.measured->settings, 1) != wanted) continue;
    if (threads_of(one) == threads_of(step)) return &one;
    if (best == nullptr || threads_of(one) > threads_of(*best)) best = &one;
  }
  return best;
}

Measured exchange_share(const store::BenchCase& one) {
  const auto exchange = one.samples.find("exchange"), step = one.samples.find("step");
  std::vector<double> shares;
  if (exchange != one.samples.end() && step != one.samples.end())
    for (std::size_t round = 0; round < std::min(exchange->second.size(), step->second.size()); ++round)
      shares.push_back(exchange->second[round] / step->second[round]);
  return measured(shares);
}

}  // namespace

std::vector<RankScaling> rank_scaling(const BenchSummary& summary) {
  std::vector<RankScaling> all;
  for (const bool weak : {false, true})
    for (const StepSummary& step : summary.steps) {
      const std::int64_t ranks = ranks_of(step);
      if (ranks == 1) continue;
      const StepSummary* base = base_of(summary, step, weak ? ranks : 1);
      if (base == nullptr) continue;
      RankScaling one{.step = &step, .base = base, .weak = weak, .ranks = ranks, .threads = threads_of(step)};
      one.speedup = step.tokens_per_second.median / base->tokens_per_second.median;
      one.efficiency =
          one.speedup * static_cast<double>(threads_of(*base)) / static_cast<double>(ranks * one.threads);
      one.exchange = exchange_share(*step.measured);
      all.push_back(one);
    }
  return all;
}

nlohmann::json to_json(const RankScaling& scaling) {
  return {{"name", scaling.step->measured->name},
          {"against", scaling.base->measured->name},
          {"scaling", scaling.weak ? "weak" : "strong"},
          {"ranks", scaling.ranks},
          {"threads", scaling.threads},
          {"speedup", scaling.speedup},
          {"efficiency", scaling.efficiency},
          {"exchange_share", scaling.exchange.median}};
}

}  // namespace encore::analysis

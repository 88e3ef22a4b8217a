// SPDX-License-Identifier: BSD-3-Clause
// compare_scores(): compares each value of the development and test sets with that of the verification, bit
// by bit. verifier.cpp calls it after it has trained to the end. Speed and other measures of the machine do
// not count as scores. Read score_comparison.hpp first.
#include "runner/score_comparison.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "record/spool_reader.hpp"
#include "runner/drift.hpp"
#include "store/run_score.hpp"

namespace encore::runner {

namespace {

bool is_score(std::string_view metric) {
  const std::string split = Metric{.name = std::string(metric)}.split();
  return !split.empty() && split != "train";
}

}  // namespace

bool same_value(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

ScoreComparison compare_scores(store::Store& store, std::int64_t run,
                               const std::filesystem::path& verification, std::int64_t from) {
  const std::map<std::string, Curve> found = read_curves(verification, is_score);
  ScoreComparison comparison;
  for (const auto& [metric, curve] : read_curves(store, run, is_score))
    for (const auto& [step, value] : curve) {
      if (step <= from) continue;
      ++comparison.compared;
      std::optional<double> again;
      if (const auto own = found.find(metric); own != found.end())
        if (const auto point = own->second.find(step); point != own->second.end()) again = point->second;
      if (again && same_value(value, *again)) continue;
      ++comparison.different;
      if (!comparison.first || step < comparison.first->step)
        comparison.first =
            ScoreDifference{.metric = metric, .step = step, .run = value, .verification = again};
    }
  return comparison;
}

std::vector<FinalScore> final_scores(store::Store& store, const store::RunRow& run,
                                     const std::filesystem::path& verification) {
  record::MeasuredValues again;
  for (int attempt = 1; std::filesystem::exists(verification / record::spool_name(attempt)); ++attempt) {
    record::SpoolReader spool(verification / record::spool_name(attempt));
    for (record::SpoolRecord record; spool.next(record);) {
      if (record.kind != record::SpoolKind::event) continue;
      const record::ReadEvent read = record.event();
      if (read.event)
        record::handle(*read.event, [&](const record::Concluded& concluded) { again = concluded.measures; });
    }
  }
  std::vector<FinalScore> scores;
  const std::map<std::int64_t, store::SelectionRule> rules = store::selection_rules(store, {run});
  const std::string first = rules.contains(run.number) ? rules.at(run.number).metric.name : "";
  for (const Metric& metric : store::read_metrics(store.database(), {run}).in_order(first, {"dev", "test"})) {
    const auto found = std::ranges::find(again, metric.name, &record::MeasuredValue::name);
    const std::optional<double> own = store::result_measure(run, metric.name);
    if (own && found != again.end())
      scores.push_back({.metric = metric, .run = *own, .verification = found->value});
  }
  return scores;
}

}  // namespace encore::runner

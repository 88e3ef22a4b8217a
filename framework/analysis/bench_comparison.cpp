// SPDX-License-Identifier: BSD-3-Clause
// Compares a measurement of `exp bench` with an earlier one (compare_benches, called by cli/bench_verb.cpp):
// pairs the cases with equal settings, and judges each by the ratio of its medians, in seconds and in units
// of the calibration of the same round. Read bench_comparison.hpp first.
#include "analysis/bench_comparison.hpp"

#include <algorithm>

#include <encore/error.hpp>

#include "analysis/difference.hpp"

namespace encore::analysis {

using nlohmann::json;

namespace {

/// The smallest share of a step with which a kernel is listed.
constexpr double least_share = 0.01;

std::span<const double> samples_of(const store::BenchCase& one, const std::string& quantity) {
  const auto found = one.samples.find(quantity);
  return found == one.samples.end() ? std::span<const double>() : std::span<const double>(found->second);
}

Change change_of(const Interval& interval, double threshold) {
  if (interval.low > 1.0 + threshold) return Change::slower;
  if (interval.high < 1.0 / (1.0 + threshold)) return Change::faster;
  if (interval.low >= 1.0 / (1.0 + threshold) && interval.high <= 1.0 + threshold) return Change::unchanged;
  return Change::unclear;
}

/// Returns why the seconds of the two cases cannot be compared: fields of the machine and of the work that
/// differ. Versions of compiler and libraries may differ, because users compare in order to see their effect.
std::vector<std::string> why_incomparable(const store::BenchCase& before, const store::BenchCase& now) {
  std::vector<std::string> reasons;
  const auto compare = [&](const char* field, const json& a, const json& b) {
    if (a != b) reasons.push_back(std::string(field) + " is " + a.dump() + " and " + b.dump());
  };
  const auto field = [](const json& object, const char* name) {
    return object.is_object() ? object.value(name, json()) : json();
  };
  compare("device", field(before.environment, "device"), field(now.environment, "device"));
  compare("instruction set", field(before.environment, "instruction_set"),
          field(now.environment, "instruction_set"));
  compare("number of cpus", field(before.host, "cpus"), field(now.host, "cpus"));
  compare("tokens in a step", field(before.facts, "tokens"), field(now.facts, "tokens"));
  compare("number of parameters", field(before.facts, "parameters"), field(now.facts, "parameters"));
  return reasons;
}

/// Returns the other differences, such as versions. They do not forbid a comparison, but a reader checks them
/// first if a step became slower.
std::vector<std::string> what_changed(const store::BenchCase& before, const store::BenchCase& now) {
  std::vector<std::string> changes;
  const auto compare = [&](const char* name, const json& a, const json& b, const char* key) {
    const auto text = [&](const json& object) {
      const json value = object.is_object() ? object.value(key, json()) : json();
      return value.is_string() ? value.get<std::string>().substr(0, 60) : value.dump();
    };
    if (text(a) != text(b)) changes.push_back(std::string(name) + ": " + text(a) + ", now " + text(b));
  };
  compare("host", before.host, now.host, "name");
  compare("system", before.host, now.host, "system");
  compare("version", before.build, now.build, "version");
  compare("type of build", before.build, now.build, "type");
  compare("compiler", before.environment, now.environment, "compiler");
  compare("Kokkos", before.environment, now.environment, "kokkos");
  compare("matrix products", before.environment, now.environment, "gemm");
  compare("code of the kernels", before.environment, now.environment, "kernels");
  compare("code of the worker", before.environment, now.environment, "worker");
  return changes;
}

}  // namespace

const char* name_of(Change change) {
  switch (change) {
    case Change::slower:
      return "slower";
    case Change::faster:
      return "faster";
    case Change::unchanged:
      return "unchanged";
    case Change::unclear:
      return "unclear";
    case Change::incomparable:
      return "not comparable";
  }
  return "";
}

bool BenchComparison::regression() const {
  return std::any_of(steps.begin(), steps.end(),
                     [](const BenchChange& step) { return step.change == Change::slower; });
}

BenchChange judge(std::span<const double> before, std::span<const double> before_calibration,
                  std::span<const double> now, std::span<const double> now_calibration, double threshold) {
  BenchChange change;
  const std::optional<Ratio> seconds = ratio_of_medians(now, before);
  const std::optional<Ratio> calibrated =
      ratio_of_medians(quotients(now, now_calibration), quotients(before, before_calibration));
  if (!seconds || !calibrated) return change;
  change.seconds = *seconds;
  change.calibrated = *calibrated;
  const Change raw = change_of(seconds->interval, threshold),
               relative = change_of(calibrated->interval, threshold);
  change.change = raw == relative ? raw : Change::unclear;
  return change;
}

BenchComparison compare_benches(const store::BenchResult& before, const store::BenchResult& now,
                                double threshold) {
  BenchComparison comparison;
  for (const store::BenchCase& old : before.cases) {
    if (old.machine) continue;
    const auto same = std::find_if(now.cases.begin(), now.cases.end(), [&](const store::BenchCase& one) {
      return !one.machine && one.settings == old.settings;
    });
    if (same == now.cases.end()) {
      comparison.missing.push_back(old.name);
      continue;
    }
    BenchChange refused{same->name, "step", Change::incomparable, {}, {}, 1.0, why_incomparable(old, *same)};
    if (comparison.changed.empty()) comparison.changed = what_changed(old, *same);
    if (!refused.reasons.empty()) {
      comparison.steps.push_back(refused);
      continue;
    }
    const store::BenchCase *old_machine = before.machine_of(old), *new_machine = now.machine_of(*same);
    if (old_machine == nullptr || new_machine == nullptr) throw Error("a measurement lacks its machine");
    const double step = median_of(samples_of(*same, "step"));
    for (const auto& [quantity, seconds] : same->samples) {
      const bool decides = quantity == "step";
      const std::span<const double> earlier = samples_of(old, quantity);
      const double share = median_of(seconds) / step;
      if (earlier.empty() || (!decides && (!quantity.starts_with("kernel ") || share < least_share)))
        continue;
      const std::span<const double> old_calibration = samples_of(*old_machine, "calibration"),
                                    new_calibration = samples_of(*new_machine, "calibration");
      if (earlier.size() != old_calibration.size() || seconds.size() != new_calibration.size())
        throw Error("\"" + quantity + "\" of \"" + same->name +
                    "\" has another number of samples than \"calibration\" of its machine; a measurement has "
                    "one of each for every round");
      BenchChange change = judge(earlier, old_calibration, seconds, new_calibration, threshold);
      change.name = same->name;
      change.quantity = quantity;
      change.share = share;
      (decides ? comparison.steps : comparison.kernels).push_back(change);
    }
  }
  if (comparison.steps.empty())
    throw Error("\"" + before.name +
                "\" has no case in common with this measurement; give the same --threads, "
                "--batch-size, --length, --precision and --backend");
  std::stable_sort(comparison.kernels.begin(), comparison.kernels.end(),
                   [](const BenchChange& a, const BenchChange& b) { return a.share > b.share; });
  return comparison;
}

}  // namespace encore::analysis

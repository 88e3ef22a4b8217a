// SPDX-License-Identifier: BSD-3-Clause
// Makes a BenchSummary (summarize): medians, rates and shares from the samples of a measurement of `exp
// bench`. cli/bench_verb.cpp calls it for a new or a stored measurement. Samples and facts are found by the
// names with which bench/ stored them, also in measurements of earlier versions. Read bench_summary.hpp
// first.
#include "analysis/bench_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace encore::analysis {

using nlohmann::json;

namespace {

/// Larger spreads of the calibration are reported as noise, as are larger shares of time that the host
/// (steal) or other processes took.
constexpr double noticeable_spread = 0.03;
constexpr double noticeable_share = 0.02;
constexpr std::string_view kernel_prefix = "kernel ";
constexpr std::string_view product_prefix = "encore::gemm ";
constexpr std::string_view peak_prefix = "peak ";
constexpr std::string_view read_prefix = "read ";

std::vector<double> sample_list(const store::BenchCase& one, const std::string& quantity) {
  const auto found = one.samples.find(quantity);
  return found == one.samples.end() ? std::vector<double>() : found->second;
}

double number(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                               : 0.0;
}

/// Returns a member of the object, or null if it has no such member.
json part(const json& object, const std::string& key) {
  return object.is_object() ? object.value(key, json()) : json();
}

/// Returns a string member of the object, or an empty string if it has no such member.
std::string text(const json& object, const char* key) {
  const json value = part(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Computes amount / seconds, round by round.
Measured rate(double amount, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double second : seconds) rates.push_back(amount / second);
  return measured(rates);
}

double spread_of(std::vector<double> values) {
  if (values.size() < 4) return 0.0;
  std::sort(values.begin(), values.end());
  return (values[values.size() * 3 / 4] - values[values.size() / 4]) / median_of(values);
}

MachineSummary summarize_machine(const store::BenchCase& one) {
  MachineSummary machine;
  machine.measured = &one;
  machine.copy = rate(number(part(one.facts, "copy"), "bytes"), sample_list(one, "copy"));
  machine.triad = rate(number(part(one.facts, "triad"), "bytes"), sample_list(one, "triad"));
  machine.launch = measured(sample_list(one, "launch"));
  machine.launch_and_wait = measured(sample_list(one, "launch_and_wait"));
  machine.calibration_spread = spread_of(sample_list(one, "calibration"));
  for (const auto& [quantity, seconds] : one.samples) {
    const json facts = part(one.facts, quantity);
    if (quantity.starts_with(peak_prefix))
      machine.cores.push_back({.precision = text(facts, "precision"),
                               .instructions = text(facts, "instructions"),
                               .flops = rate(number(facts, "flops"), seconds)});
    if (quantity.starts_with(read_prefix))
      machine.reads.push_back({.level = quantity.substr(read_prefix.size()),
                               .holds = number(facts, "holds"),
                               .bytes = rate(number(facts, "bytes"), seconds)});
    if (!quantity.starts_with("gemm ")) continue;
    const double flops = number(facts, "flops");
    MachineSummary::Product product{text(facts, "precision"), std::cbrt(flops / 2.0), rate(flops, seconds)};
    double& peak = machine.peaks[product.precision];
    peak = std::max(peak, product.flops.median);
    machine.products.push_back(std::move(product));
  }
  std::sort(machine.products.begin(), machine.products.end(), [](const auto& a, const auto& b) {
    return std::tie(a.precision, a.size) < std::tie(b.precision, b.size);
  });
  const auto room = [](const MachineSummary::Read& read) {
    return read.holds > 0.0 ? read.holds : std::numeric_limits<double>::infinity();
  };
  std::sort(machine.reads.begin(), machine.reads.end(),
            [&](const auto& a, const auto& b) { return room(a) < room(b); });
  return machine;
}

KernelSummary summarize_kernel(const std::string& label, const std::vector<double>& seconds,
                               const json& facts, double watched, const MachineSummary* machine,
                               const std::string& precision) {
  KernelSummary kernel;
  kernel.label = label;
  kernel.product = label.starts_with(product_prefix);
  kernel.within_product = facts.contains("within");
  kernel.calls = number(facts, "calls");
  kernel.seconds = measured(seconds);
  kernel.share = kernel.seconds.median / watched;
  if (!facts.contains("flops")) return kernel;
  kernel.flops = number(facts, "flops");
  kernel.bytes = number(facts, "bytes");
  if (machine == nullptr) return kernel;
  const auto peak = machine->peaks.find(precision);
  double least = *kernel.bytes / machine->bandwidth();
  if (peak != machine->peaks.end()) least = std::max(least, *kernel.flops / peak->second);
  if (!(kernel.seconds.median > 0.0)) return kernel;
  kernel.limit = least / kernel.seconds.median;
  if (const auto possible = machine->least_seconds(precision, *kernel.flops, *kernel.bytes, kernel.calls))
    kernel.machine_limit = *possible / kernel.seconds.median;
  return kernel;
}

/// Returns sums of several quantities, round by round.
std::vector<double> sum_of(const store::BenchCase& one, const std::vector<std::string>& quantities) {
  std::vector<double> sums;
  for (const std::string& quantity : quantities) {
    const std::vector<double> seconds = sample_list(one, quantity);
    sums.resize(std::max(sums.size(), seconds.size()), 0.0);
    for (std::size_t round = 0; round < seconds.size(); ++round) sums[round] += seconds[round];
  }
  return sums;
}

void add_prices(const store::BenchCase& one, StepSummary& step) {
  const std::vector<double> seconds = sample_list(one, "step");
  std::vector<double> total(seconds.size(), 0.0);
  for (const json& reduction : part(one.facts, "reductions")) {
    const std::vector<double> free = sample_list(one, text(reduction, "free"));
    std::vector<std::string> quantities;
    for (const json& label : part(reduction, "kernels"))
      if (label.is_string()) quantities.push_back(std::string(kernel_prefix) + label.get<std::string>());
    if (const std::string fixed = text(reduction, "fixed"); quantities.empty())
      quantities = {fixed.empty() ? "gemm" : fixed};
    const std::vector<double> fixed = sum_of(one, quantities);
    // Skips a reduction that is not in this step or was not requested, and a measurement that lacks some
    // rounds.
    if (free.empty() || fixed.size() != free.size() || fixed.size() != seconds.size()) continue;
    std::vector<double> prices;
    for (std::size_t round = 0; round < fixed.size(); ++round) {
      prices.push_back((fixed[round] - free[round]) / seconds[round]);
      total[round] += prices.back();
    }
    step.prices.push_back({text(reduction, "name"), measured(fixed), measured(free), measured(prices)});
  }
  if (step.prices.size() < 2) step.prices.clear();  // matmul and gemm are always there
  if (!step.prices.empty()) step.price_of_order = measured(total);
}

StepSummary summarize_step(const store::BenchCase& one, const MachineSummary* machine) {
  StepSummary step;
  step.measured = &one;
  step.step = measured(sample_list(one, "step"));
  step.matmul = measured(sample_list(one, "matmul"));
  step.gemm = measured(sample_list(one, "gemm"));
  step.watched = measured(sample_list(one, "watched_step"));
  step.tokens_per_second = rate(number(one.facts, "tokens"), sample_list(one, "step"));
  if (sample_list(one, "step").size() == sample_list(one, "matmul").size())
    step.step_over_matmul = measured(quotients(sample_list(one, "step"), sample_list(one, "matmul")));
  if (std::vector<double> joules = sample_list(one, "joules"); !joules.empty()) {
    for (double& each : joules) each /= number(one.facts, "tokens");
    step.joules_per_token = measured(joules);
  }
  step.matmul_flops = number(one.facts, "matmul_flops");
  const std::string precision = text(one.settings, "precision");
  if (const MachineSummary::Peak* peak = machine != nullptr ? machine->core_peak(precision) : nullptr;
      peak != nullptr && step.step.median > 0.0)
    step.of_peak = step.matmul_flops / step.step.median / peak->flops.median;
  double in_kernels = 0.0;
  for (const auto& [quantity, seconds] : one.samples) {
    if (!quantity.starts_with(kernel_prefix)) continue;
    const std::string label = quantity.substr(kernel_prefix.size());
    const json facts = part(part(one.facts, "kernels"), label);
    step.kernels.push_back(summarize_kernel(label, seconds, facts, step.watched.median, machine, precision));
    if (!step.kernels.back().within_product) in_kernels += step.kernels.back().share;
  }
  step.outside_kernels = std::max(0.0, 1.0 - in_kernels);
  std::stable_sort(step.kernels.begin(), step.kernels.end(),
                   [](const auto& a, const auto& b) { return a.seconds.median > b.seconds.median; });
  add_prices(one, step);
  return step;
}

}  // namespace

double MachineSummary::bandwidth() const {
  return std::max(copy.median, triad.median);
}

const MachineSummary::Peak* MachineSummary::core_peak(const std::string& precision) const {
  const auto found =
      std::find_if(cores.begin(), cores.end(), [&](const Peak& peak) { return peak.precision == precision; });
  return found == cores.end() ? nullptr : &*found;
}

std::optional<double> MachineSummary::least_seconds(const std::string& precision, double flops, double bytes,
                                                    double calls) const {
  const Peak* peak = core_peak(precision);
  if (peak == nullptr || reads.empty()) return std::nullopt;
  const double moved = bytes / std::max(1.0, calls);
  const auto level = std::find_if(reads.begin(), reads.end(),
                                  [&](const Read& read) { return read.holds == 0.0 || moved <= read.holds; });
  const double speed = level == reads.end() ? bandwidth() : std::max(bandwidth(), level->bytes.median);
  return std::max(flops / peak->flops.median, bytes / speed);
}

const MachineSummary* BenchSummary::machine_of(const StepSummary& step) const {
  const json& wanted = step.measured->settings;
  for (const MachineSummary& machine : machines)
    if (part(machine.measured->settings, "backend") == part(wanted, "backend") &&
        part(machine.measured->settings, "threads") == part(wanted, "threads"))
      return &machine;
  return nullptr;
}

BenchSummary summarize(const store::BenchResult& result) {
  BenchSummary summary;
  for (const store::BenchCase& one : result.cases)
    if (one.machine) summary.machines.push_back(summarize_machine(one));
  for (const store::BenchCase& one : result.cases) {
    if (one.machine) continue;
    StepSummary place;
    place.measured = &one;
    summary.steps.push_back(summarize_step(one, summary.machine_of(place)));
  }
  return summary;
}

std::vector<std::string> noise_notes(const store::BenchResult& result, const BenchSummary& summary) {
  std::vector<std::string> notes;
  const auto percent = [](double share) {
    return std::to_string(static_cast<int>(std::lround(100.0 * share))) + " %";
  };
  for (const MachineSummary& machine : summary.machines)
    if (machine.calibration_spread > noticeable_spread)
      notes.push_back("the calibration of " + machine.measured->name + " spread over " +
                      percent(machine.calibration_spread) + " of its median (interquartile range)");
  if (const double steal = number(result.noise, "steal_share"); steal > noticeable_share)
    notes.push_back("the host took " + percent(steal) + " of the time away (steal)");
  if (const double others = number(result.noise, "others_share"); others > noticeable_share)
    notes.push_back("other processes used " + percent(others) + " of the cores");
  return notes;
}

std::vector<BitsVerdict> bits_verdicts(const BenchSummary& summary) {
  const auto work = [](const StepSummary& step) {
    json settings = step.measured->settings;
    settings.erase("backend");
    settings.erase("threads");
    return settings;
  };
  const auto digest = [](const StepSummary& step) { return text(step.measured->facts, "gradient_digest"); };
  std::vector<BitsVerdict> verdicts;
  for (auto step = summary.steps.begin(); step != summary.steps.end(); ++step) {
    const auto first = std::find_if(summary.steps.begin(), step, [&](const StepSummary& other) {
      return work(other) == work(*step) && !digest(other).empty();
    });
    if (first == step || digest(*step).empty()) continue;
    std::string differs;
    for (const auto& [key, name] :
         {std::pair("device", "device"), std::pair("instruction_set", "instruction set"),
          std::pair("compiler", "compiler"), std::pair("kokkos", "version of Kokkos"),
          std::pair("gemm", "code of the products")})
      if (part(step->measured->environment, key) != part(first->measured->environment, key))
        differs += std::string(differs.empty() ? "" : ", ") + name;
    const bool equal = digest(*step) == digest(*first);
    verdicts.push_back({.name = step->measured->name,
                        .against = first->measured->name,
                        .verdict = equal             ? "equal"
                                   : differs.empty() ? "different"
                                                     : "not comparable: another " + differs,
                        .broken = !equal && differs.empty()});
  }
  return verdicts;
}

std::vector<ThreadGain> thread_gains(const BenchSummary& summary) {
  std::vector<ThreadGain> gains;
  const auto without_threads = [](json settings) {
    settings.erase("threads");
    return settings;
  };
  const auto threads = [](const StepSummary& step) { return number(step.measured->settings, "threads"); };
  for (const StepSummary& step : summary.steps) {
    const StepSummary* least = &step;
    for (const StepSummary& other : summary.steps)
      if (without_threads(other.measured->settings) == without_threads(step.measured->settings) &&
          threads(other) < threads(*least))
        least = &other;
    if (least != &step)
      gains.push_back({step.measured->name, threads(*least), threads(step),
                       least->step.median / step.step.median, least->matmul.median / step.matmul.median});
  }
  return gains;
}

}  // namespace encore::analysis

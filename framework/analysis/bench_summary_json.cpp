// SPDX-License-Identifier: BSD-3-Clause
// Writes a BenchSummary (bench_summary.hpp, which says what each value means) as the JSON of `exp bench
// --json`; cli/bench_verb.cpp prints it. Scripts read the names of the fields, so a field may be added but
// never renamed. "coverage" is that of the interval; "of_limit" and "of_peak" are shares of what the machine
// can do; "price_of_order" is the share of a step that sums in a fixed order cost.
#include <cmath>

#include "analysis/bench_summary.hpp"

namespace encore::analysis {

using nlohmann::json;

namespace {

json to_json(const Measured& m) {
  return {{"median", m.median},
          {"interval", {m.interval.low, m.interval.high}},
          {"samples", m.count},
          {"coverage", m.coverage}};
}

json to_json(const MachineSummary& machine) {
  json products = json::array();
  for (const MachineSummary::Product& product : machine.products)
    products.push_back({{"precision", product.precision},
                        {"size", std::llround(product.size)},
                        {"flops_per_second", to_json(product.flops)}});
  json cores = json::array(), reads = json::array();
  for (const MachineSummary::Peak& peak : machine.cores)
    cores.push_back({{"precision", peak.precision},
                     {"instructions", peak.instructions},
                     {"flops_per_second", to_json(peak.flops)}});
  for (const MachineSummary::Read& read : machine.reads)
    reads.push_back({{"level", read.level}, {"bytes_per_second", to_json(read.bytes)}});
  return {{"name", machine.measured->name},
          {"matrix_products", products},
          {"core_peaks", cores},
          {"reads", reads},
          {"peak_flops_per_second", machine.peaks},
          {"copy_bytes_per_second", to_json(machine.copy)},
          {"triad_bytes_per_second", to_json(machine.triad)},
          {"launch_seconds", to_json(machine.launch)},
          {"launch_and_wait_seconds", to_json(machine.launch_and_wait)},
          {"calibration_spread", machine.calibration_spread}};
}

json to_json(const KernelSummary& kernel) {
  json entry = {{"label", kernel.label},
                {"calls", kernel.calls},
                {"seconds", to_json(kernel.seconds)},
                {"share", kernel.share},
                {"within_product", kernel.within_product}};
  if (kernel.flops)
    entry.update({{"flops", *kernel.flops},
                  {"bytes", *kernel.bytes},
                  {"flops_per_second", *kernel.flops / kernel.seconds.median},
                  {"bytes_per_second", *kernel.bytes / kernel.seconds.median}});
  if (kernel.limit) entry["of_limit"] = *kernel.limit;
  if (kernel.machine_limit) entry["of_machine_limit"] = *kernel.machine_limit;
  return entry;
}

json to_json(const StepSummary& step) {
  json kernels = json::array(), prices = json::array();
  for (const KernelSummary& kernel : step.kernels) kernels.push_back(to_json(kernel));
  for (const OrderPrice& price : step.prices)
    prices.push_back({{"name", price.name},
                      {"fixed_seconds", to_json(price.fixed)},
                      {"free_seconds", to_json(price.free)},
                      {"share_of_step", to_json(price.price)}});
  json entry = {{"name", step.measured->name},
                {"settings", step.measured->settings},
                {"tokens_per_second", to_json(step.tokens_per_second)},
                {"step_seconds", to_json(step.step)},
                {"matmul_seconds", to_json(step.matmul)},
                {"gemm_seconds", to_json(step.gemm)},
                {"step_over_matmul", to_json(step.step_over_matmul)},
                {"matmul_flops", step.matmul_flops},
                {"kernels", kernels},
                {"outside_kernels", step.outside_kernels}};
  if (step.joules_per_token) entry["joules_per_token"] = to_json(*step.joules_per_token);
  if (step.of_peak) entry["of_peak"] = *step.of_peak;
  if (step.price_of_order) {
    entry["order_prices"] = prices;
    entry["price_of_order"] = to_json(*step.price_of_order);
  }
  return entry;
}

}  // namespace

json BenchSummary::to_json() const {
  json of_machines = json::array(), of_steps = json::array(), bits = json::array();
  for (const MachineSummary& machine : machines) of_machines.push_back(analysis::to_json(machine));
  for (const StepSummary& step : steps) of_steps.push_back(analysis::to_json(step));
  for (const BitsVerdict& one : bits_verdicts(*this))
    bits.push_back({{"name", one.name}, {"against", one.against}, {"verdict", one.verdict}});
  return {{"machines", of_machines}, {"steps", of_steps}, {"bits", bits}};
}

}  // namespace encore::analysis

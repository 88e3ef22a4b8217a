// See roofline.hpp.
#include "report/roofline.hpp"

#include <algorithm>
#include <cmath>

#include <encore/error.hpp>

namespace encore {
namespace {

constexpr std::size_t most_kernels = 14;
constexpr double giga = 1e9;

std::string rounded(double value) {
  return std::to_string(std::llround(value));
}

}  // namespace

LineChart roofline_chart(const BenchSummary& summary, const StepSummary& step) {
  const MachineSummary* machine = summary.machine_of(step);
  if (machine == nullptr || machine->peaks.empty())
    throw Error("a roofline needs the machine's matrix products, which were not measured");
  LineChart chart;
  chart.x = {"operations per byte", "FLOP/byte", Axis::Scale::logarithmic};
  chart.y = {"speed", "GFLOP/s", Axis::Scale::logarithmic};
  std::vector<Series> points;
  double least = 1.0, most = 1.0;
  for (const KernelSummary& kernel : step.kernels) {
    if (!kernel.flops || !kernel.bytes || *kernel.flops <= 0.0 || points.size() == most_kernels) continue;
    const double intensity = *kernel.flops / *kernel.bytes;
    points.push_back({kernel.label, {intensity}, {*kernel.flops / kernel.seconds.median / giga}});
    least = std::min(least, intensity);
    most = std::max(most, intensity);
  }
  if (points.empty()) throw Error("a roofline needs kernels whose work is known; this step has none");
  for (const auto& [precision, peak] : machine->peaks) {
    const double ridge = peak / machine->bandwidth();
    chart.series.push_back({precision + " products: " + rounded(peak / giga) +
                                " GFLOP/s, memory: " + rounded(machine->bandwidth() / giga) + " GB/s",
                            {least / 2.0, ridge, std::max(2.0 * most, 2.0 * ridge)},
                            {least / 2.0 * machine->bandwidth() / giga, peak / giga, peak / giga}});
  }
  chart.series.insert(chart.series.end(), points.begin(), points.end());
  return chart;
}

}  // namespace encore

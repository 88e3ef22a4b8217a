// SPDX-License-Identifier: BSD-3-Clause
// Measures drift: reads checkpoints and loss curves of two trainings, and sums up their distances by layer.
// verifier.cpp and `exp diff --drift` call it. drift_of() makes the form that is stored with a verification,
// so its members must not change. Read drift.hpp first.
#include "runner/drift.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "record/checkpoint.hpp"
#include "record/spool.hpp"
#include "record/spool_reader.hpp"

namespace encore::runner {

namespace {

bool is_loss(std::string_view metric) {
  return metric.ends_with("/loss");
}

/// The key by which layers are sorted: the path before the number, and the number; -1 without a number.
using LayerKey = std::pair<std::string, std::int64_t>;

LayerKey layer_of(std::string_view path) {
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(path.data() + begin, path.data() + end, number);
    if (begin > 0 && error == std::errc() && rest == path.data() + end)
      return {std::string(path.substr(0, begin - 1)), number};
    begin = end + 1;
  }
  return {std::string(path.substr(0, path.find('.'))), -1};
}

double relative_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  return std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

std::vector<DriftFigures> figures_of(const std::vector<TensorDistance>& tensors, bool are_layers) {
  std::vector<DriftFigures> list;
  for (const TensorDistance& tensor : tensors) {
    DriftFigures& figures = list.emplace_back(DriftFigures{tensor.name, tensor.values, tensor.different});
    // A layer of which some tensors could be compared has figures of its own, a single tensor has not.
    if (!tensor.comparable && !(are_layers && tensor.one_squared + tensor.other_squared > 0.0)) continue;
    figures.relative = tensor.relative();
    figures.largest = tensor.largest;
    figures.ulps = tensor.ulps;
  }
  return list;
}

}  // namespace

std::vector<StepDrift> step_drifts(store::Store& store, const store::RunRow& a, const store::RunRow& b) {
  std::set<std::int64_t> steps_of_a;
  for (const store::CheckpointRow& checkpoint : store.read_checkpoints(a.number))
    if (checkpoint.on_disk) steps_of_a.insert(checkpoint.step);
  std::set<std::int64_t> steps;
  for (const store::CheckpointRow& checkpoint : store.read_checkpoints(b.number))
    if (checkpoint.on_disk && steps_of_a.contains(checkpoint.step)) steps.insert(checkpoint.step);
  std::vector<StepDrift> drifts;
  for (const std::int64_t step : steps)
    drifts.push_back({step, tensor_distances(store.run_folder(a.id) / record::checkpoint_path(step),
                                             store.run_folder(b.id) / record::checkpoint_path(step))});
  return drifts;
}

std::vector<TensorDistance> layers_of(const std::vector<TensorDistance>& tensors) {
  std::map<LayerKey, TensorDistance> layers;
  for (const TensorDistance& tensor : tensors) {
    if (!tensor.name.starts_with(parameter_prefix)) continue;
    const LayerKey key = layer_of(std::string_view(tensor.name).substr(parameter_prefix.size()));
    TensorDistance& layer = layers[key];
    layer.name = key.second < 0 ? key.first : key.first + "." + std::to_string(key.second);
    layer.add(tensor);
  }
  std::vector<TensorDistance> list;
  for (auto& [key, layer] : layers) list.push_back(std::move(layer));
  return list;
}

CurveDrift curve_drift(const std::string& metric, const Curve& a, const Curve& b, double tolerance) {
  CurveDrift drift;
  drift.metric = metric;
  for (const auto& [step, value] : a) {
    const auto other = b.find(step);
    if (other == b.end()) continue;
    ++drift.steps;
    const double difference = relative_difference(value, other->second);
    if (difference > 0.0 && !drift.first_difference) drift.first_difference = step;
    if (difference > tolerance && !drift.first_beyond) drift.first_beyond = step;
    if (difference <= drift.largest) continue;
    drift.largest = difference;
    drift.largest_step = step;
  }
  return drift;
}

std::map<std::string, Curve> read_curves(store::Store& store, std::int64_t run, WantedMetric wanted) {
  std::map<std::string, Curve> curves;
  for (const store::MetricRow& metric : store.read_metrics(run)) {
    if (!wanted(metric.name)) continue;
    for (const store::CurvePoint& point : store.read_curve(run, metric.name))
      curves[metric.name][point.step] = point.value;
  }
  return curves;
}

std::map<std::string, Curve> read_curves(const std::filesystem::path& run_folder, WantedMetric wanted) {
  std::map<std::string, Curve> curves;
  for (int attempt = 1; std::filesystem::exists(run_folder / record::spool_name(attempt)); ++attempt) {
    record::SpoolReader spool(run_folder / record::spool_name(attempt));
    std::map<std::uint32_t, std::string> metrics;
    for (record::SpoolRecord record; spool.next(record);) {
      if (record.kind == record::SpoolKind::metric)
        metrics[record.metric] = record.name;
      else if (record.kind == record::SpoolKind::point && wanted(metrics[record.metric]))
        curves[metrics[record.metric]][record.step] = record.value;
    }
  }
  return curves;
}

std::map<std::string, Curve> loss_curves(store::Store& store, std::int64_t run) {
  return read_curves(store, run, is_loss);
}

std::map<std::string, Curve> loss_curves(const std::filesystem::path& run_folder) {
  return read_curves(run_folder, is_loss);
}

std::vector<CurveDrift> curve_drifts(const std::map<std::string, Curve>& a,
                                     const std::map<std::string, Curve>& b, double tolerance) {
  std::vector<CurveDrift> drifts;
  for (const auto& [metric, curve] : a)
    if (const auto other = b.find(metric); other != b.end())
      drifts.push_back(curve_drift(metric, curve, other->second, tolerance));
  return drifts;
}

DriftReport drift_of(const std::vector<StepDrift>& steps, std::vector<CurveDrift> curves, double tolerance) {
  DriftReport drift{.steps = {}, .tolerance = tolerance, .curves = std::move(curves)};
  for (const auto& [step, tensors] : steps)
    drift.steps.push_back({step, figures_of(layers_of(tensors), true), figures_of(tensors, false)});
  return drift;
}

}  // namespace encore::runner

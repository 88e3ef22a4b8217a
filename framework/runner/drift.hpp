// SPDX-License-Identifier: BSD-3-Clause
// DriftReport and the functions that measure drift: how far two trainings with equal settings, data and seed
// differ if their bits need not agree, for example on another backend. Drift is measured by step, layer and
// tensor, and along the curves of loss. verifier.cpp and `exp diff --drift` call them, and
// cli/difference_text.hpp prints the result. A verification is stored with a DriftReport as JSON, so the
// names in list() do not change; a new member needs field.optional.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "runner/tensor_distance.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// The distances of two trainings at a step of which both have a checkpoint.
struct StepDrift {
  std::int64_t step = 0;
  std::vector<TensorDistance> tensors;  ///< parameters and optimizer states, in the order of their names
};

/// Returns the distances at every step of which both runs have a checkpoint on disk. Throws Error for a file
/// that is not a checkpoint.
std::vector<StepDrift> step_drifts(store::Store& store, const store::RunRow& a, const store::RunRow& b);

/// Returns the parameters of a step summed up by layer, in the order of the model: "embedding", "encoder.0",
/// ..., "encoder.10", "head". A layer's name is the path of its tensors up to the first number, else its
/// first part. If one of its tensors cannot be compared, `comparable` is false and the sums are those of the
/// other tensors.
std::vector<TensorDistance> layers_of(const std::vector<TensorDistance>& tensors);

using Curve = std::map<std::int64_t, double>;  ///< value by step

/// Two curves at the steps that both have. The relative difference of two values is |a - b| / max(|a|, |b|).
struct CurveDrift {
  std::string metric;
  std::int64_t steps = 0;                        ///< that both have
  std::optional<std::int64_t> first_difference;  ///< first step with another value
  std::optional<std::int64_t> first_beyond;      ///< first step with a relative difference over the tolerance
  double largest = 0.0;           ///< largest relative difference; infinite where one value is not finite
  std::int64_t largest_step = 0;  ///< where it is
};

/// `tolerance` is a relative difference, as default_tolerance.
CurveDrift curve_drift(const std::string& metric, const Curve& a, const Curve& b, double tolerance);

/// Returns whether the curve of a metric is wanted.
using WantedMetric = bool (*)(std::string_view metric);
/// Returns the wanted curves of a run by name, from the database.
std::map<std::string, Curve> read_curves(store::Store& store, std::int64_t run, WantedMetric wanted);
/// Returns the wanted curves from the spools of a run folder. A later attempt overrides an earlier one.
std::map<std::string, Curve> read_curves(const std::filesystem::path& run_folder, WantedMetric wanted);

/// Returns every curve of a loss ("train/loss", "dev/loss") of a run, by name. The second one reads the
/// spools of a run folder.
std::map<std::string, Curve> loss_curves(store::Store& store, std::int64_t run);
std::map<std::string, Curve> loss_curves(const std::filesystem::path& run_folder);

/// Compares the curves that both trainings have.
std::vector<CurveDrift> curve_drifts(const std::map<std::string, Curve>& a,
                                     const std::map<std::string, Curve>& b, double tolerance);

/// The relative difference from which on two losses count as different by default.
inline constexpr double default_tolerance = 1e-3;

/// How far a layer or a tensor is apart. The optional ones are empty where nothing could be compared.
struct DriftFigures {
  std::string name;
  std::int64_t values = 0, different = 0;
  std::optional<double> relative = {}, largest = {};
  std::optional<std::uint64_t> ulps = {};
};
void list(auto& field, A<DriftFigures> auto& figures) {
  field("name", figures.name);
  field("values", figures.values);
  field("different", figures.different);
  field("relative", figures.relative);
  field("largest", figures.largest);
  field("ulps", figures.ulps);
}

/// The figures of one step, of each layer and each tensor.
struct DriftOfStep {
  std::int64_t step = 0;
  std::vector<DriftFigures> layers = {}, tensors = {};
};
void list(auto& field, A<DriftOfStep> auto& drift) {
  field("step", drift.step);
  field("layers", drift.layers);
  field("tensors", drift.tensors);
}

void list(auto& field, A<CurveDrift> auto& curve) {
  field("metric", curve.metric);
  field("steps", curve.steps);
  field("first_difference", curve.first_difference);
  field("first_beyond", curve.first_beyond);
  field("largest", curve.largest);  // infinite: written as null, read as NaN
  field("largest_step", curve.largest_step);
}

/// What is recorded of a verification, and printed as JSON.
struct DriftReport {
  std::vector<DriftOfStep> steps;
  double tolerance = default_tolerance;
  std::vector<CurveDrift> curves;
};
void list(auto& field, A<DriftReport> auto& drift) {
  field("steps", drift.steps);
  field("tolerance", drift.tolerance);
  field("curves", drift.curves);
}

/// Puts both results into the form that is stored and printed.
DriftReport drift_of(const std::vector<StepDrift>& steps, std::vector<CurveDrift> curves, double tolerance);

}  // namespace encore::runner

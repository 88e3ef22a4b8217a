// SPDX-License-Identifier: BSD-3-Clause
// Tests drift_of() and curve_drift() (runner/drift.hpp, runner/tensor_distance.hpp), which measure how far
// two trainings of one question differ: by tensor and by layer, in units of the last place and relative to
// the norm, and along the curves of loss. Stored verdicts contain these distances, so their definitions must
// stay.
#include "runner/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/safetensors.hpp"
#include "record/spool.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::runner {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Writes a file of float32 vectors.
void write(const std::filesystem::path& path, const std::map<std::string, std::vector<float>>& tensors) {
  std::vector<record::TensorSlice> slices;
  for (const auto& [name, values] : tensors)
    slices.push_back(
        {name, DType::float32, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))});
  record::save_safetensors(path, slices, {});
}

class Drift : public ::testing::Test {
 protected:
  std::vector<TensorDistance> distances(const std::map<std::string, std::vector<float>>& one,
                                        const std::map<std::string, std::vector<float>>& other) const {
    write(folder.path() / "one", one);
    write(folder.path() / "other", other);
    return tensor_distances(folder.path() / "one", folder.path() / "other");
  }
  testing::TemporaryFolder folder;
};

TEST_F(Drift, ATensorsDistanceIsThatOfItsValues) {
  const auto list = distances({{"a", {3.0F, 4.0F, 0.0F}}}, {{"a", {3.0F, 4.5F, 0.0F}}});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].values, 3);
  EXPECT_EQ(list[0].different, 1);
  EXPECT_EQ(list[0].largest, 0.5);
  EXPECT_EQ(list[0].ulps, 1u << 20) << "two to the 21 floats lie between 4 and 5";
  EXPECT_DOUBLE_EQ(list[0].relative(), 0.5 / std::sqrt(3.0 * 3.0 + 4.5 * 4.5)) << "to the larger norm";
  EXPECT_DOUBLE_EQ(distances({{"a", {3.0F, 4.5F, 0.0F}}}, {{"a", {3.0F, 4.0F, 0.0F}}})[0].relative(),
                   list[0].relative())
      << "the same the other way round";
}

TEST_F(Drift, EqualTensorsAreZeroApartAndZerosToo) {
  for (const TensorDistance& tensor :
       distances({{"a", {1.0F, -2.0F}}, {"b", {0.0F}}}, {{"a", {1.0F, -2.0F}}, {"b", {-0.0F}}})) {
    EXPECT_EQ(tensor.different, tensor.name == "b" ? 1 : 0) << "0 and -0 have other bits";
    EXPECT_EQ(tensor.relative(), 0.0) << tensor.name;
    EXPECT_EQ(tensor.ulps, 0u);
  }
}

TEST_F(Drift, ValuesThatAreNotFiniteAreCountedWithoutADistance) {
  const TensorDistance tensor = distances({{"a", {nan, 1.0F, 2.0F}}}, {{"a", {1.0F, INFINITY, 2.5F}}})[0];
  EXPECT_EQ(tensor.different, 3);
  EXPECT_EQ(tensor.largest, 0.5);
  EXPECT_DOUBLE_EQ(tensor.relative(), 0.5 / 2.5);
}

TEST_F(Drift, ATensorOfOneSideOrOfAnotherShapeIsNotComparable) {
  const auto list = distances({{"a", {1.0F}}, {"b", {1.0F, 2.0F}}}, {{"b", {1.0F}}, {"c", {1.0F}}});
  ASSERT_EQ(list.size(), 3u);
  for (const TensorDistance& tensor : list) {
    EXPECT_FALSE(tensor.comparable) << tensor.name;
    EXPECT_EQ(tensor.different, tensor.values);
  }
  const nlohmann::json json = to_json_object(drift_of({{7, list}}, {}, 0.1));
  EXPECT_TRUE(json.at("steps").at(0).at("tensors").at(0).at("relative").is_null());
}

TEST_F(Drift, ALayerIsAllItsParametersInTheOrderOfTheModel) {
  const auto list = distances({{"parameter/encoder.10.attention.qkv.weight", {1.0F}},
                               {"parameter/encoder.2.attention.qkv.weight", {3.0F}},
                               {"parameter/encoder.2.feed_forward.2.bias", {4.0F}},
                               {"parameter/embedding.tokens", {1.0F}},
                               {"parameter/head.bias", {0.0F}},
                               {"optimizer/first_moment/head.bias", {9.0F}}},
                              {{"parameter/encoder.10.attention.qkv.weight", {1.0F}},
                               {"parameter/encoder.2.attention.qkv.weight", {3.0F}},
                               {"parameter/encoder.2.feed_forward.2.bias", {4.5F}},
                               {"parameter/embedding.tokens", {1.0F}},
                               {"parameter/head.bias", {0.0F}},
                               {"optimizer/first_moment/head.bias", {1.0F}}});
  const std::vector<TensorDistance> layers = layers_of(list);
  std::vector<std::string> names;
  for (const TensorDistance& layer : layers) names.push_back(layer.name);
  EXPECT_EQ(names, (std::vector<std::string>{"embedding", "encoder.2", "encoder.10", "head"}));
  EXPECT_EQ(layers[1].values, 2);
  EXPECT_EQ(layers[1].different, 1);
  EXPECT_DOUBLE_EQ(layers[1].relative(), 0.5 / std::sqrt(3.0 * 3.0 + 4.5 * 4.5));
  EXPECT_EQ(layers[3].relative(), 0.0) << "the optimizer's state is not a layer";
  EXPECT_EQ(list.size(), 6u) << "but it is listed with the tensors";
}

TEST_F(Drift, CurvesAreComparedWhereBothHaveAValue) {
  const Curve a = {{1, 2.0}, {2, 1.0}, {3, 0.5}, {5, 4.0}}, b = {{1, 2.0}, {2, 1.0001}, {3, 0.4}, {4, 1.0}};
  const CurveDrift drift = curve_drift("train/loss", a, b, 1e-3);
  EXPECT_EQ(drift.steps, 3);
  EXPECT_EQ(drift.first_difference, 2);
  EXPECT_EQ(drift.first_beyond, 3);
  EXPECT_EQ(drift.largest_step, 3);
  EXPECT_DOUBLE_EQ(drift.largest, 0.1 / 0.5);
  const CurveDrift same = curve_drift("train/loss", a, a, 0.0);
  EXPECT_FALSE(same.first_difference);
  EXPECT_FALSE(same.first_beyond);
  const CurveDrift broken =
      curve_drift("train/loss", {{1, 1.0}, {2, nan}, {3, nan}}, {{1, 1.0}, {2, 1.0}, {3, nan}}, 1e-3);
  EXPECT_EQ(broken.first_beyond, 2);
  EXPECT_TRUE(std::isinf(broken.largest));
  EXPECT_EQ(to_json_object(drift_of({}, {broken}, 1e-3)).at("curves").at(0).at("largest").dump(), "null");
}

TEST_F(Drift, ASpoolsLossesAreReadAndALaterAttemptOverrules) {
  for (int attempt = 1; attempt <= 2; ++attempt) {
    record::SpoolWriter spool(folder.path() / record::spool_name(attempt), attempt);
    for (int step = 3 * attempt - 2; step <= 3 * attempt + 1; ++step) {
      spool.point("train/loss", step, 10.0 * attempt + step);
      spool.point("dev/f1", step, 0.5);
    }
    spool.sync();
  }
  const auto curves = loss_curves(folder.path());
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves.at("train/loss"),
            (Curve{{1, 11.0}, {2, 12.0}, {3, 13.0}, {4, 24.0}, {5, 25.0}, {6, 26.0}, {7, 27.0}}));
}

}  // namespace
}  // namespace encore::runner

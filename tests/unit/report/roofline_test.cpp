// SPDX-License-Identifier: BSD-3-Clause
// Tests draw_roofline() (report/roofline.hpp), a picture of `exp bench`: which limits of the machine and
// which kernels it labels, and that labels do not overlap, also with many kernels in one place. Sizes and
// colours may change; labels must not overlap.
#include "report/roofline.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/analysis/bench_sample.hpp"
#include "unit/document/boxes.hpp"

namespace encore::report {
namespace {

using bench_sample::rounds, bench_sample::sample, bench_sample::Values;

std::vector<std::string> texts_of(const document::Drawing& drawing) {
  std::vector<std::string> texts;
  for (const document::Label& label : samples::shapes_of<document::Label>(drawing))
    texts.push_back(label.text);
  return texts;
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// Checks that no label overlaps another one or lies outside of the drawing. A label that was moved may lie
/// on a line.
void expect_legible(const document::Drawing& drawing) {
  const auto labels = samples::shapes_of<document::Label>(drawing);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const samples::Corners box = samples::corners(labels[i]);
    for (const auto& [x, y] : box)
      EXPECT_TRUE(x >= 0 && x <= drawing.width && y >= 0 && y <= drawing.height) << labels[i].text;
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_FALSE(samples::overlap(box, samples::corners(labels[k])))
          << labels[i].text << " on " << labels[k].text;
  }
}

TEST(Roofline, NamesTheLimitsAndEveryKernelWhoseWorkIsKnown) {
  const store::BenchResult result = sample();
  const analysis::BenchSummary summary = analysis::summarize(result);
  const document::Drawing drawing = draw_roofline(summary, summary.steps[0]);
  const std::vector<std::string> texts = texts_of(drawing);
  for (const char* text :
       {"Roofline of a step: float32, batch 32, openmp, 2 threads", "float32 products: 100 GFLOP/s",
        "memory: 10.0 GB/s", "speed, GFLOP/s", "operations per byte, FLOP/byte", "1", "2",
        "encore::gemm N x 4 x 4 nt", "encore::layer_norm", "50.0"})
    EXPECT_TRUE(has(texts, text)) << text;
  EXPECT_FALSE(has(texts, "theirs::kernel")) << "its work is unknown";
  EXPECT_FALSE(has(texts, "encore::gemm_pack")) << "it is part of a product";
  expect_legible(drawing);
  store::BenchResult unknown = sample();
  unknown.cases[1].facts["kernels"] = nlohmann::json::object();
  const analysis::BenchSummary nothing = analysis::summarize(unknown);
  EXPECT_THROW(draw_roofline(nothing, nothing.steps[0]), Error);
}

TEST(Roofline, ManyKernelsInOnePlaceStayLegible) {
  store::BenchResult result = sample();
  store::BenchCase& step = result.cases[1];
  for (int i = 0; i < 40; ++i) {
    const std::string label = "encore::kernel_with_a_name_of_some_length_" + std::to_string(i);
    step.facts["kernels"][label] = {{"calls", 1.0}, {"flops", 1e7 * (1 + i % 3)}, {"bytes", 1e6}};
    step.samples["kernel " + label] = Values(rounds, 1e-4 * (40 - i));
  }
  const analysis::BenchSummary summary = analysis::summarize(result);
  const document::Drawing drawing = draw_roofline(summary, summary.steps[0]);
  const std::vector<std::string> texts = texts_of(drawing);
  EXPECT_TRUE(has(texts, "24"));
  EXPECT_FALSE(has(texts, "25"));
  EXPECT_TRUE(has(texts, "and 18 more with smaller shares"));
  expect_legible(drawing);
}

}  // namespace
}  // namespace encore::report

// SPDX-License-Identifier: BSD-3-Clause
// OnnxRuns: runs graphs of ONNX by the Python package onnxruntime, if it is installed. Place in the flow:
// onnx_check.cpp adds a run for each arrangement of a part, runs all of them in one process, and compares.
// Without the package nothing fails: the check is reported as not checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "onnx_graph/onnx_file.hpp"

namespace encore::contract {

/// The value of an input of a graph.
struct OnnxFeed {
  onnx_graph::OnnxType type = onnx_graph::OnnxType::int64;  ///< or float32
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// The result of a graph.
struct OnnxResult {
  std::string refusal = {};  ///< the error of onnxruntime; empty: it ran
  std::map<std::string, OnnxFeed> outputs = {};
};

/// Collects graphs and runs them in one process. Uses its own folder below that for temporary files.
class OnnxRuns {
 public:
  OnnxRuns();
  ~OnnxRuns();
  OnnxRuns(const OnnxRuns&) = delete;
  OnnxRuns& operator=(const OnnxRuns&) = delete;

  /// Adds a graph with its inputs. Throws Error if `feeds` lacks an input of the graph.
  void add(const onnx_graph::OnnxModel& model, const std::map<std::string, OnnxFeed>& feeds);
  std::size_t size() const { return runs_.size(); }
  /// Runs all graphs. Returns a result for each add(), in that order. Throws NotChecked if python3 or the
  /// package is missing.
  std::vector<OnnxResult> run() const;

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> runs_;
};

}  // namespace encore::contract

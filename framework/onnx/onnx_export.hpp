// SPDX-License-Identifier: BSD-3-Clause
// Exports a run's best model as a folder for programs that do not know Encore: the ONNX graph with its
// weights, the tokenizer's files, and model.json, which says what its numbers mean and whose keys programs of
// users read. The flow is: the worker's export -> here -> graph_writer.hpp, onnx_file.hpp. `exp export`
// writes the model card beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "infer/engine.hpp"
#include "onnx_graph/onnx_file.hpp"

namespace encore::onnx {

/// A file of the folder with task, labels, special tokens, inputs and outputs.
inline constexpr const char* onnx_facts_file = "model.json";

struct ExportedOnnx {
  std::string pipeline;      ///< the hub's name for its use: "token-classification"
  std::int64_t tensors = 0;  ///< constants of the graph
  std::int64_t parameters = 0;
  std::string weights_file, weights_sha256;
  std::string use;  ///< Python code that uses the model
};

/// Fills an existing `folder`. Models that are too large for one file are written as with
/// OnnxWeights::beside. Throws Error that names the part of the model without an ONNX form; then nothing is
/// written.
ExportedOnnx export_to_onnx(const infer::Engine& engine, const std::filesystem::path& folder,
                            onnx_graph::OnnxWeights weights);

}  // namespace encore::onnx

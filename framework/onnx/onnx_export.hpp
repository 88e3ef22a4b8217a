// Export as ONNX: a run's best model as a folder for programs that know nothing of this one: the graph with
// its weights, the tokenizer's files, and model.json, which says what its numbers mean. Place in the flow:
// the worker's export -> here -> graph_writer.hpp, onnx_file.hpp. `exp export` writes the model card beside
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "infer/engine.hpp"
#include "onnx_graph/onnx_file.hpp"

namespace encore {

/// In the folder: task, labels, special pieces, inputs and outputs.
inline constexpr const char* onnx_facts_file = "model.json";

struct ExportedOnnx {
  std::string pipeline;      ///< what the hub calls its use: "token-classification"
  std::int64_t tensors = 0;  ///< constants of the graph
  std::int64_t parameters = 0;
  std::string weights_file, weights_sha256;
  std::string use;  ///< how a program asks it, in Python
};

/// Fills `folder`, which is there. `beside` is also what models that do not fit inside get. Throws Error
/// naming the part of the model that has no ONNX form; then nothing is written.
ExportedOnnx export_to_onnx(const Engine& engine, const std::filesystem::path& folder, OnnxWeights weights);

}  // namespace encore

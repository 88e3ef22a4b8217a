// SPDX-License-Identifier: BSD-3-Clause
// OnnxModel is a graph in the form of ONNX, and its file (onnx.proto of ONNX 1.12: IR version 8, opset 17).
// GraphWriter fills it, the worker's export saves it (save_onnx). Nothing here knows what a model of Encore
// is. The numbers of fields and types are those of onnx.proto and must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <encore/onnx_form.hpp>

#include "record/safetensors.hpp"

namespace encore::onnx_graph {

inline constexpr const char* onnx_file = "model.onnx";
/// The file of the weights, in the same folder, if they are not inside the graph's file.
inline constexpr const char* onnx_data_file = "model.onnx.data";

/// The types of tensors, with the numbers of onnx.proto, which must stay.
enum class OnnxType : std::uint8_t { float32 = 1, int64 = 7, boolean = 9 };

/// A constant of the graph.
struct OnnxTensor {
  std::string name;
  OnnxType type = OnnxType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// One operation of the graph.
struct OnnxNode {
  std::string name, operation;
  std::vector<std::string> inputs, outputs;
  std::vector<OnnxAttribute> attributes;
};

/// An input or output of a call; extents may be OnnxGraph::batch and OnnxGraph::length.
struct OnnxPort {
  std::string name;
  OnnxType type = OnnxType::float32;
  std::vector<std::int64_t> shape;
};

/// A whole graph.
struct OnnxModel {
  std::vector<OnnxNode> nodes;  ///< each after those whose outputs it reads
  std::vector<OnnxTensor> constants;
  std::vector<OnnxPort> inputs, outputs;
  std::map<std::string, std::string> metadata;
};

/// Says whether the weights of a file are inside it or in a file beside it.
enum class OnnxWeights : std::uint8_t {
  inside,  ///< of up to 2 GB, the most that a message may have
  beside,  ///< in onnx_data_file
};

/// The largest size of a file with its weights inside.
inline constexpr std::uint64_t most_onnx_bytes = 2'000'000'000;
/// Returns the bytes of all constants.
std::uint64_t constant_bytes(const OnnxModel& model);

/// Writes onnx_file into the folder, and with `beside` onnx_data_file before it; returns size and SHA-256 of
/// the one with the weights. Throws Error if the weights are too large to be inside.
record::SavedFile save_onnx(const std::filesystem::path& folder, const OnnxModel& model, OnnxWeights weights);

}  // namespace encore::onnx_graph

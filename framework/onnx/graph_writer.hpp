// SPDX-License-Identifier: BSD-3-Clause
// GraphWriter writes a model's network as one graph of ONNX, by asking each node for its part
// (onnx_form.hpp). The flow is: export_to_onnx -> here -> onnx_file.hpp. The names of inputs and outputs are
// those of `transformers`, on which programs of users rely.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"
#include "onnx_graph/graph_builder.hpp"

namespace encore::onnx {

/// The name of the output with the encoder's states, as in `transformers`.
inline constexpr const char* states_output = "last_hidden_state";

class GraphWriter final : public onnx_graph::GraphBuilder {
 public:
  /// Constants that no node asks for are left out. The model must outlive the writer.
  explicit GraphWriter(const model::Model& model) : model_(model) {}

  /// Returns the graph of the model. Throws Error that names the part without a form, and what to do. Call it
  /// once.
  onnx_graph::OnnxModel write();

 private:
  onnx_graph::OnnxParameter held_parameter(Parameter parameter) const override;
  OnnxValue value_of(const model::Node& node, const std::vector<OnnxValue>& inputs);
  std::vector<float> values_of(const std::string& path) const;

  const model::Model& model_;
  const model::Node* node_ = nullptr;  ///< the node whose part is being written
};

}  // namespace encore::onnx

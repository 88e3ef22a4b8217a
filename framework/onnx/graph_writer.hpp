// GraphWriter: a model's network as one graph of ONNX, made by asking each node for its part (onnx_form.hpp).
// Place in the flow: export_to_onnx -> here -> onnx_file.hpp.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"
#include "onnx_graph/graph_builder.hpp"

namespace encore {

/// The output of the encoder's states, as `transformers` calls it.
inline constexpr const char* states_output = "last_hidden_state";

class GraphWriter final : public GraphBuilder {
 public:
  /// What no node asks for before write() is called is left out. The model outlives the writer.
  explicit GraphWriter(const Model& model) : model_(model) {}

  /// Throws Error naming the part that has no form, and what can be done. Called once.
  OnnxModel write();

 private:
  OnnxParameter held_parameter(Parameter parameter) const override;
  OnnxValue value_of(const Node& node, const std::vector<OnnxValue>& inputs);
  std::vector<float> values_of(const std::string& path) const;

  const Model& model_;
  const Node* node_ = nullptr;  ///< whose part is being written
};

}  // namespace encore

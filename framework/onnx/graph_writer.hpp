// GraphWriter: a model's network as one graph of ONNX, made by asking each node for its part (onnx_form.hpp).
// Place in the flow: export_to_onnx -> here -> onnx_file.hpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <encore/onnx_form.hpp>

#include "model/model.hpp"
#include "onnx/onnx_file.hpp"

namespace encore {

/// Inputs of every graph, and the output of the encoder's states, as `transformers` calls them.
inline constexpr const char* ids_input = "input_ids";
inline constexpr const char* mask_input = "attention_mask";
inline constexpr const char* segments_input = "token_type_ids";
inline constexpr const char* states_output = "last_hidden_state";

class GraphWriter final : public OnnxGraph {
 public:
  /// What no node asks for before write() is called is left out. The model outlives the writer.
  explicit GraphWriter(const Model& model);

  /// Throws Error naming the part that has no form, and what can be done. Called once.
  OnnxModel write();

  std::vector<OnnxValue> nodes(const std::string& operation, const std::vector<OnnxValue>& inputs,
                               const std::vector<OnnxAttribute>& attributes, std::size_t outputs) override;
  OnnxValue parameter(Parameter parameter) override;
  OnnxValue turned(Parameter matrix) override;
  OnnxValue floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values) override;
  OnnxValue integers(const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& values) override;
  OnnxValue ids() override { return input(ids_input, {batch, length}); }
  OnnxValue segments() override { return input(segments_input, {batch, length}); }
  OnnxValue mask() override;
  OnnxValue input(const std::string& name, const std::vector<std::int64_t>& shape) override;
  void output(const std::string& name, const OnnxValue& value,
              const std::vector<std::int64_t>& shape) override;

 private:
  OnnxValue value_of(const Node& node, const std::vector<OnnxValue>& inputs);
  OnnxValue constant(const std::string& name, OnnxType type, const std::vector<std::int64_t>& shape,
                     std::vector<std::byte> bytes);
  const ParameterSpec& spec_of(Parameter parameter) const;
  std::vector<float> values_of(const std::string& path) const;

  const Model& model_;
  const Node* node_ = nullptr;  ///< whose part is being written
  OnnxModel graph_;
  std::map<std::string, std::vector<OnnxValue>>
      known_;                                  ///< outputs of nodes, constants, by all that they are made of
  std::map<std::string, std::size_t> counts_;  ///< of names
};

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// GraphBuilder is the graph into which layers and heads write their ONNX form (onnx_form.hpp), independent of
// the source of parameter values. GraphWriter (onnx) walks over a model with it, the contract suite over one
// part; onnx_file.hpp writes the file. Equal nodes and constants are stored once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <encore/onnx_form.hpp>

#include "onnx_graph/onnx_file.hpp"

namespace encore::onnx_graph {

/// The names of the inputs of every graph, as in `transformers`.
inline constexpr const char* ids_input = "input_ids";
inline constexpr const char* mask_input = "attention_mask";
inline constexpr const char* segments_input = "token_type_ids";

/// A parameter as the graph stores it.
struct OnnxParameter {
  std::string path;  ///< its name in the graph; equal paths are one constant
  std::vector<std::int64_t> shape;
  std::function<std::vector<float>()> values;  ///< asked once for each constant
};

class GraphBuilder : public OnnxGraph {
 public:
  GraphBuilder();

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
  OnnxValue input(const std::string& name, const std::vector<std::int64_t>& shape) override {
    return add_input(name, OnnxType::int64, shape);
  }
  void output(const std::string& name, const OnnxValue& value,
              const std::vector<std::int64_t>& shape) override;

 protected:
  /// Returns the parameter that a handle of the current part stands for. Throws if the part did not declare
  /// it.
  virtual OnnxParameter held_parameter(Parameter parameter) const = 0;
  OnnxValue add_input(const std::string& name, OnnxType type, const std::vector<std::int64_t>& shape);

  OnnxModel graph_;
  std::string scope_;  ///< the path of the part that is being written; names of nodes begin with it

 private:
  OnnxValue constant(const std::string& name, OnnxType type, const std::vector<std::int64_t>& shape,
                     std::vector<std::byte> bytes);

  std::map<std::string, std::vector<OnnxValue>>
      known_;                                  ///< outputs of nodes, and constants, by their content
  std::map<std::string, std::size_t> counts_;  ///< how often each name was given
};

}  // namespace encore::onnx_graph

// SPDX-License-Identifier: BSD-3-Clause
// Implements GraphWriter: asks each node of a model's network for its ONNX form, and adds the inputs, outputs
// and constants of the graph. export_to_onnx() calls it. The names of inputs and outputs are those of
// `transformers`, on which programs of users rely. Read graph_writer.hpp first.
#include "onnx/graph_writer.hpp"

#include "model/floats.hpp"

namespace encore::onnx {
namespace {

constexpr const char* other_ways =
    "; export it with --format huggingface where there is a family for it, or serve it with exp serve";

/// Returns `layer "highway" of plugin /p/my.so (encoder.0.highway)`.
std::string described(const model::Node& node) {
  return (node.owner.empty() ? "model's own part" : node.owner) + " (" + node.path + ")";
}

}  // namespace

onnx_graph::OnnxModel GraphWriter::write() {
  const model::Network& network = model_.network();
  std::vector<OnnxValue> values;  // of the nodes
  for (const model::Node& node : network.nodes()) {
    if (node.space == Space::target)
      throw Error(
          "a model with a decoder over a second text (model.decoder) writes pass by pass, which is more than "
          "one "
          "ONNX graph" +
          std::string(other_ways));
    std::vector<OnnxValue> inputs;
    for (const model::ValueIndex input : node.inputs)
      inputs.push_back(values[static_cast<std::size_t>(input)]);
    node_ = &node;
    scope_ = node.path;
    values.push_back(value_of(node, inputs));
  }
  output(states_output, values[static_cast<std::size_t>(network.states())],
         {batch, length, network.nodes()[static_cast<std::size_t>(network.states())].plan.width()});
  return std::move(graph_);
}

OnnxValue GraphWriter::value_of(const model::Node& node, const std::vector<OnnxValue>& inputs) {
  if (node.head) {
    const auto* head = dynamic_cast<const HasOnnxOutputs*>(node.head.get());
    if (head == nullptr)
      throw Error("the " + described(node) +
                  " has no ONNX form; let it inherit HasOnnxOutputs (encore/onnx_form.hpp)" + other_ways);
    head->onnx_outputs(*this, inputs);
    return {};
  }
  if (!node.layer) return node.space == Space::sequences ? first_rows(inputs[0]) : inputs[0];
  const auto* layer = dynamic_cast<const HasOnnxForm*>(node.layer.get());
  if (layer == nullptr)
    throw Error("the " + described(node) +
                " has no ONNX form; let it inherit HasOnnxForm (encore/onnx_form.hpp)" + other_ways);
  if (!node.sum) return layer->onnx_form(*this, inputs);
  return layer->onnx_form(*this, std::vector<OnnxValue>{add(inputs[0], inputs[1])});
}

onnx_graph::OnnxParameter GraphWriter::held_parameter(Parameter parameter) const {
  const std::vector<ParameterSpec>& all = node_->plan.parameters();
  const auto place = static_cast<std::size_t>(parameter.index);
  ENCORE_REQUIRE(place < all.size(), node_->path + " asks for a parameter that it did not declare");
  const std::string path = model::path_of(*node_, all[place]);
  return {.path = path, .shape = all[place].shape, .values = [this, path] { return values_of(path); }};
}

/// Returns the values as passes use them, adapters included.
std::vector<float> GraphWriter::values_of(const std::string& path) const {
  const memory::ParameterBlock& parameters = model_.parameters();
  return model::floats_of(model_.device(), parameters.adapted(parameters.find(path)));
}

}  // namespace encore::onnx

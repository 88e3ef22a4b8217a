// SPDX-License-Identifier: BSD-3-Clause
// Implements GraphBuilder: adds nodes and constants to a graph of ONNX, equal ones only once; a constant is
// read when a part first asks for it. onnx_form() and onnx_outputs() of layers and heads call it through
// GraphWriter or the contract suite. Read graph_builder.hpp first.
#include "onnx_graph/graph_builder.hpp"

#include <algorithm>
#include <span>
#include <type_traits>

namespace encore::onnx_graph {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (const std::int64_t value : values) text += std::to_string(value) + ",";
  return text + "]";
}

std::string text_of(const OnnxAttribute& attribute) {
  return attribute.name + "=" +
         std::visit(
             [](const auto& value) {
               using T = std::decay_t<decltype(value)>;
               if constexpr (std::is_same_v<T, std::vector<std::int64_t>>)
                 return text_of(value);
               else
                 return std::to_string(value) + (std::is_same_v<T, double> ? "f" : "");
             },
             attribute.value);
}

}  // namespace

GraphBuilder::GraphBuilder() {
  input(ids_input, {batch, length});
  input(mask_input, {batch, length});
}

std::vector<OnnxValue> GraphBuilder::nodes(const std::string& operation, const std::vector<OnnxValue>& inputs,
                                           const std::vector<OnnxAttribute>& attributes,
                                           std::size_t outputs) {
  std::string key = operation + "/" + std::to_string(outputs);
  for (const OnnxValue& input : inputs) key += "|" + input;
  for (const OnnxAttribute& attribute : attributes) key += "|" + text_of(attribute);
  std::vector<OnnxValue>& made = known_[key];
  if (!made.empty()) return made;
  const std::string stem = scope_ + "/" + operation;
  const std::string name = stem + "_" + std::to_string(counts_[stem]++);
  for (std::size_t i = 0; i < outputs; ++i) made.push_back(i == 0 ? name : name + ":" + std::to_string(i));
  graph_.nodes.push_back(
      {.name = name, .operation = operation, .inputs = inputs, .outputs = made, .attributes = attributes});
  return made;
}

OnnxValue GraphBuilder::parameter(Parameter parameter) {
  const OnnxParameter held = held_parameter(parameter);
  if (known_.contains(held.path)) return held.path;
  return constant(held.path, OnnxType::float32, held.shape, bytes_of(held.values()));
}

OnnxValue GraphBuilder::turned(Parameter matrix) {
  const OnnxParameter held = held_parameter(matrix);
  const std::string name = held.path + ".transposed";
  if (known_.contains(name)) return name;
  ENCORE_REQUIRE(held.shape.size() == 2, held.path + " is not a matrix");
  const auto rows = static_cast<std::size_t>(held.shape[0]),
             columns = static_cast<std::size_t>(held.shape[1]);
  const std::vector<float> values = held.values();
  std::vector<float> turned(values.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      turned[column * rows + row] = values[row * columns + column];
  return constant(name, OnnxType::float32, {held.shape[1], held.shape[0]}, bytes_of(turned));
}

OnnxValue GraphBuilder::constant(const std::string& name, OnnxType type,
                                 const std::vector<std::int64_t>& shape, std::vector<std::byte> bytes) {
  graph_.constants.push_back({.name = name, .type = type, .shape = shape, .bytes = std::move(bytes)});
  known_[name] = {name};
  return name;
}

OnnxValue GraphBuilder::floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  std::vector<std::byte> bytes = bytes_of(values);
  const std::string key =
      "floats " + text_of(shape) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<OnnxValue>& made = known_[key];
  if (made.empty())
    made = {constant("constant_" + std::to_string(counts_["constant"]++), OnnxType::float32, shape,
                     std::move(bytes))};
  return made.front();
}

OnnxValue GraphBuilder::integers(const std::vector<std::int64_t>& shape,
                                 const std::vector<std::int64_t>& values) {
  std::vector<OnnxValue>& made = known_["integers " + text_of(shape) + text_of(values)];
  if (made.empty())
    made = {constant("constant_" + std::to_string(counts_["constant"]++), OnnxType::int64, shape,
                     bytes_of(values))};
  return made.front();
}

OnnxValue GraphBuilder::mask() {
  return node("Cast", {mask_input}, {{"to", static_cast<std::int64_t>(OnnxType::boolean)}});
}

OnnxValue GraphBuilder::add_input(const std::string& name, OnnxType type,
                                  const std::vector<std::int64_t>& shape) {
  if (std::ranges::find(graph_.inputs, name, &OnnxPort::name) == graph_.inputs.end())
    graph_.inputs.push_back({.name = name, .type = type, .shape = shape});
  return name;
}

void GraphBuilder::output(const std::string& name, const OnnxValue& value,
                          const std::vector<std::int64_t>& shape) {
  graph_.nodes.push_back(
      {.name = name, .operation = "Identity", .inputs = {value}, .outputs = {name}, .attributes = {}});
  graph_.outputs.push_back({.name = name, .type = OnnxType::float32, .shape = shape});
}

}  // namespace encore::onnx_graph

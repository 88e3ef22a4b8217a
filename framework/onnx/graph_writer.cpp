#include "onnx/graph_writer.hpp"

#include <algorithm>
#include <span>
#include <type_traits>

#include "model/floats.hpp"

namespace encore {
namespace {

constexpr const char* other_ways =
    "; export it with --format huggingface where there is a family for it, or serve it with exp serve";

/// `layer "highway" of plugin /p/my.so (encoder.0.highway)`.
std::string described(const Node& node) {
  return (node.owner.empty() ? "model's own part" : node.owner) + " (" + node.path + ")";
}

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

GraphWriter::GraphWriter(const Model& model) : model_(model) {
  input(ids_input, {batch, length});
  input(mask_input, {batch, length});
}

OnnxModel GraphWriter::write() {
  const Network& network = model_.network();
  std::vector<OnnxValue> values;  // of the nodes
  for (const Node& node : network.nodes()) {
    if (node.space == Space::target)
      throw Error(
          "a model with a decoder over a second text (model.decoder) writes pass by pass, which is no one "
          "ONNX graph" +
          std::string(other_ways));
    std::vector<OnnxValue> inputs;
    for (const ValueIndex input : node.inputs) inputs.push_back(values[static_cast<std::size_t>(input)]);
    node_ = &node;
    values.push_back(value_of(node, inputs));
  }
  output(states_output, values[static_cast<std::size_t>(network.states())],
         {batch, length, network.nodes()[static_cast<std::size_t>(network.states())].plan.width()});
  return std::move(graph_);
}

OnnxValue GraphWriter::value_of(const Node& node, const std::vector<OnnxValue>& inputs) {
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

std::vector<OnnxValue> GraphWriter::nodes(const std::string& operation, const std::vector<OnnxValue>& inputs,
                                          const std::vector<OnnxAttribute>& attributes, std::size_t outputs) {
  std::string key = operation + "/" + std::to_string(outputs);
  for (const OnnxValue& input : inputs) key += "|" + input;
  for (const OnnxAttribute& attribute : attributes) key += "|" + text_of(attribute);
  std::vector<OnnxValue>& made = known_[key];
  if (!made.empty()) return made;
  const std::string stem = node_->path + "/" + operation;
  const std::string name = stem + "_" + std::to_string(counts_[stem]++);
  for (std::size_t i = 0; i < outputs; ++i) made.push_back(i == 0 ? name : name + ":" + std::to_string(i));
  graph_.nodes.push_back(
      {.name = name, .operation = operation, .inputs = inputs, .outputs = made, .attributes = attributes});
  return made;
}

const ParameterSpec& GraphWriter::spec_of(Parameter parameter) const {
  const std::vector<ParameterSpec>& all = node_->plan.parameters();
  const auto place = static_cast<std::size_t>(parameter.index);
  ENCORE_REQUIRE(place < all.size(), node_->path + " asks for a parameter that it did not declare");
  return all[place];
}

/// As passes use them, adapters included.
std::vector<float> GraphWriter::values_of(const std::string& path) const {
  const ParameterBlock& parameters = model_.parameters();
  return floats_of(model_.device(), parameters.adapted(parameters.find(path)));
}

OnnxValue GraphWriter::parameter(Parameter parameter) {
  const ParameterSpec& spec = spec_of(parameter);
  const std::string path = path_of(*node_, spec);
  if (known_.contains(path)) return path;
  return constant(path, OnnxType::float32, spec.shape, bytes_of(values_of(path)));
}

OnnxValue GraphWriter::turned(Parameter matrix) {
  const ParameterSpec& spec = spec_of(matrix);
  const std::string path = path_of(*node_, spec), name = path + ".transposed";
  if (known_.contains(name)) return name;
  ENCORE_REQUIRE(spec.shape.size() == 2, path + " is no matrix");
  const auto rows = static_cast<std::size_t>(spec.shape[0]),
             columns = static_cast<std::size_t>(spec.shape[1]);
  const std::vector<float> values = values_of(path);
  std::vector<float> turned(values.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      turned[column * rows + row] = values[row * columns + column];
  return constant(name, OnnxType::float32, {spec.shape[1], spec.shape[0]}, bytes_of(turned));
}

OnnxValue GraphWriter::constant(const std::string& name, OnnxType type,
                                const std::vector<std::int64_t>& shape, std::vector<std::byte> bytes) {
  graph_.constants.push_back({.name = name, .type = type, .shape = shape, .bytes = std::move(bytes)});
  known_[name] = {name};
  return name;
}

OnnxValue GraphWriter::floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  std::vector<std::byte> bytes = bytes_of(values);
  const std::string key =
      "floats " + text_of(shape) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<OnnxValue>& made = known_[key];
  if (made.empty())
    made = {constant("constant_" + std::to_string(counts_["constant"]++), OnnxType::float32, shape,
                     std::move(bytes))};
  return made.front();
}

OnnxValue GraphWriter::integers(const std::vector<std::int64_t>& shape,
                                const std::vector<std::int64_t>& values) {
  std::vector<OnnxValue>& made = known_["integers " + text_of(shape) + text_of(values)];
  if (made.empty())
    made = {constant("constant_" + std::to_string(counts_["constant"]++), OnnxType::int64, shape,
                     bytes_of(values))};
  return made.front();
}

OnnxValue GraphWriter::mask() {
  return node("Cast", {mask_input}, {{"to", static_cast<std::int64_t>(OnnxType::boolean)}});
}

OnnxValue GraphWriter::input(const std::string& name, const std::vector<std::int64_t>& shape) {
  if (std::ranges::find(graph_.inputs, name, &OnnxPort::name) == graph_.inputs.end())
    graph_.inputs.push_back({.name = name, .type = OnnxType::int64, .shape = shape});
  return name;
}

void GraphWriter::output(const std::string& name, const OnnxValue& value,
                         const std::vector<std::int64_t>& shape) {
  graph_.nodes.push_back(
      {.name = name, .operation = "Identity", .inputs = {value}, .outputs = {name}, .attributes = {}});
  graph_.outputs.push_back({.name = name, .type = OnnxType::float32, .shape = shape});
}

}  // namespace encore

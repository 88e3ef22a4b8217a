// SPDX-License-Identifier: BSD-3-Clause
// HasOnnxForm and HasOnnxOutputs: extensions of Layer and Head that express their computation in operators of
// ONNX (opset 17), so that other programs can run the model. `exp export --format onnx` (framework/onnx)
// collects the nodes of each part in one graph, and refuses a model with a part that has no form. A layer
// sees packed rows (N, C), but its form sees padded rows (batch, length, C), real rows first. Results on rows
// after the end of a text are ignored, and attention masks them as keys. It is part of the ABI of plugins: a
// change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>

namespace encore {

/// The name of a tensor of the graph; "" stands for an absent one.
using OnnxValue = std::string;

struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, double, std::vector<std::int64_t>> value;
};

/// The graph that the export writes. A node, a constant or a parameter that is requested twice is written
/// once. Only one thread may use an object.
class OnnxGraph {
 public:
  /// Extents that the user of the exported model chooses with each call.
  static constexpr std::int64_t batch = -1, length = -2;

  virtual ~OnnxGraph() = default;

  /// Adds a node of an ONNX operator and returns its outputs.
  virtual std::vector<OnnxValue> nodes(const std::string& operation, const std::vector<OnnxValue>& inputs,
                                       const std::vector<OnnxAttribute>& attributes, std::size_t outputs) = 0;
  /// Return a parameter that the part has declared, as float32: in its own shape, or a matrix turned to (in,
  /// out).
  virtual OnnxValue parameter(Parameter parameter) = 0;
  virtual OnnxValue turned(Parameter matrix) = 0;
  /// Constants; an empty shape is a scalar.
  virtual OnnxValue floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values) = 0;
  virtual OnnxValue integers(const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& values) = 0;
  /// Inputs of the model: numbers of tokens (batch, length) int64, the number of the part of a pair for each,
  /// and whether a row belongs to a text (batch, length) bool.
  virtual OnnxValue ids() = 0;
  virtual OnnxValue segments() = 0;
  virtual OnnxValue mask() = 0;
  /// Adds an int64 input of this name, for data that a head reads beside states.
  virtual OnnxValue input(const std::string& name, const std::vector<std::int64_t>& shape) = 0;
  /// Makes a tensor of float32 an output of the model.
  virtual void output(const std::string& name, const OnnxValue& value,
                      const std::vector<std::int64_t>& shape) = 0;

  // --- shorthands that call the functions above ---
  OnnxValue node(const std::string& operation, const std::vector<OnnxValue>& inputs,
                 const std::vector<OnnxAttribute>& attributes = {}) {
    return nodes(operation, inputs, attributes, 1).front();
  }
  OnnxValue number(double value) { return floats({}, {static_cast<float>(value)}); }
  OnnxValue integer(std::int64_t value) { return integers({}, {value}); }
  OnnxValue add(const OnnxValue& a, const OnnxValue& b) { return node("Add", {a, b}); }
  OnnxValue subtract(const OnnxValue& a, const OnnxValue& b) { return node("Sub", {a, b}); }
  OnnxValue multiply(const OnnxValue& a, const OnnxValue& b) { return node("Mul", {a, b}); }
  OnnxValue divide(const OnnxValue& a, const OnnxValue& b) { return node("Div", {a, b}); }
  OnnxValue product(const OnnxValue& a, const OnnxValue& b) { return node("MatMul", {a, b}); }
  OnnxValue reshaped(const OnnxValue& x, const std::vector<std::int64_t>& shape) {
    return node("Reshape", {x, integers({static_cast<std::int64_t>(shape.size())}, shape)});
  }
  OnnxValue transposed(const OnnxValue& x, const std::vector<std::int64_t>& order) {
    return node("Transpose", {x}, {{"perm", order}});
  }
  /// Inserts an extent of 1 at these places of the result.
  OnnxValue unsqueezed(const OnnxValue& x, const std::vector<std::int64_t>& places) {
    return node("Unsqueeze", {x, integers({static_cast<std::int64_t>(places.size())}, places)});
  }
  OnnxValue to_float(const OnnxValue& x) { return node("Cast", {x}, {{"to", std::int64_t{1}}}); }

  /// Return x W^T + b, or without b.
  OnnxValue linear(const OnnxValue& x, Parameter weight) { return product(x, turned(weight)); }
  OnnxValue linear(const OnnxValue& x, Parameter weight, Parameter bias) {
    return add(linear(x, weight), parameter(bias));
  }
  OnnxValue layer_norm(const OnnxValue& x, Parameter gain, Parameter bias, double epsilon) {
    return node("LayerNormalization", {x, parameter(gain), parameter(bias)},
                {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
  }
  /// Returns function(x), for relu, gelu with the exact erf, gelu_tanh, silu, tanh or sigmoid.
  OnnxValue activation(const std::string& function, const OnnxValue& x) {
    if (function == "relu") return node("Relu", {x});
    if (function == "tanh") return node("Tanh", {x});
    if (function == "sigmoid") return node("Sigmoid", {x});
    if (function == "silu") return multiply(x, node("Sigmoid", {x}));
    const OnnxValue half = multiply(x, number(0.5));
    if (function == "gelu")
      return multiply(half, add(node("Erf", {divide(x, number(1.4142135623730951))}), number(1.0)));
    ENCORE_REQUIRE(function == "gelu_tanh", "no activation \"" + function + "\"");
    const OnnxValue cubic = multiply(multiply(multiply(x, x), x), number(0.044715));
    return multiply(half,
                    add(node("Tanh", {multiply(add(x, cubic), number(0.7978845608028654))}), number(1.0)));
  }
  /// Returns (length): 0, 1, 2, ...
  OnnxValue positions() {
    const OnnxValue shape = node("Shape", {ids()});
    return node("Range", {integer(0), node("Gather", {shape, integer(1)}), integer(1)});
  }
  /// Returns (length, length): the distance j - i of the key in column j from the query in row i.
  OnnxValue distances() { return subtract(unsqueezed(positions(), {0}), unsqueezed(positions(), {1})); }
  /// Returns the first row of each text, (batch, C), of x (batch, length, C).
  OnnxValue first_rows(const OnnxValue& x) {
    return node("Gather", {x, integer(0)}, {{"axis", std::int64_t{1}}});
  }
  /// Returns the mean of the rows of each text, (batch, C), of x (batch, length, C), without those of
  /// padding.
  OnnxValue mean_rows(const OnnxValue& x) {
    const OnnxValue rows = unsqueezed(to_float(mask()), {2});  // (batch, length, 1)
    const auto sum = [&](const OnnxValue& of) {
      return node("ReduceSum", {of, integers({1}, {1})}, {{"keepdims", std::int64_t{0}}});
    };
    return divide(sum(multiply(x, rows)), sum(rows));
  }
};

/// A layer inherits HasOnnxForm beside Layer.
class HasOnnxForm {
 public:
  virtual ~HasOnnxForm() = default;
  /// Returns what forward computes without dropout: (batch, length, C) from the layer's inputs of that shape.
  /// If the layer takes a sum, inputs[0] is the sum. The host calls it after declare.
  virtual OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const = 0;
};

/// A head inherits HasOnnxOutputs beside Head.
class HasOnnxOutputs {
 public:
  virtual ~HasOnnxOutputs() = default;
  /// Adds the values that score computes as outputs of the graph. inputs: in the order of HeadPlan::read,
  /// (batch, C) for sequences, otherwise (batch, length, C). A head that reads picked rows gets all rows. The
  /// host calls it after declare.
  virtual void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const = 0;
};

}  // namespace encore

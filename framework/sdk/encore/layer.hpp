// SPDX-License-Identifier: BSD-3-Clause
// Layer: one operation of the model with its backward pass. A layer first says what it needs (`declare`). The
// host plans memory from this and owns every byte. After that `forward` and `backward` only launch kernels.
// The rule of gradients: `backward` ADDS to parameter gradients and OVERWRITES the gradients of its inputs.
// It is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp). Read next:
// kernels.hpp for the operations to build from, head.hpp for the part with targets, plugin.hpp to register.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>
#include <encore/options.hpp>
#include <encore/shape.hpp>
#include <encore/tensor.hpp>

namespace encore {

class Device;            // device.hpp
struct TaughtAttention;  // relations.hpp

/// The initial values of a parameter.
enum class Initializer : std::uint8_t {
  zeros,
  ones,
  xavier_uniform,  ///< (out, in) matrices: U(-a, a), a = sqrt(6 / (in + out)) (Glorot and Bengio 2010)
  normal,          ///< N(0, deviation)
  constant,        ///< every element is `value`
};

/// An element type: that of the activations, or that of sums (float; double where the activations are
/// double), or an integer.
enum class Element : std::uint8_t { activation, accumulate, index };

struct ParameterSpec {
  std::string name;  ///< within the layer, such as "qkv.weight"; the host puts the layer's path in front
  std::vector<std::int64_t> shape;  ///< (out, in) for matrices
  Initializer initializer = Initializer::zeros;
  double deviation = 0.0;  ///< of Initializer::normal
  bool decay = true;       ///< whether weight decay applies; by convention not to biases and norm gains
  double value = 0.0;      ///< of Initializer::constant
  /// The type in which passes see it; its gradient always has the type of sums. Matrices of products:
  /// activation.
  Element element = Element::accumulate;
  /// True for a table (V, ...) whose row r is used only for token r, so that the gradient of the row is zero
  /// in a batch without this token. The host then saves work for the other rows (ChunkGradient in
  /// optimizer.hpp).
  bool token_rows = false;
  /// Path of another part's parameter ("embedding.tokens") that this one shares. Its initializer, decay and
  /// token_rows are then ignored, and gradients of both are added in the order of the backward pass. Empty:
  /// the parameter is its own.
  std::string alias = {};
};

/// When a buffer must hold its content.
enum class Lifetime : std::uint8_t {
  forward,   ///< scratch during `forward` only
  saved,     ///< written in `forward`, read in `backward`
  backward,  ///< scratch during `backward` only
  /// As `saved`, and kept from pass to pass in a generation; one of constant size is shared by all its
  /// sequences. A buffer over `cache_rows` exists in generations only.
  persistent,
};

struct BufferSpec {
  std::string name;
  Shape shape;
  Lifetime lifetime = Lifetime::forward;
  Element element = Element::activation;
};

/// Handles that the methods of LayerPlan return in `declare`; the methods of Step return the tensor of a
/// handle.
struct Parameter {
  int index = -1;
};
struct Buffer {
  int index = -1;
};
struct RandomStream {
  int index = -1;
};

/// The requests of a layer to the host. `declare` fills it; the memory planner, the optimizer, the digests,
/// the gradient checks and the drawing of the architecture read it.
class LayerPlan {
 public:
  explicit LayerPlan(std::int64_t width) : width_(width) {}

  /// C, the width of the rows that come in and go out.
  std::int64_t width() const { return width_; }

  Parameter parameter(ParameterSpec spec) {
    parameters_.push_back(std::move(spec));
    return {static_cast<int>(parameters_.size()) - 1};
  }
  /// Declares the matrix (out, in) of a product, with Xavier initialization.
  Parameter matrix(std::string name, std::int64_t out, std::int64_t in) {
    return parameter({.name = std::move(name),
                      .shape = {out, in},
                      .initializer = Initializer::xavier_uniform,
                      .element = Element::activation});
  }
  /// Declares a vector that starts at zero and is not decayed.
  Parameter bias(std::string name, std::int64_t size) {
    return parameter({std::move(name), {size}, Initializer::zeros, 0.0, false});
  }
  /// Declares a vector that starts at one and is not decayed.
  Parameter gain(std::string name, std::int64_t size) {
    return parameter({std::move(name), {size}, Initializer::ones, 0.0, false});
  }
  Buffer buffer(std::string name, Shape shape, Lifetime lifetime, Element element = Element::activation) {
    buffers_.push_back({std::move(name), std::move(shape), lifetime, element});
    return {static_cast<int>(buffers_.size()) - 1};
  }
  /// Declares a stream of random numbers, such as one for the dropout of the attention weights.
  RandomStream random(std::string purpose) {
    streams_.push_back(std::move(purpose));
    return {static_cast<int>(streams_.size()) - 1};
  }
  /// Declare that `backward` does not read the layer's input (default: it does), or does read its
  /// output (default: it does not); the host keeps only what is read.
  void backward_reads(bool input, bool output) {
    reads_input_ = input;
    reads_output_ = output;
  }
  /// Declare that `forward` accepts a ResidualSum as its input and adds it up in its own pass, as a norm
  /// after such a sum does. Other layers receive the summed input, at the cost of one pass.
  void take_sum() { takes_sum_ = true; }
  /// Declare that `forward` costs little beside a matrix product, as that of a norm does. Its output
  /// then need not be kept: where a later layer's `backward` reads it, the host has `forward` run again, on
  /// an input that this layer's `backward` reads as well, and with the same bits. A sum that it has taken is
  /// its input then, without a branch.
  void cheap() { cheap_ = true; }
  /// Ask for the rows of another stack as inputs[1], such as those of the encoder in a decoder's layer, and
  /// for their gradient as input_gradients[1]. They have C channels too; extents over them are `memory_rows`.
  void read_memory() { reads_memory_ = true; }
  /// Declare that an output row depends on its own input row, token and position only. A model
  /// generates only if every layer of its causal stack, and the head, declares this or has a buffer of
  /// lifetime `persistent`.
  void row_wise() { row_wise_ = true; }

  const std::vector<ParameterSpec>& parameters() const { return parameters_; }
  const std::vector<BufferSpec>& buffers() const { return buffers_; }
  const std::vector<std::string>& streams() const { return streams_; }
  bool reads_input() const { return reads_input_; }
  bool reads_output() const { return reads_output_; }
  bool takes_sum() const { return takes_sum_; }
  bool is_cheap() const { return cheap_; }
  bool reads_memory() const { return reads_memory_; }
  /// Returns whether the layer can process a generated text pass by pass.
  bool continues_texts() const {
    const auto keeps = [](const BufferSpec& buffer) { return buffer.lifetime == Lifetime::persistent; };
    return std::any_of(buffers_.begin(), buffers_.end(), keeps) || (row_wise_ && !reads_memory_);
  }

 private:
  std::int64_t width_;
  std::vector<ParameterSpec> parameters_;
  std::vector<BufferSpec> buffers_;
  std::vector<std::string> streams_;
  bool reads_input_ = true;
  bool reads_output_ = false;
  bool takes_sum_ = false;
  bool cheap_ = false;
  bool reads_memory_ = false;
  bool row_wise_ = false;
};

/// Rows of B sequences, packed without padding; all tensors on the device.
struct RowSet {
  RowSetSize size;
  Tensor ids;        ///< (N) int32, token numbers
  Tensor offsets;    ///< (B + 1) int32, first row of each sequence
  Tensor sequence;   ///< (N) int32, the sequence a row belongs to
  Tensor positions;  ///< (N) int32, position of a row in its sequence
  Tensor examples;   ///< (N) int64, the number of its sequence in the data set: the random counter
  Tensor order;      ///< (N) int32, rows sorted by token number, equal numbers in row order: the embedding's
                     ///< gradient
  Tensor segments = {};  ///< (N) int32, the part of a pair to which a row belongs; empty: all rows are in segment 0
};

/// The key of a stream of random numbers in one step; values are drawn at (example, position, channel).
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< hash of the tensor's path and the purpose
  std::uint64_t step = 0;
};

/// Dropout of one tensor in one step.
struct DropoutDraw {
  double probability = 0.0;
  RandomKey key = {};
};

/// The input of a layer that takes a sum (LayerPlan::take_sum): trunk + dropout(branch), or the trunk alone
/// where there is no branch. The layer that adds it up leaves the sum in `branch`, where backward finds it. In
/// backward these are the gradients of the two: the trunk's is that of the sum, and so is the branch's where
/// nothing is dropped; then both may lie in the same memory.
struct ResidualSum {
  Tensor trunk;                  ///< (N, C)
  Tensor branch = {};            ///< (N, C), or empty
  const RowSet* rows = nullptr;  ///< of the dropout
  DropoutDraw dropout = {};      ///< of the branch

  /// Implicit, so that a layer that takes a sum also takes a tensor.
  ResidualSum(const std::convertible_to<Tensor> auto& x) : trunk(x) {}
  ResidualSum(Tensor kept, Tensor added, const RowSet& of, const DropoutDraw& draw)
      : trunk(kept), branch(added), rows(&of), dropout(draw) {}
};

/// One forward or backward pass as one layer sees it: where its declared tensors lie. Valid during the call
/// only.
class Step {
 public:
  /// The tensors that the host found for the layer.
  struct Bound {
    std::span<const Tensor> parameters, gradients, buffers;
    std::span<const RandomKey> keys;
    Tensor trunk = {}, trunk_gradient = {};  ///< where the layer's input is a sum
    DropoutDraw branch_dropout = {};         ///< of that sum, in training
    const RowSet* memory = nullptr;          ///< of inputs[1], where the layer reads another stack
    const RowSet* cache = nullptr;           ///< in a generation, of the stack that generates
    bool first_pass = true;
    const TaughtAttention* taught = nullptr;
  };

  Step(const Device& device, const RowSet& rows, bool training, const Bound& bound)
      : device_(&device), rows_(&rows), training_(training), bound_(bound) {}

  const Device& device() const { return *device_; }
  /// Returns the rows that the layer works on: those of its first input and of its output.
  const RowSet& rows() const { return *rows_; }
  /// Returns the rows of inputs[1]. Throws std::logic_error if `declare` did not request them
  /// (LayerPlan::read_memory).
  const RowSet& memory() const {
    if (bound_.memory == nullptr)
      throw std::logic_error(
          "the layer asks for the rows of another stack; call LayerPlan::read_memory in declare");
    return *bound_.memory;
  }
  /// Returns whether this is a pass of training. Otherwise there is no dropout, and nothing is kept for a
  /// backward pass.
  bool training() const { return training_; }
  /// Returns, in a generation, the row set of the cache: room for all rows of each sequence, including those
  /// of earlier passes. The row at position i is row i of its sequence; rows that no pass has written have
  /// any value. Returns null in all other passes, and in a stack that does not generate.
  const RowSet* cache() const { return bound_.cache; }
  /// Returns false in the later passes of a generation. inputs[1] is empty then, and a persistent buffer
  /// holds what the layer needs of it.
  bool first_pass() const { return bound_.first_pass; }
  /// Returns what the queries, keys and values of the layer learn from those of a teacher in a backward pass,
  /// if the layer has relations (HasRelations); null if they learn nothing.
  const TaughtAttention* taught() const { return bound_.taught; }

  /// Returns a declared parameter. This and the next three functions throw std::logic_error for a handle that
  /// does not come from this layer's plan.
  Tensor parameter(Parameter p) const { return declared(bound_.parameters, p.index, "parameter"); }
  /// Returns the gradient of a parameter. The layer adds to it.
  Tensor gradient(Parameter p) const { return declared(bound_.gradients, p.index, "parameter"); }
  /// Returns a declared buffer, with the extents of this batch.
  Tensor buffer(Buffer b) const { return declared(bound_.buffers, b.index, "buffer"); }
  RandomKey random(RandomStream s) const { return declared(bound_.keys, s.index, "random stream"); }
  /// Returns the input of a layer that takes a sum: the sum of which `input`, which is inputs[0], is the
  /// branch; `input` alone if there is no sum.
  ResidualSum sum(Tensor input) const {
    if (!bound_.trunk) return input;
    return {bound_.trunk, input, *rows_, training_ ? bound_.branch_dropout : DropoutDraw{}};
  }
  /// Returns, in `backward`, the gradients of that sum; `input_gradient` is input_gradients[0].
  ResidualSum sum_gradient(Tensor input_gradient) const {
    if (!bound_.trunk_gradient) return input_gradient;
    return {bound_.trunk_gradient, input_gradient, *rows_, bound_.branch_dropout};
  }

 protected:
  template <class T>
  static const T& declared(std::span<const T> all, int index, const char* what) {
    const auto place = static_cast<std::size_t>(index);  // -1 becomes the largest
    if (place >= all.size())  // a message for the author, without the name of this function
      throw std::logic_error(std::string("the layer asks for a ") + what +
                             " that it did not declare (handle " + std::to_string(index) + " of " +
                             std::to_string(all.size()) +
                             "); keep what LayerPlan returns for it in declare");
    return all[place];
  }

 private:
  const Device* device_;
  const RowSet* rows_;
  bool training_;
  Bound bound_;
};

/// The properties of the model for which a layer is built, passed to its constructor after its options.
struct LayerContext {
  std::int64_t width = 0;       ///< C
  std::int64_t max_length = 0;  ///< the longest sequence that will come
  std::int64_t block = 0;       ///< number of the block the layer stands in, from 0
  std::int64_t blocks = 0;
  bool causal =
      false;  ///< in a decoder: an output row may depend only on its own input row and those before it
  /// Path of the layer of this name in block 0 of its stack, whose parameters it may share
  /// (ParameterSpec::alias); empty in that block itself, and where there is no stack.
  std::string first_block = {};
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// The host calls it once, before any pass. It may throw OptionError.
  virtual void declare(LayerPlan& plan) = 0;
  /// inputs[0] and output: (N, C), inputs[1]: (rows of the memory, C) where asked for. The layer writes all of
  /// the output and only reads the inputs; where it takes a sum (Step::sum) the branch is inputs[0],
  /// and it leaves the sum there. May be called again before `backward`, with the same step and inputs, and
  /// then writes the same bits.
  virtual void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) = 0;
  /// output_gradient: (N, C), may not be changed; input_gradients[i]: shaped like inputs[i], overwritten.
  /// `inputs` and `output` hold their content only as far as `LayerPlan::backward_reads` said.
  virtual void backward(const Step& step, std::span<const Tensor> inputs, Tensor output,
                        Tensor output_gradient, std::span<const Tensor> input_gradients) = 0;
};

}  // namespace encore

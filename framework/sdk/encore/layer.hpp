// Layer: one operation of the model with its backward. A layer first says what it needs (`declare`), the host plans
// memory from that, and from then on `forward` and `backward` only launch kernels; the host owns every byte.
// The rule of gradients: `backward` ADDS to parameter gradients and OVERWRITES the gradients of its inputs.
// Read next: kernels.hpp for the operations to build from, head.hpp for the part with targets, plugin.hpp to register.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>
#include <encore/options.hpp>
#include <encore/shape.hpp>
#include <encore/tensor.hpp>

namespace encore {

class Device;  // the computing tier's execution space instance (device.hpp)

/// How the values of a parameter start out.
enum class Initializer : std::uint8_t {
  zeros,
  ones,
  xavier_uniform,  ///< (out, in) matrices: U(-a, a), a = sqrt(6 / (in + out)) (Glorot and Bengio 2010)
  normal,          ///< N(0, deviation)
  constant,        ///< every element is `value`
};

/// An element type: that of the activations, or that of sums (float; double where the activations are double), or an
/// integer.
enum class Element : std::uint8_t { activation, accumulate, index };

struct ParameterSpec {
  std::string name;                 ///< within the layer, such as "qkv.weight"; the host puts the layer's path in front
  std::vector<std::int64_t> shape;  ///< (out, in) for matrices
  Initializer initializer = Initializer::zeros;
  double deviation = 0.0;  ///< of Initializer::normal
  bool decay = true;       ///< whether weight decay applies; by custom not to biases and norm gains
  double value = 0.0;      ///< of Initializer::constant
  /// As which type passes see it; its gradient is always of the type of sums. Matrices of products: activation.
  Element element = Element::accumulate;
  /// (V, ...): row r is used for token r alone, so its gradient is zero in a batch without that token. The host then
  /// spares the other rows what it can (ChunkGradient in optimizer.hpp).
  bool token_rows = false;
};

/// When a buffer must hold its content.
enum class Lifetime : std::uint8_t {
  forward,   ///< scratch during `forward` only
  saved,     ///< written in `forward`, read in `backward`
  backward,  ///< scratch during `backward` only
};

struct BufferSpec {
  std::string name;
  Shape shape;
  Lifetime lifetime = Lifetime::forward;
  Element element = Element::activation;
};

/// Handles that `declare` returns and the Step resolves.
struct Parameter {
  int index = -1;
};
struct Buffer {
  int index = -1;
};
struct RandomStream {
  int index = -1;
};

/// What a layer asks of the host. Filled by `declare`, read by the memory planner, the optimizer, the digests, the
/// gradient checks and the drawing of the architecture.
class LayerPlan {
 public:
  explicit LayerPlan(std::int64_t width) : width_(width) {}

  /// C, the width of the rows that come in and go out.
  std::int64_t width() const { return width_; }

  Parameter parameter(ParameterSpec spec) {
    parameters_.push_back(std::move(spec));
    return {static_cast<int>(parameters_.size()) - 1};
  }
  /// The matrix (out, in) of a product, with Xavier initialisation.
  Parameter matrix(std::string name, std::int64_t out, std::int64_t in) {
    return parameter({.name = std::move(name),
                      .shape = {out, in},
                      .initializer = Initializer::xavier_uniform,
                      .element = Element::activation});
  }
  /// A vector that starts at zero and is not decayed.
  Parameter bias(std::string name, std::int64_t size) {
    return parameter({std::move(name), {size}, Initializer::zeros, 0.0, false});
  }
  /// A vector that starts at one and is not decayed.
  Parameter gain(std::string name, std::int64_t size) {
    return parameter({std::move(name), {size}, Initializer::ones, 0.0, false});
  }
  Buffer buffer(std::string name, Shape shape, Lifetime lifetime, Element element = Element::activation) {
    buffers_.push_back({std::move(name), std::move(shape), lifetime, element});
    return {static_cast<int>(buffers_.size()) - 1};
  }
  /// A stream of random numbers of its own, such as one for the dropout of the attention weights.
  RandomStream random(std::string purpose) {
    streams_.push_back(std::move(purpose));
    return {static_cast<int>(streams_.size()) - 1};
  }
  /// Tell the host that `backward` does not read the layer's input (default: it does), or does read its output
  /// (default: it does not); the host keeps only what is read.
  void backward_reads(bool input, bool output) {
    reads_input_ = input;
    reads_output_ = output;
  }
  /// Tell the host that `forward` may get a ResidualSum as its input, which it adds up in its own pass: a norm does,
  /// for it comes after such a sum. Who does not say so gets the sum, at the price of a pass over it.
  void take_sum() { takes_sum_ = true; }

  const std::vector<ParameterSpec>& parameters() const { return parameters_; }
  const std::vector<BufferSpec>& buffers() const { return buffers_; }
  const std::vector<std::string>& streams() const { return streams_; }
  bool reads_input() const { return reads_input_; }
  bool reads_output() const { return reads_output_; }
  bool takes_sum() const { return takes_sum_; }

 private:
  std::int64_t width_;
  std::vector<ParameterSpec> parameters_;
  std::vector<BufferSpec> buffers_;
  std::vector<std::string> streams_;
  bool reads_input_ = true;
  bool reads_output_ = false;
  bool takes_sum_ = false;
};

/// The sequences that a step works on: packed rows without padding, all tensors on the device.
struct Batch {
  BatchSize size;
  Tensor ids;        ///< (N) int32, token numbers
  Tensor offsets;    ///< (B + 1) int32, first row of each sequence
  Tensor sequence;   ///< (N) int32, the sequence a row belongs to
  Tensor positions;  ///< (N) int32, position of a row in its sequence
  Tensor examples;   ///< (N) int64, the example a row belongs to, counted over the data set: the random counter
  Tensor order;      ///< (N) int32, rows sorted by token number, equal numbers in row order: the embedding's gradient
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

/// The input of a layer that takes a sum (LayerPlan::take_sum): trunk + dropout(branch), or the trunk alone where there
/// is no branch. Whoever adds it up leaves the sum in `branch`, where backward finds it. In backward the gradients of
/// the two: the trunk's is that of the sum, and so is the branch's where nothing is dropped; then both may lie in the
/// same memory.
struct ResidualSum {
  Tensor trunk;                  ///< (N, C)
  Tensor branch = {};            ///< (N, C), or empty
  const Batch* batch = nullptr;  ///< of the dropout
  DropoutDraw dropout = {};      ///< of the branch

  /// Not explicit: what takes a sum takes whatever is a tensor.
  ResidualSum(const std::convertible_to<Tensor> auto& x) : trunk(x) {}
  ResidualSum(Tensor kept, Tensor added, const Batch& rows, const DropoutDraw& draw)
      : trunk(kept), branch(added), batch(&rows), dropout(draw) {}
};

/// One forward or backward pass as one layer sees it: where its declared tensors lie. Valid during the call only.
class Step {
 public:
  Step(const Device& device, const Batch& batch, bool training) : device_(&device), batch_(&batch), training_(training) {}

  const Device& device() const { return *device_; }
  const Batch& batch() const { return *batch_; }
  /// False while evaluating: no dropout, nothing is kept for a backward pass.
  bool training() const { return training_; }

  /// These four throw std::logic_error for a handle that `declare` did not get from its plan.
  Tensor parameter(Parameter p) const { return declared(parameters_, p.index, "parameter"); }
  /// The gradient of a parameter, to be added to.
  Tensor gradient(Parameter p) const { return declared(gradients_, p.index, "parameter"); }
  /// A declared buffer with the extents of this batch.
  Tensor buffer(Buffer b) const { return declared(buffers_, b.index, "buffer"); }
  RandomKey random(RandomStream s) const { return declared(keys_, s.index, "random stream"); }
  /// The inputs of a layer that takes a sum, or their gradients: {x}, or {branch, trunk}.
  ResidualSum sum(std::span<const Tensor> inputs) const {
    if (inputs.size() == 1) return inputs[0];
    ENCORE_REQUIRE(inputs.size() == 2, "a sum has two parts, branch and trunk, or is there already");
    return {inputs[1], inputs[0], *batch_, training_ ? branch_dropout_ : DropoutDraw{}};
  }

  /// Called by the host before each pass. branch_dropout: of a layer whose input comes as a sum, in training.
  void bind(std::span<const Tensor> parameters, std::span<const Tensor> gradients, std::span<const Tensor> buffers,
            std::span<const RandomKey> keys, const DropoutDraw& branch_dropout = {}) {
    parameters_ = parameters;
    gradients_ = gradients;
    buffers_ = buffers;
    keys_ = keys;
    branch_dropout_ = branch_dropout;
  }

 private:
  template <class T>
  static const T& declared(std::span<const T> all, int index, const char* what) {
    const auto place = static_cast<std::size_t>(index);  // -1 becomes the largest
    ENCORE_REQUIRE(place < all.size(), std::string("the layer asks for a ") + what + " that it did not declare (handle " +
                                           std::to_string(index) + " of " + std::to_string(all.size()) +
                                           "); keep what LayerPlan returns for it in declare");
    return all[place];
  }

  const Device* device_;
  const Batch* batch_;
  bool training_;
  std::span<const Tensor> parameters_;
  std::span<const Tensor> gradients_;
  std::span<const Tensor> buffers_;
  std::span<const RandomKey> keys_;
  DropoutDraw branch_dropout_;
};

/// What a layer is built for, beside its own options.
struct LayerContext {
  std::int64_t width = 0;       ///< C
  std::int64_t max_length = 0;  ///< the longest sequence that will come
  std::int64_t block = 0;       ///< number of the block the layer stands in, from 0
  std::int64_t blocks = 0;
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// Called once, before any pass. May throw OptionError.
  virtual void declare(LayerPlan& plan) = 0;
  /// inputs[i] and output: (N, C), the output written completely, the inputs only read; but of a sum (Step::sum) the
  /// branch is inputs[0], and the sum is left there.
  virtual void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) = 0;
  /// output_gradient: (N, C), may not be changed; input_gradients[i]: (N, C), overwritten. `inputs` and `output` hold
  /// their content only as far as `LayerPlan::backward_reads` said.
  virtual void backward(const Step& step, std::span<const Tensor> inputs, Tensor output, Tensor output_gradient,
                        std::span<const Tensor> input_gradients) = 0;
};

}  // namespace encore

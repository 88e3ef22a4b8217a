// SPDX-License-Identifier: BSD-3-Clause
// Tensors, batches and plans for tests, which own the memory that the host program owns in a real run. Values
// are passed as double. The contract suite and unit tests use them. The patterns beside each tensor must
// stay, or writes outside are not found. Read next: trial.hpp, one layer or head in such memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/elements.hpp>
#include <encore/kernels.hpp>

namespace encore::contract {

/// A tensor with memory of its own on the device. Values are passed as double for every element type. A
/// pattern lies before and after it, so that writes of a kernel there are noticed.
class OwnedTensor {
 public:
  OwnedTensor() = default;
  OwnedTensor(DType type, const std::vector<std::int64_t>& shape);
  operator Tensor() const { return tensor_; }
  const Tensor& tensor() const { return tensor_; }

  std::vector<double> values() const;
  void set(const std::vector<double>& values);
  void fill(double value) { set(std::vector<double>(static_cast<std::size_t>(tensor_.size()), value)); }
  /// Returns "past the end of NAME" or "before the start of NAME" if a kernel has written there, else an
  /// empty string.
  std::string overrun(const std::string& name) const;

 private:
  Tensor tensor_;
  std::shared_ptr<void> memory_;
};

/// Throws the Error "PASS writes OVERRUN" unless `overrun`, from OwnedTensor::overrun, is empty.
inline void require_within(const char* pass, const std::string& overrun) {
  if (!overrun.empty()) throw Error(std::string(pass) + " writes " + overrun);
}

/// Returns `count` numbers from a normal distribution, a pure function of seed and purpose.
std::vector<double> normal_values(std::int64_t count, std::uint64_t seed, double deviation = 1.0);

/// A batch of sequences of the given lengths with its tables on the device. Token numbers (below
/// `vocabulary`) are a function of example and position, so a sequence is the same in every batch.
class OwnedBatch {
 public:
  static constexpr std::int64_t default_vocabulary = 17;

  /// `numbers` has the number of each sequence's example, ascending; empty: 100, 103, 106, ... `firsts` has
  /// the position of each sequence's first row, if it continues rows of earlier passes; empty: 0.
  explicit OwnedBatch(const std::vector<std::int64_t>& lengths, std::int64_t vocabulary = default_vocabulary,
                      std::vector<std::int64_t> numbers = {}, const std::vector<std::int64_t>& firsts = {}) {
    std::vector<double> ids, offsets{0.0}, sequence, positions, examples;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const std::int64_t example = numbers.empty() ? 100 + 3 * static_cast<std::int64_t>(b) : numbers[b];
      const std::int64_t first = firsts.empty() ? 0 : firsts[b];
      for (std::int64_t t = first; t < first + lengths[b]; ++t) {
        ids.push_back(static_cast<double>((7 * t * t + example + t) % vocabulary));
        sequence.push_back(static_cast<double>(b));
        positions.push_back(static_cast<double>(t));
        examples.push_back(static_cast<double>(example));
      }
      offsets.push_back(static_cast<double>(ids.size()));
      batch_.size.squares += lengths[b] * lengths[b];
      batch_.size.longest = std::max(batch_.size.longest, lengths[b]);
      batch_.size.past = std::max(batch_.size.past, first);
    }
    batch_.size.tokens = static_cast<std::int64_t>(ids.size());
    batch_.size.sequences = static_cast<std::int64_t>(lengths.size());
    std::vector<double> order(ids.size());
    std::iota(order.begin(), order.end(), 0.0);
    std::stable_sort(order.begin(), order.end(), [&](double a, double b) {
      return ids[static_cast<std::size_t>(a)] < ids[static_cast<std::size_t>(b)];
    });
    batch_.ids = own(DType::int32, ids);
    batch_.offsets = own(DType::int32, offsets);
    batch_.sequence = own(DType::int32, sequence);
    batch_.positions = own(DType::int32, positions);
    batch_.examples = own(DType::int64, examples);
    batch_.order = own(DType::int32, order);
    rows_ = {examples, positions};
    offsets_.assign(offsets.begin(), offsets.end());
  }
  operator const RowSet&() const { return batch_; }
  const RowSet& batch() const { return batch_; }
  BatchSize size() const { return {batch_.size, {}, 0}; }
  /// Returns OwnedTensor::overrun of the tables of the batch.
  std::string overrun() const {
    for (const OwnedTensor& table : memory_)
      if (std::string found = table.overrun("a table of the batch"); !found.empty()) return found;
    return "";
  }
  /// Returns the first row of each sequence, then the number of rows.
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  std::int64_t rows() const { return batch_.size.tokens; }
  /// These return the example and the position of a row.
  std::int64_t example(std::int64_t row) const { return static_cast<std::int64_t>(rows_[0][index(row)]); }
  std::int64_t position(std::int64_t row) const { return static_cast<std::int64_t>(rows_[1][index(row)]); }

 private:
  static std::size_t index(std::int64_t row) { return static_cast<std::size_t>(row); }
  Tensor own(DType type, const std::vector<double>& values) {
    memory_.emplace_back(type, std::vector<std::int64_t>{static_cast<std::int64_t>(values.size())});
    memory_.back().set(values);
    return memory_.back();
  }
  std::vector<OwnedTensor> memory_;
  RowSet batch_;
  std::array<std::vector<double>, 2> rows_;
  std::vector<std::int64_t> offsets_;
};

/// All memory that a plan requests for one batch, as the host has it in a real run, but without sharing
/// memory.
class OwnedPlan {
 public:
  /// Allocates the memory. Parameters get their initial values plus noise: zeros and ones would hide
  /// mistakes, such as a bias that is not added or a gain that is not applied.
  OwnedPlan(const Device& device, const LayerPlan& plan, const BatchSize& size, DType type,
            std::uint64_t seed, double noise = 0.2)
      : plan_(&plan) {
    std::uint64_t stream = 0;
    for (const ParameterSpec& spec : plan.parameters()) {
      parameters_.emplace_back(spec.element == Element::activation ? type : sum_type(type), spec.shape);
      gradients_.emplace_back(sum_type(type), spec.shape);
      const OwnedTensor start(sum_type(type), spec.shape);
      kernels::initialize(device, spec, RandomKey{seed, ++stream, 0}, start);
      device.fence();
      std::vector<double> values = start.values();
      const std::vector<double> moves =
          normal_values(static_cast<std::int64_t>(values.size()), seed + 1000 * stream, noise);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += moves[i];
      parameters_.back().set(values);
    }
    for (const BufferSpec& spec : plan.buffers()) {
      std::vector<std::int64_t> shape;
      for (const Extent& extent : spec.shape) shape.push_back(extent.in(size));
      const DType element = spec.element == Element::index        ? DType::int32
                            : spec.element == Element::accumulate ? sum_type(type)
                                                                  : type;
      buffers_.emplace_back(element, shape);
    }
    for (std::size_t i = 0; i < plan.streams().size(); ++i) keys_.push_back(RandomKey{seed, 77 + i, 1});
    for (const OwnedTensor& tensor : parameters_) bound_parameters_.push_back(tensor);
    for (const OwnedTensor& tensor : gradients_) bound_gradients_.push_back(tensor);
    for (const OwnedTensor& tensor : buffers_) bound_buffers_.push_back(tensor);
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      evaluation_buffers_.push_back(plan.buffers()[i].lifetime == Lifetime::backward ? Tensor()
                                                                                     : bound_buffers_[i]);
  }

  /// Returns the memory for a step, valid as long as the plan. In evaluation there are no backward buffers.
  Step::Bound bound(bool training) const {
    return {.parameters = bound_parameters_,
            .gradients = bound_gradients_,
            .buffers = training ? bound_buffers_ : evaluation_buffers_,
            .keys = keys_};
  }
  /// Sets the seed of the random streams; it is 1 at first.
  void set_step(std::uint64_t step) {
    for (RandomKey& key : keys_) key.step = step;
  }
  /// Fills the buffers with NaN, except those of these lifetimes.
  void poison(std::initializer_list<Lifetime> kept = {}) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const BufferSpec& spec = plan_->buffers()[i];
      if (spec.element == Element::index || std::ranges::find(kept, spec.lifetime) != kept.end()) continue;
      buffers_[i].fill(std::numeric_limits<double>::quiet_NaN());
    }
  }
  /// Returns OwnedTensor::overrun of all memory that the plan requests.
  std::string overrun() const {
    std::string found;
    for (std::size_t i = 0; i < buffers_.size() && found.empty(); ++i)
      found = buffers_[i].overrun("buffer \"" + plan_->buffers()[i].name + "\"");
    for (std::size_t i = 0; i < parameters_.size() && found.empty(); ++i) {
      const std::string name = "parameter \"" + plan_->parameters()[i].name + "\"";
      found = parameters_[i].overrun(name);
      if (found.empty()) found = gradients_[i].overrun("the gradient of " + name);
    }
    return found;
  }
  std::vector<OwnedTensor>& parameters() { return parameters_; }
  std::vector<OwnedTensor>& gradients() { return gradients_; }
  const std::vector<OwnedTensor>& parameters() const { return parameters_; }
  const std::vector<OwnedTensor>& gradients() const { return gradients_; }

 private:
  const LayerPlan* plan_;
  std::vector<OwnedTensor> parameters_, gradients_, buffers_;
  std::vector<RandomKey> keys_;
  std::vector<Tensor> bound_parameters_, bound_gradients_, bound_buffers_, evaluation_buffers_;
};

}  // namespace encore::contract

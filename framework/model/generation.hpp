// Generation: texts that grow pass by pass. The first pass gets the prompts of B texts, or their sources and
// the decoder's first rows; every later pass gets the rows that continue them, one each or a few, and
// computes these rows alone: what layers need of the rows before stands in persistent buffers, the cache of
// keys and values. On the host every row has the bits that it has when the whole text is scored, however it
// is cut into passes and whatever texts stand beside it. Place in the flow: Model makes it; it has an arena
// of its own, so that evaluations between its passes harm nothing.
//
//   const auto generation = model.make_generation(largest_pass, longest_text);
//   generation->begin(prompts);
//   while (...) {
//     choose(generation->tensor("head.logits"));
//     generation->next(chosen_rows);
//   }
// Read next: infer/generator.hpp, which chooses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/device.hpp>

#include "data/packed_batch.hpp"
#include "memory/device_memory.hpp"
#include "model/device_batch.hpp"
#include "model/laid_out_weights.hpp"
#include "model/network.hpp"
#include "model/pass.hpp"
#include "model/step_plan.hpp"

namespace encore {

/// The row set of a cache: each of B sequences has room for `capacity` rows.
class CacheRows {
 public:
  CacheRows(const Device& device, std::int64_t sequences, std::int64_t capacity);
  /// Of the first `sequences` of them.
  RowSet of(std::int64_t sequences) const;
  std::int64_t capacity() const { return capacity_; }

 private:
  std::int64_t capacity_;
  DeviceBuffer memory_;
  Tensor offsets_, sequence_, positions_;  ///< (B + 1), (B * capacity), the same
};

/// Throws Error where a model cannot generate: it has no causal stack, or a layer of it can work on whole
/// texts only.
void require_generation(const Network& network);

class Generation {
 public:
  /// largest: a bound on every pass; capacity: rows of the longest text, at most data.max_length. `memory` is
  /// that of earlier generations: it is taken where it is large enough, and given back at the end. Everything
  /// outlives the generation. Throws Error where the model has no causal stack, or a layer of it can work on
  /// whole texts only.
  Generation(const Network& network, ParameterBlock& parameters, const Device& device,
             const BatchSize& largest, std::int64_t capacity, DeviceBuffer& memory);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
  /// Products read the weights there, and those of `quantized` as integers (null: none); both outlive
  /// the generation too.
  void use(LaidOutWeights& weights, LaidOutWeights* quantized);

  /// Up to what a pass goes: rows whose logits nobody reads need no head.
  enum class Until : std::uint8_t { states, logits };

  /// The first pass: `batch` as for an evaluation, without the truth. What was generated before is forgotten.
  void begin(const PackedBatch& batch, Until until = Until::logits);
  /// A later pass: the same sequences in the same order, each with the rows that continue it, their positions
  /// being those behind its last row. A text that has ended gets none, and so do sources, which are not read
  /// again. Both throw std::logic_error, and leave the texts as they are, where the rows are more than
  /// planned, a text would become longer than `capacity`, or positions do not continue.
  void next(const PackedBatch& batch, Until until = Until::logits);

  // --- between two passes ---
  /// Every text becomes `times` texts, side by side: text i becomes the texts i * times to i * times + times
  /// - 1, each with its source. Throws std::logic_error where they are more than planned, or sources together
  /// are longer.
  void repeat(std::int64_t times);
  /// Text `to` becomes a copy of text `from`, which has the same source. No text is both.
  struct TextCopy {
    std::int64_t from = 0, to = 0;
  };
  void copy(std::span<const TextCopy> copies);
  /// The text is forgotten and begins anew with its next rows, at position 0; its source stays.
  void restart(std::int64_t text);

  /// After a pass: one tensor per output of the model, over the rows of that pass.
  void decode(std::span<const Tensor> outputs) { pass_.decode(outputs); }
  /// After a pass: what the head has written for its rows, such as "head.logits" (rows, V).
  Tensor tensor(const std::string& path) const { return pass_.tensor(path); }

  /// Rows of each text so far.
  std::span<const std::int64_t> lengths() const { return lengths_; }
  /// The list of what a pass does.
  const StepPlan& plan() const { return plan_; }
  std::size_t arena_bytes() const { return arena_.bytes(); }

 private:
  bool has_sources() const { return network_.generated_space() == Space::target; }
  void run(const PackedBatch& packed, std::vector<std::int64_t> lengths, bool first_pass, Until until);
  void require_planned(const BatchSize& size) const;
  void repeat_sources(std::int64_t times);
  /// In every persistent buffer over these rows, row to[i] becomes what row from[i] was; the lists may
  /// overlap.
  void move_rows(Extent::Of rows, const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to);
  /// A list of rows on the device, in one of two places.
  Tensor upload_rows(const std::vector<std::int32_t>& rows, std::size_t place);
  /// A persistent buffer with all rows that are planned.
  Tensor kept(int tensor) {
    return plan_.tensors[static_cast<std::size_t>(tensor)].in(plan_.largest, arena_.data());
  }

  const Network& network_;
  ParameterBlock& parameters_;
  const Device& device_;
  StepPlan plan_;
  std::vector<int> kept_;  ///< the persistent buffers, as tensors of the plan
  DeviceBuffer& memory_;   ///< where the arena comes from and goes
  DeviceBuffer arena_;
  DeviceBuffer spare_;  ///< room for a buffer whose rows move, made when they first do
  DeviceBuffer moved_;  ///< and for two lists of rows
  CacheRows cache_;
  DeviceBatch first_, later_;  ///< uploads: the sources of the first pass stay
  Pass pass_;
  LaidOutWeights* laid_out_ = nullptr;
  LaidOutWeights* quantized_ = nullptr;
  PackedBatch sources_;  ///< of the first pass, where there are some
  Batch batch_;          ///< of the last pass
  std::vector<std::int64_t> lengths_;
};

}  // namespace encore

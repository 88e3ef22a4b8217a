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
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/device.hpp>

#include "data/packed_batch.hpp"
#include "memory/device_memory.hpp"
#include "model/device_batch.hpp"
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

class Generation {
 public:
  /// largest: a bound on every pass; capacity: rows of the longest text, at most data.max_length. Everything
  /// outlives the generation. Throws Error where the model has no causal stack, or a layer of it can work on
  /// whole texts only.
  Generation(const Network& network, ParameterBlock& parameters, const Device& device,
             const BatchSize& largest, std::int64_t capacity);

  /// The first pass: `batch` as for an evaluation, without the truth. What was generated before is forgotten.
  void begin(const PackedBatch& batch);
  /// A later pass: the same sequences in the same order, each with the rows that continue it, their positions
  /// being those behind its last row. A text that has ended gets none, and so do sources, which are not read
  /// again. Both throw std::logic_error, and leave the texts as they are, where the rows are more than
  /// planned, a text would become longer than `capacity`, or positions do not continue.
  void next(const PackedBatch& batch);

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
  void run(const PackedBatch& packed, std::vector<std::int64_t> lengths, bool first_pass);
  void require_planned(const BatchSize& size) const;

  const Network& network_;
  ParameterBlock& parameters_;
  StepPlan plan_;
  DeviceBuffer arena_;
  CacheRows cache_;
  DeviceBatch first_, later_;  ///< uploads: the sources of the first pass stay
  Pass pass_;
  Batch batch_;  ///< of the last pass
  std::vector<std::int64_t> lengths_;
};

}  // namespace encore

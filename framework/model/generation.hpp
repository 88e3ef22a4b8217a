// SPDX-License-Identifier: BSD-3-Clause
// Generation extends sequences pass by pass. The first pass gets the prompts of B sequences, or their sources
// and the decoder's first rows; every later pass gets the rows that continue them and computes only these. On
// a host every row has the same bits as when the whole sequence is scored, however it is cut into passes.
// Place in the flow: Model makes it, infer/text_feed.hpp drives it. Read next: infer/generator.hpp, which
// chooses tokens.
//
// What layers need of earlier rows is in persistent buffers, the cache of keys and values. A Generation has
// an arena of its own, so evaluations may run between its passes.
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
#include "model/laid_out_weights.hpp"
#include "model/network.hpp"
#include "model/pass.hpp"
#include "model/step_plan.hpp"

namespace encore::model {

/// The row set of a cache: each of B sequences has room for `capacity` rows.
class CacheRows {
 public:
  CacheRows(const Device& device, std::int64_t sequences, std::int64_t capacity);
  /// Returns the rows of the first `sequences` of them.
  RowSet of(std::int64_t sequences) const;
  std::int64_t capacity() const { return capacity_; }

 private:
  std::int64_t capacity_;
  memory::DeviceBuffer memory_;
  Tensor offsets_, sequence_, positions_;  ///< (B + 1), (B * capacity), the same
};

/// Throws Error if a model cannot generate: it has no causal stack, or a layer of it works on whole sequences
/// only.
void require_generation(const Network& network);

class Generation {
 public:
  /// `largest` is a bound on every pass, `capacity` the rows of the longest sequence, at most
  /// data.max_length. `memory` is that of earlier generations: it is used if it is large enough, and given
  /// back at the end. All arguments outlive the generation. Throws Error if the model has no causal stack, or
  /// a layer of it works on whole sequences only.
  Generation(const Network& network, memory::ParameterBlock& parameters, const Device& device,
             const BatchSize& largest, std::int64_t capacity, memory::DeviceBuffer& memory);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
  /// Makes products read these weights, and those of `quantized` as integers (null: none). Both must outlive
  /// the generation.
  void use(LaidOutWeights& weights, LaidOutWeights* quantized);

  /// Says how far a pass runs: to the states, or to the logits of the head. Rows whose logits are not read
  /// need no head.
  enum class Until : std::uint8_t { states, logits };

  /// Runs the first pass. `batch` is as for an evaluation, without the truth. Forgets earlier sequences.
  void begin(const data::PackedBatch& batch, Until until = Until::logits);
  /// Runs a later pass: the same sequences in the same order, each with the rows that continue it; their
  /// positions follow its last row. A sequence that has ended gets no rows; sources get none, since they are
  /// not read again. Both functions throw std::logic_error and change nothing if there are more rows than
  /// planned, a sequence would exceed `capacity`, or positions do not continue.
  void next(const data::PackedBatch& batch, Until until = Until::logits);

  // --- between two passes ---
  /// Copies every sequence `times` times, side by side: sequence i becomes i * times to i * times + times
  /// - 1, each with its source. Throws std::logic_error if they are more than planned, or if sources
  /// together are longer.
  void repeat(std::int64_t times);
  /// Says that sequence `to` becomes a copy of sequence `from`, which has the same source. Within one call no
  /// sequence is both.
  struct TextCopy {
    std::int64_t from = 0, to = 0;
  };
  /// Makes these copies.
  void copy(std::span<const TextCopy> copies);
  /// Discards the rows of a sequence, which starts over at position 0 with its next rows. Its source stays.
  void restart(std::int64_t text);

  /// Call it after a pass: it fills one tensor per output of the model, over the rows of that pass.
  void decode(std::span<const Tensor> outputs) { pass_.decode(outputs); }
  /// Returns, after a pass, what the head has written for its rows, such as "head.logits" (rows, V).
  Tensor tensor(const std::string& path) const { return pass_.tensor(path); }

  /// Returns the number of rows of each sequence so far.
  std::span<const std::int64_t> lengths() const { return lengths_; }
  /// Returns the plan of a pass.
  const StepPlan& plan() const { return plan_; }
  std::size_t arena_bytes() const { return arena_.bytes(); }

 private:
  bool has_sources() const { return network_.generated_space() == Space::target; }
  void run(const data::PackedBatch& packed, std::vector<std::int64_t> lengths, bool first_pass, Until until);
  void require_planned(const BatchSize& size) const;
  void repeat_sources(std::int64_t times);
  /// In every persistent buffer over these rows, row to[i] becomes what row from[i] was. The lists may
  /// overlap.
  void move_rows(Extent::Of rows, const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to);
  /// Uploads a list of rows to the device, in one of two places.
  Tensor upload_rows(const std::vector<std::int32_t>& rows, std::size_t place);
  /// Returns a persistent buffer with all rows that are planned.
  Tensor kept(int tensor) {
    return plan_.tensors[static_cast<std::size_t>(tensor)].in(plan_.largest, arena_.data());
  }

  const Network& network_;
  memory::ParameterBlock& parameters_;
  const Device& device_;
  StepPlan plan_;
  std::vector<int> kept_;         ///< the persistent buffers, as tensors of the plan
  memory::DeviceBuffer& memory_;  ///< the source of the arena's memory, to which it returns
  memory::DeviceBuffer arena_;
  memory::DeviceBuffer spare_;  ///< room for a buffer whose rows move, made when they first do
  memory::DeviceBuffer moved_;  ///< room for two lists of rows on the device
  CacheRows cache_;
  DeviceBatch first_, later_;  ///< uploads: the sources of the first pass stay
  Pass pass_;
  LaidOutWeights* laid_out_ = nullptr;
  LaidOutWeights* quantized_ = nullptr;
  data::PackedBatch sources_;  ///< those of the first pass, if it has some
  Batch batch_;                ///< of the last pass
  std::vector<std::int64_t> lengths_;
};

}  // namespace encore::model

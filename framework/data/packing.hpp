// SPDX-License-Identifier: BSD-3-Clause
// Packs batches: the rows of one batch, sequence after sequence, with the columns that the model's head
// needs. Kernels index with its numbers, so each is checked here. The flow is: batch_plan.hpp chooses
// examples -> Packer -> model/device_batch.hpp.
//   Packer packer(set, model.needs(), packing);
//   for (const std::vector<std::int32_t>& members : plan_epoch(lengths, options, epoch))
//     packer.pack(members, batch);   // reuses the memory of `batch`
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/examples.hpp>
#include <encore/head.hpp>
#include <encore/shape.hpp>
#include <encore/task.hpp>

#include "data/packed_batch.hpp"

namespace encore::data {

/// In BatchNeeds::losses: the loss is divided by the number of rows of the first text, instead of by a
/// column.
inline constexpr int every_row = -1;

/// Says what a model reads of a batch.
struct BatchNeeds {
  std::vector<ColumnNeed> columns = {};
  std::vector<int> losses = {};  ///< for each loss the column that it is divided by, or every_row
  std::int64_t vocabulary = 0;   ///< ids of the first text are below it
  std::int64_t targets = 0;      ///< ids of the second text are below it
  std::int64_t segments = 0;     ///< values of the column "segments" are below it; 0: it is not read
  bool picked = false;           ///< whether the model reads the picked rows
  bool target = false;           ///< whether the model has a decoder over the second text
};

class Packer {
 public:
  /// The set outlives the packer. Throws Error, naming column and sequence, when the set lacks what the model
  /// needs, has it in another type, or holds a number that a kernel must not index with.
  Packer(const ExampleSet& set, BatchNeeds needs, Packing packing = {});

  /// Makes the following batches from examples as the task draws them in this epoch, if it draws any
  /// (Task::draws). For training only.
  void draw(const Task& task, std::uint64_t seed, std::int64_t epoch);
  /// Fills `batch` and reuses its memory. `members` are numbers of examples.
  void pack(std::span<const std::int32_t> members, PackedBatch& batch);

 private:
  void find_columns();
  void require_numbers() const;
  void require_segments(std::span<const std::int32_t> segments, std::size_t sequence) const;
  static void require_below(const ColumnNeed& need, std::int32_t value);
  static void require_rows(std::span<const std::int32_t> rows, std::size_t length, std::size_t sequence);
  void redraw(std::size_t example);
  void count_values(std::vector<std::size_t>& counts) const;
  template <class T>
  std::span<const T> values(std::span<const T> of_sequence, std::span<const T> of_first,
                            const std::vector<T>& drawn) const;
  void append(std::size_t sequence, std::size_t first_of_example, PackedBatch& batch);
  void append_padding(std::size_t length, std::size_t first_position, PackedBatch& batch);

  const ExampleSet& set_;
  BatchNeeds needs_;
  Packing packing_;
  std::vector<std::size_t> found_;  ///< the set's column of each need, or `absent`: a truth that is not known
  std::size_t picked_ = 0;          ///< the set's column of picked rows
  std::size_t segments_;            ///< the set's column of segments, or `absent`
  const Task* task_ = nullptr;      ///< draws examples again in each epoch
  ExampleDraw draw_;
  EncodedExample drawn_;
  std::vector<std::size_t> counts_, drawn_counts_;  ///< numbers of its values, before and after drawing
};

}  // namespace encore::data

// SPDX-License-Identifier: BSD-3-Clause
// PackedBatch holds the rows of one batch, sequence after sequence (padded only with train.batching =
// "padded"), with the columns that the model's head needs, and the places where it may be cut into shards.
// packing.hpp fills it for model/device_batch.hpp; largest_batch.hpp lays batches out to know their sizes.
// Results depend on the order of rows and on the borders of shards, so neither may change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/examples.hpp>
#include <encore/shape.hpp>

#include "config/experiment.hpp"

namespace encore::data {

/// Says how rows are laid out (config/experiment.hpp explains both kinds of batching).
struct Packing {
  config::Batching batching = config::Batching::packed;
  /// Rows per sequence with padding; 0: as many as the longest sequence of the batch has.
  std::int64_t padded_length = 0;
  std::int32_t padding_id = 0;
};

/// The rows of B sequences.
struct PackedRows {
  std::vector<std::int32_t> ids;        ///< (N)
  std::vector<std::int32_t> positions;  ///< (N) 0..T-1 within the sequence
  std::vector<std::int32_t> offsets;  ///< (B + 1) first row of each sequence, then N; empty: no such row set

  RowSetSize size() const;
};

/// The rows of one batch with the columns of its examples. With `padded`, the padding after a sequence is a
/// sequence of its own: no row attends to it, so losses equal those of the packed batch, and all row-wise
/// work on padding is done. Only `tokens` are padded.
struct PackedBatch : PackedRows {
  PackedRows target;                    ///< rows of the second text, if the task has one
  std::vector<std::int64_t> sequences;  ///< (B) the number of each in the data set
  std::vector<std::int32_t>
      borders;                       ///< sequences before which the batch may be cut; the first 0, the last B
  std::vector<std::int32_t> picked;  ///< (M) rows of tokens, ascending
  std::vector<std::int32_t> segments;  ///< (N) of the rows of tokens, below BatchNeeds::segments; or empty
  std::vector<EncodedExample::Column> columns;  ///< one per BatchNeeds::columns
  std::vector<bool> known;                      ///< whether the set has that column
  std::int64_t real_tokens = 0;                 ///< number of rows without padding, target included
  std::vector<double> weights;                  ///< what each loss is divided by; 0 where it is not known

  BatchSize size() const;
};

/// A range of sequences [first, last) of a batch.
struct SequenceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Cuts a batch into `shards` neighbouring ranges with about equal numbers of rows, at `borders`. Ranges may
/// be empty when there are more shards than examples; together they always cover the batch in order.
std::vector<SequenceRange> cut_shards(std::span<const std::int32_t> offsets,
                                      std::span<const std::int32_t> borders, std::int64_t shards);

/// Returns the size of the sequences between these offsets.
RowSetSize size_between(std::span<const std::int32_t> offsets);

/// Computes the layout of `batch`: offsets of both row sets, sequences, borders and real_tokens. Nothing else
/// changes.
void lay_out(const ExampleSet& set, std::span<const std::int32_t> members, const Packing& packing,
             PackedBatch& batch);

}  // namespace encore::data

// SPDX-License-Identifier: BSD-3-Clause
// Feeds sequences to a Generation (model/generation.hpp) row by row, as the passes of a generation do, and
// compares the logits with scoring them whole. unit/model/generation_test.cpp, unit/model/allocation_test.cpp
// and seams/generation_test.cpp use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/generation.hpp"
#include "support/tiny_model.hpp"

namespace encore::testing {

using Lengths = std::vector<std::int64_t>;

/// Returns the rows that a generation makes for a batch: those of the target if there is one.
inline const data::PackedRows& generated_rows(const data::PackedBatch& batch) {
  return batch.target.offsets.empty() ? batch : batch.target;
}

inline Lengths lengths_of(const data::PackedRows& rows) {
  Lengths lengths;
  for (std::size_t s = 1; s < rows.offsets.size(); ++s)
    lengths.push_back(rows.offsets[s] - rows.offsets[s - 1]);
  return lengths;
}

/// Returns a batch for one pass: of each sequence s of `whole`, the counts[s] rows after the first done[s],
/// without the truth. The first pass also has the sources, if there are any.
inline data::PackedBatch pass_over(const data::PackedBatch& whole, const Lengths& done, const Lengths& counts,
                                   bool first) {
  const data::PackedRows& from = generated_rows(whole);
  data::PackedRows rows;
  rows.offsets = {0};
  for (std::size_t s = 0; s < done.size(); ++s) {
    const std::int64_t begin = from.offsets[s] + done[s], end = begin + counts[s];
    rows.ids.insert(rows.ids.end(), from.ids.begin() + begin, from.ids.begin() + end);
    rows.positions.insert(rows.positions.end(), from.positions.begin() + begin, from.positions.begin() + end);
    rows.offsets.push_back(static_cast<std::int32_t>(rows.ids.size()));
  }
  data::PackedBatch pass;
  pass.sequences = whole.sequences;
  pass.borders = whole.borders;
  pass.columns.resize(whole.columns.size());
  pass.known.assign(whole.columns.size(), false);
  if (&from == &whole) {
    static_cast<data::PackedRows&>(pass) = rows;
    return pass;
  }
  pass.target = rows;
  pass.offsets.assign(whole.offsets.size(), 0);
  if (first) static_cast<data::PackedRows&>(pass) = whole;
  return pass;
}

/// Returns the logits (rows, K) of all rows of `whole`. The first pass has the first prompts[s] rows of
/// sequence s, every later one the next `step` rows.
inline std::vector<double> logits_by_passes(const Device& device, model::Generation& generation,
                                            const data::PackedBatch& whole, const Lengths& prompts,
                                            std::int64_t step) {
  const data::PackedRows& rows = generated_rows(whole);
  const Lengths lengths = lengths_of(rows);
  std::vector<double> all;
  Lengths done(lengths.size(), 0);
  for (bool first = true; done != lengths; first = false) {
    Lengths counts;
    for (std::size_t s = 0; s < lengths.size(); ++s)
      counts.push_back(std::min(lengths[s] - done[s], first ? prompts[s] : step));
    const data::PackedBatch pass = pass_over(whole, done, counts, first);
    first ? generation.begin(pass) : generation.next(pass);
    const Tensor logits = generation.tensor("head.logits");
    const std::vector<double> values = to_host(device, logits);
    const std::int64_t width = logits.extent(1);
    all.resize(rows.ids.size() * static_cast<std::size_t>(width));
    auto from = values.begin();
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      std::copy_n(from, counts[s] * width, all.begin() + (rows.offsets[s] + done[s]) * width);
      from += counts[s] * width;
      done[s] += counts[s];
    }
  }
  return all;
}

/// Returns how many values differ.
inline std::size_t differences(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += !(a[i] == b[i]);
  return count;
}

}  // namespace encore::testing

// SPDX-License-Identifier: BSD-3-Clause
// The kernels embedding, y (N, C) = scale * table[ids] + positions[position] (+ segments[segment]), and the
// gradients of the three tables (encore/kernels.hpp), each summed in a fixed order, which must stay for equal
// bits. The layer model/embedding.cpp calls them. Backward needs dy and the row set only. Read token_sums.hpp
// for the GPU's gradient of the token table.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"
#include "kernels/token_sums.hpp"

namespace encore::kernels {
namespace {

template <class T>
void embedding_rows(const Device& device, const RowSet& rows, Tensor table, double scale,
                    Tensor positions_table, Tensor y) {
  using S = Sum<T>;
  const std::int64_t width = y.extent(1);
  const S factor = static_cast<S>(scale);
  const std::int32_t* ids = elements<std::int32_t>(rows.ids);
  const std::int32_t* positions = elements<std::int32_t>(rows.positions);
  T* out = elements<T>(y);
  const S* token_rows = elements<S>(table);
  const S* position_rows = elements<S>(positions_table);
  for_rows(
      device, "encore::embedding", y.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const S* token = token_rows + std::int64_t{ids[row.index]} * width;
        const S* position = position_rows + std::int64_t{positions[row.index]} * width;
        T* to = out + row.index * width;
        row.each(width, [&](std::int64_t c) { to[c] = static_cast<T>(factor * token[c] + position[c]); });
      });
}

template <class T>
void embedding_rows_of_segments(const Device& device, const RowSet& rows, Tensor table, double scale,
                                Tensor positions_table, Tensor segments_table, Tensor y) {
  using S = Sum<T>;
  const std::int64_t width = y.extent(1);
  const S factor = static_cast<S>(scale);
  const std::int32_t* ids = elements<std::int32_t>(rows.ids);
  const std::int32_t* positions = elements<std::int32_t>(rows.positions);
  const std::int32_t* segments = rows.segments ? elements<std::int32_t>(rows.segments) : nullptr;
  T* out = elements<T>(y);
  const S* token_rows = elements<S>(table);
  const S* position_rows = elements<S>(positions_table);
  const S* segment_rows = elements<S>(segments_table);
  for_rows(
      device, "encore::embedding_of_segments", y.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t number = segments == nullptr ? 0 : segments[row.index];
        const S* token = token_rows + std::int64_t{ids[row.index]} * width;
        const S* position = position_rows + std::int64_t{positions[row.index]} * width;
        const S* segment = segment_rows + number * width;
        T* to = out + row.index * width;
        row.each(width, [&](std::int64_t c) {
          to[c] = static_cast<T>(factor * token[c] + position[c] + segment[c]);
        });
      });
}

#if ENCORE_HOST_BACKEND

/// Rows of dy with equal token numbers are neighbours in `order`. Each such run is one task, which sums it in
/// row order; the other tasks end at once.
template <class T>
void embedding_backward_rows(const Device& device, const RowSet& rows, Tensor dy, double scale,
                             Tensor dtable) {
  using S = Sum<T>;
  const std::int64_t width = dy.extent(1);
  const std::int64_t count = dy.extent(0);
  const S factor = static_cast<S>(scale);
  const std::int32_t* ids = elements<std::int32_t>(rows.ids);
  const std::int32_t* order = elements<std::int32_t>(rows.order);
  const T* gradient = elements<T>(dy);
  S* result = elements<S>(dtable);
  for_rows(
      device, "encore::embedding_backward", count, KOKKOS_LAMBDA(const Row& row) {
        const std::int32_t id = ids[order[row.index]];
        if (row.index > 0 && ids[order[row.index - 1]] == id) return;
        S* to = result + std::int64_t{id} * width;
        for (std::int64_t i = row.index; i < count && ids[order[i]] == id; ++i) {
          const T* from = gradient + std::int64_t{order[i]} * width;
          row.each(width, [&](std::int64_t c) { to[c] += factor * static_cast<S>(from[c]); });
        }
      });
}

#else

template <class T>
void embedding_backward_rows(const Device& device, const RowSet& rows, Tensor dy, double scale,
                             Tensor dtable) {
  add_token_rows<T>(device, rows, dy, scale, dtable);
}

#endif

template <class T>
void positions_backward_rows(const Device& device, const RowSet& rows, Tensor dy, Tensor dpositions) {
  using S = Sum<T>;
  const std::int64_t width = dy.extent(1);
  const std::int64_t sequences = rows.size.sequences;
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const T* gradient = elements<T>(dy);
  S* result = elements<S>(dpositions);
  for_rows(
      device, "encore::positions_backward", rows.size.longest, KOKKOS_LAMBDA(const Row& row) {
        S* to = result + row.index * width;
        for (std::int64_t b = 0; b < sequences; ++b) {
          if (row.index >= offsets[b + 1] - offsets[b]) continue;
          const T* from = gradient + (offsets[b] + row.index) * width;
          row.each(width, [&](std::int64_t c) { to[c] += static_cast<S>(from[c]); });
        }
      });
}

/// Every block of rows adds up its rows of each segment in a task of its own; then each segment adds up the
/// blocks.
template <class T>
void segments_backward_rows(const Device& device, const RowSet& rows, Tensor dy, Tensor dsegments) {
  using S = Sum<T>;
  constexpr std::int64_t block_rows = 64;
  const std::int64_t count = dy.extent(0), width = dy.extent(1), segment_count = dsegments.extent(0);
  const std::int64_t blocks = (count + block_rows - 1) / block_rows;
  const std::int32_t* segments = rows.segments ? elements<std::int32_t>(rows.segments) : nullptr;
  const T* gradient = elements<T>(dy);
  S* result = elements<S>(dsegments);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(blocks * segment_count * width) *
                                                sizeof(S)));  // (blocks, S, C)
  for_rows(
      device, "encore::segments_backward_of_blocks", blocks, KOKKOS_LAMBDA(const Row& row) {
        S* sums = partial + row.index * segment_count * width;
        for (std::int64_t s = 0; s < segment_count; ++s)
          row.each(width, [&](std::int64_t c) { sums[s * width + c] = S(0); });
        const std::int64_t end = (row.index + 1) * block_rows < count ? (row.index + 1) * block_rows : count;
        for (std::int64_t r = row.index * block_rows; r < end; ++r) {
          const std::int64_t number = segments == nullptr ? 0 : segments[r];
          S* to = sums + number * width;
          const T* from = gradient + r * width;
          row.each(width, [&](std::int64_t c) { to[c] += static_cast<S>(from[c]); });
        }
      });
  for_rows(
      device, "encore::segments_backward", segment_count, KOKKOS_LAMBDA(const Row& row) {
        S* to = result + row.index * width;
        for (std::int64_t block = 0; block < blocks; ++block) {
          const S* sums = partial + (block * segment_count + row.index) * width;
          row.each(width, [&](std::int64_t c) { to[c] += sums[c]; });
        }
      });
}

template <class T>
void sinusoidal_rows(const Device& device, Tensor table) {
  T* out = elements<T>(table);
  const std::int64_t width = table.extent(1);
  for_rows(
      device, "encore::sinusoidal_positions", table.extent(0), KOKKOS_LAMBDA(const Row& row) {
        row.each(width / 2, [&](std::int64_t pair) {
          constexpr double log_10000 = 9.210340371976184;
          const double rate =
              math::exp(static_cast<double>(2 * pair) * (-log_10000 / static_cast<double>(width)));
          const math::SineCosine value = math::sine_cosine(static_cast<double>(row.index) * rate);
          T* to = out + row.index * width + 2 * pair;
          to[0] = static_cast<T>(static_cast<Sum<T>>(value.sine));
          to[1] = static_cast<T>(static_cast<Sum<T>>(value.cosine));
        });
      });
}

/// Checks the arguments that both forms of embedding take.
void check_tables(const RowSet& rows, Tensor table, Tensor positions_table, Tensor y) {
  check_rank("table", table, 2);
  check_rank("positions_table", positions_table, 2);
  const DType sums = sum_type(y.dtype);
  const std::int64_t width = table.extent(1);
  check("y", y, y.dtype, {rows.size.tokens, width});
  check("table", table, sums, {table.extent(0), width});
  check("positions_table", positions_table, sums, {positions_table.extent(0), width});
  const std::int64_t longest = rows.size.longest + rows.size.past;
  ENCORE_REQUIRE(longest <= positions_table.extent(0),
                 "the batch holds a sequence of " + std::to_string(longest) +
                     " tokens, positions_table has " + std::to_string(positions_table.extent(0)) + " rows");
}

/// Checks the arguments. `segments`: the table (S, C), or its gradient; `y`: the embedded rows, or their
/// gradient.
void check_segments(const char* name, const RowSet& rows, Tensor segments, Tensor y) {
  check_rank(name, segments, 2);
  check(name, segments, sum_type(y.dtype), {segments.extent(0), y.extent(1)});
  ENCORE_REQUIRE(segments.extent(0) > 0, std::string(name) + " has no row");
  if (rows.segments) check("rows.segments", rows.segments, DType::int32, {rows.size.tokens});
}

}  // namespace

void embedding(const Device& device, const RowSet& rows, Tensor table, double scale, Tensor positions_table,
               Tensor y) {
  check_tables(rows, table, positions_table, y);
  dispatch(y.dtype, [&](auto type) {
    embedding_rows<decltype(type)>(device, rows, table, scale, positions_table, y);
  });
}

void embedding(const Device& device, const RowSet& rows, Tensor table, double scale, Tensor positions_table,
               Tensor segments_table, Tensor y) {
  check_tables(rows, table, positions_table, y);
  check_segments("segments_table", rows, segments_table, y);
  dispatch(y.dtype, [&](auto type) {
    embedding_rows_of_segments<decltype(type)>(device, rows, table, scale, positions_table, segments_table,
                                               y);
  });
}

void embedding_backward(const Device& device, const RowSet& rows, Tensor dy, double scale, Tensor dtable) {
  check_rank("dtable", dtable, 2);
  check("dtable", dtable, sum_type(dy.dtype), {dtable.extent(0), dtable.extent(1)});
  check("dy", dy, dy.dtype, {rows.size.tokens, dtable.extent(1)});
  dispatch(dy.dtype,
           [&](auto type) { embedding_backward_rows<decltype(type)>(device, rows, dy, scale, dtable); });
}

void positions_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dpositions) {
  check_rank("dpositions", dpositions, 2);
  check("dpositions", dpositions, sum_type(dy.dtype), {dpositions.extent(0), dpositions.extent(1)});
  check("dy", dy, dy.dtype, {rows.size.tokens, dpositions.extent(1)});
  ENCORE_REQUIRE(rows.size.longest <= dpositions.extent(0),
                 "the batch holds a sequence of " + std::to_string(rows.size.longest) +
                     " tokens, dpositions has " + std::to_string(dpositions.extent(0)) + " rows");
  dispatch(dy.dtype,
           [&](auto type) { positions_backward_rows<decltype(type)>(device, rows, dy, dpositions); });
}

void segments_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dsegments) {
  check_rank("dy", dy, 2);
  check("dy", dy, dy.dtype, {rows.size.tokens, dy.extent(1)});
  check_segments("dsegments", rows, dsegments, dy);
  dispatch(dy.dtype, [&](auto type) { segments_backward_rows<decltype(type)>(device, rows, dy, dsegments); });
}

void sinusoidal_positions(const Device& device, Tensor table) {
  check_rank("table", table, 2);
  ENCORE_REQUIRE(table.extent(1) % 2 == 0,
                 "sinusoidal positions need an even width, not " + std::to_string(table.extent(1)));
  dispatch(table.dtype, [&](auto type) { sinusoidal_rows<decltype(type)>(device, table); });
}

}  // namespace encore::kernels

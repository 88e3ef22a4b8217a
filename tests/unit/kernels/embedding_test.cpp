// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::embedding with its gradients, segments and the sinusoidal table
// (framework/kernels/embedding.cpp), which the model calls first in each pass (model/embedding.cpp); also the
// sums of gradients of a token on GPUs (kernels/token_sums.hpp), which the test runs on any device. Expected
// values are sums in double. Imported models, such as those of Marian, use the sinusoidal table, so its
// formula must stay.
#include "kernels/token_sums.hpp"
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

contract::OwnedTensor as_double(const contract::OwnedTensor& tensor) {
  contract::OwnedTensor wide(DType::float64, {tensor.tensor().extent(0), tensor.tensor().extent(1)});
  wide.set(tensor.values());
  return wide;
}

/// Returns the token ids of the batch from the device.
Values ids_of(const RowSet& rows) {
  const auto count = static_cast<std::size_t>(rows.size.tokens);
  const Kokkos::View<std::int32_t*, DeviceMemory> from(static_cast<std::int32_t*>(rows.ids.data), count);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  return Values(host.data(), host.data() + count);
}

class Embedding : public ::testing::TestWithParam<Precision> {};

TEST_P(Embedding, ForwardAndBackward) {
  const auto [type, tolerance] = GetParam();
  const DType sums = sum_type(type);
  const std::vector<std::int64_t> lengths{4, 0, 1, 9};
  const std::int64_t vocabulary = 5;  // so that tokens repeat
  const contract::OwnedBatch batch(lengths, vocabulary);
  const Values ids = ids_of(batch.batch());
  for (const std::int64_t width : {1, 6, 33}) {
    const auto C = static_cast<std::size_t>(width);
    const contract::OwnedTensor table = random_tensor(sums, {vocabulary, width}, 1),
                                positions = random_tensor(sums, {10, width}, 2);
    const contract::OwnedTensor dy = random_tensor(type, {14, width}, 3);
    contract::OwnedTensor y(type, {14, width}), dtable = random_tensor(sums, {vocabulary, width}, 4);
    contract::OwnedTensor dpositions = random_tensor(sums, {10, width}, 5);
    const Values tokens = table.values(), places = positions.values(), gradient = dy.values();
    Values expected, expected_dtable = dtable.values(), expected_dpositions = dpositions.values();
    std::size_t row = 0;
    for (const std::int64_t length : lengths)
      for (std::size_t t = 0; t < static_cast<std::size_t>(length); ++t, ++row)
        for (std::size_t c = 0; c < C; ++c) {
          const auto id = static_cast<std::size_t>(ids[row]);
          expected.push_back(3.0 * tokens[id * C + c] + places[t * C + c]);
          expected_dtable[id * C + c] += 3.0 * gradient[row * C + c];
          expected_dpositions[t * C + c] += gradient[row * C + c];
        }
    kernels::embedding(device(), batch, table, 3.0, positions, y);
    kernels::embedding_backward(device(), batch, dy, 3.0, dtable);
    kernels::positions_backward(device(), batch, dy, dpositions);
    expect_close(y, expected, tolerance, "y");
    expect_close(dtable, expected_dtable, tolerance, "dtable");
    expect_close(dpositions, expected_dpositions, tolerance, "dpositions");
  }
}

/// Adds up the rows of tokens as GPUs do: rows within a block of places, over the end of one, and over many.
TEST_P(Embedding, TokensWithRowsInManyBlocks) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t vocabulary : {1, 2, 3, 40, 1000})
    for (const std::int64_t count : {1, 63, 64, 65, 128, 700}) {
      const contract::OwnedBatch batch({count}, vocabulary);
      const RowSet& rows = batch.batch();
      const Values ids = ids_of(rows);
      for (const std::int64_t width : {1, 33}) {
        const auto C = static_cast<std::size_t>(width);
        const contract::OwnedTensor dy = random_tensor(type, {count, width}, 3);
        contract::OwnedTensor dtable = random_tensor(sum_type(type), {vocabulary, width}, 4);
        const Values gradient = dy.values();
        Values expected = dtable.values();
        for (std::size_t row = 0; row < ids.size(); ++row)
          for (std::size_t c = 0; c < C; ++c)
            expected[static_cast<std::size_t>(ids[row]) * C + c] += 3.0 * gradient[row * C + c];
        dispatch(type, [&](auto element) {
          kernels::add_token_rows<decltype(element)>(device(), rows, dy, 3.0, dtable);
        });
        expect_close(dtable, expected, 50 * tolerance,
                     std::to_string(count) + " rows of " + std::to_string(vocabulary) + " tokens");
      }
    }
}

TEST_P(Embedding, SegmentsForwardAndBackward) {
  const auto [type, tolerance] = GetParam();
  const DType sums = sum_type(type);
  const std::vector<std::int64_t> lengths{60, 0, 1, 90};  // more than two blocks of rows
  const contract::OwnedBatch batch(lengths, 5);
  const contract::OwnedTensor numbers = [] {
    std::vector<std::int64_t> values;
    for (std::int64_t row = 0; row < 151; ++row) values.push_back(row % 7 == 0 ? 2 : row / 40 % 2);
    return integers(values);
  }();
  RowSet rows = batch.batch();
  for (const bool given : {true, false}) {
    rows.segments = given ? numbers.tensor() : Tensor();
    for (const std::int64_t width : {1, 6, 33}) {
      const auto C = static_cast<std::size_t>(width);
      const contract::OwnedTensor table = random_tensor(sums, {5, width}, 1),
                                  positions = random_tensor(sums, {90, width}, 2),
                                  segments = random_tensor(sums, {4, width}, 3),
                                  dy = random_tensor(type, {151, width}, 4);
      contract::OwnedTensor without(DType::float64, {151, width}), y(type, {151, width}),
          dsegments = random_tensor(sums, {4, width}, 5);
      const contract::OwnedTensor wide_table = as_double(table), wide_positions = as_double(positions);
      kernels::embedding(device(), rows, wide_table, 3.0, wide_positions, without);
      device().fence();
      Values expected = without.values(), expected_gradient = dsegments.values();
      const Values vectors = segments.values(), gradient = dy.values(), segment_of = numbers.values();
      for (std::size_t row = 0; row < 151; ++row)
        for (std::size_t c = 0; c < C; ++c) {
          const std::size_t segment = given ? static_cast<std::size_t>(segment_of[row]) : 0;
          expected[row * C + c] += vectors[segment * C + c];
          expected_gradient[segment * C + c] += gradient[row * C + c];
        }
      kernels::embedding(device(), rows, table, 3.0, positions, segments, y);
      kernels::segments_backward(device(), rows, dy, dsegments);
      expect_close(y, expected, tolerance, "y");
      expect_close(dsegments, expected_gradient, 10 * tolerance, "dsegments");
    }
  }
}

TEST_P(Embedding, SinusoidalTable) {
  const auto [type, tolerance] = GetParam();
  contract::OwnedTensor table(type, {300, 6});
  kernels::sinusoidal_positions(device(), table);
  Values expected;
  for (int position = 0; position < 300; ++position)
    for (int pair = 0; pair < 3; ++pair) {
      const double angle = position * std::pow(10000.0, -2.0 * pair / 6.0);
      expected.push_back(std::sin(angle));
      expected.push_back(std::cos(angle));
    }
  expect_close(table, expected, tolerance, "table");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Embedding, ::testing::ValuesIn(precisions(2e-6, 2e-13, 1e-2)),
                         precision_name);

TEST(EmbeddingRefuses, SequencesBeyondTheTableAndOddWidths) {
  const contract::OwnedBatch batch({4});
  const contract::OwnedTensor table(DType::float32, {17, 2}), short_table(DType::float32, {3, 2}),
      y(DType::float32, {4, 2});
  EXPECT_REFUSED(kernels::embedding(device(), batch, table, 1.0, short_table, y),
                 "a sequence of 4 tokens, positions_table has 3 rows");
  EXPECT_REFUSED(kernels::positions_backward(device(), batch, y, short_table), "dpositions has 3 rows");
  const contract::OwnedTensor positions(DType::float32, {4, 2}), narrow(DType::float32, {2, 3}),
      none(DType::float32, {0, 2});
  EXPECT_REFUSED(kernels::embedding(device(), batch, table, 1.0, positions, narrow, y),
                 "segments_table is float32 (2, 3), expected float32 (2, 2)");
  EXPECT_REFUSED(kernels::segments_backward(device(), batch, y, none), "dsegments has no row");
  RowSet short_segments = batch.batch();
  const contract::OwnedTensor three = integers({0, 1, 0});
  short_segments.segments = three.tensor();
  EXPECT_REFUSED(kernels::segments_backward(device(), short_segments, y, table),
                 "rows.segments is int32 (3), expected int32 (4)");
  EXPECT_REFUSED(kernels::sinusoidal_positions(device(), contract::OwnedTensor(DType::float32, {4, 3})),
                 "need an even width, not 3");
}

}  // namespace
}  // namespace encore::test

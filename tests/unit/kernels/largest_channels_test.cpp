// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::largest_channels (framework/kernels/largest_channels.cpp), which finds the largest values of
// each row with their channels, for beam search (infer/best_tokens.cpp) and the language model head, against
// a stable sort: rows of odd lengths, equal values (the smaller channel must come first, because generated
// output depends on it), and values that are not numbers.
#include <algorithm>
#include <numeric>

#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

struct LargestChannels : ::testing::TestWithParam<Precision> {
  struct Found {
    Values channels, values, log_sums;
  };

  Found find(const contract::OwnedTensor& x, std::int64_t count) const {
    const DType sums = sum_type(GetParam().type);
    const std::int64_t rows = x.tensor().extent(0);
    contract::OwnedTensor channels(DType::int32, {rows, count}), values(sums, {rows, count}),
        log_sums(sums, {rows});
    values.fill(NAN);
    log_sums.fill(NAN);
    kernels::largest_channels(device(), x, channels, values, log_sums);
    device().fence();
    return {channels.values(), values.values(), log_sums.values()};
  }

  /// Expects the first `count` channels of a stable sort of each row by falling value, their values, and the
  /// log of the sum of exponentials.
  void expect_sorted(const contract::OwnedTensor& x, std::int64_t count) const {
    const Values in = x.values();
    const auto rows = static_cast<std::size_t>(x.tensor().extent(0)),
               width = static_cast<std::size_t>(x.tensor().extent(1));
    Values channels, values, log_sums;
    for (std::size_t row = 0; row < rows; ++row) {
      const double* z = in.data() + row * width;
      std::vector<std::size_t> order(width);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return z[a] > z[b]; });
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        channels.push_back(static_cast<double>(order[k]));
        values.push_back(z[order[k]]);
      }
      double sum = 0.0;
      for (std::size_t c = 0; c < width; ++c) sum += std::exp(z[c] - z[order[0]]);
      log_sums.push_back(z[order[0]] + std::log(sum));
    }
    const Found found = find(x, count);
    const std::string what = std::to_string(count) + " of " + std::to_string(width);
    EXPECT_EQ(found.channels, channels) << what;
    EXPECT_EQ(found.values, values) << what;
    expect_close(found.log_sums, log_sums, std::min(GetParam().tolerance, 1e-5), what);
  }
};

TEST_P(LargestChannels, ComeInTheirOrderWhateverTheWidth) {
  for (const std::int64_t width : {1, 2, 33, 64, 65, 127, 1009, 10000})
    for (const std::int64_t count : {1, 2, 10, 64})
      if (count <= width)
        expect_sorted(random_tensor(GetParam().type, {3, width}, static_cast<std::uint64_t>(width), 3.0),
                      count);
}

TEST_P(LargestChannels, OfEqualValuesTheSmallerNumberComesFirst) {
  contract::OwnedTensor x(GetParam().type, {2, 200});
  Values in(400, -1.0);
  for (const std::size_t c : {7, 63, 64, 130, 199}) in[c] = 2.0;
  in[200 + 150] = 5.0;
  x.set(in);
  for (const std::int64_t count : {1, 4, 7}) expect_sorted(x, count);
}

TEST_P(LargestChannels, RisingAndFallingRowsAndNoRows) {
  contract::OwnedTensor x(GetParam().type, {2, 130});
  Values in(260);
  for (std::size_t c = 0; c < 130; ++c) {
    in[c] = static_cast<double>(c) / 8.0;
    in[130 + c] = -in[c];
  }
  x.set(in);
  expect_sorted(x, 9);
  expect_sorted(contract::OwnedTensor(GetParam().type, {0, 12}), 3);
}

TEST_P(LargestChannels, ValuesThatAreNotNumbersGiveExistingChannels) {
  contract::OwnedTensor x(GetParam().type, {2, 70});
  Values in(140, NAN);
  for (std::size_t c = 70; c < 140; ++c) in[c] = -INFINITY;
  x.set(in);
  for (const double channel : find(x, 5).channels) {
    EXPECT_GE(channel, 0.0);
    EXPECT_LT(channel, 70.0);
  }
}

TEST_P(LargestChannels, RefusesMoreThanThereAre) {
  const contract::OwnedTensor x = random_tensor(GetParam().type, {2, 70}, 1);
  EXPECT_REFUSED(find(x, 65), "from 1 to 64 channels");
  EXPECT_REFUSED(find(random_tensor(GetParam().type, {2, 3}, 1), 4), "no more than the row has");
}

INSTANTIATE_TEST_SUITE_P(Precisions, LargestChannels, ::testing::ValuesIn(precisions(3e-6, 1e-13, 1e-2)),
                         precision_name);

}  // namespace
}  // namespace encore::test

// SPDX-License-Identifier: BSD-3-Clause
// Implements BestTokens: calls the kernel kernels::largest_channels on the logits of a pass and copies its
// lists to the host. TextWriter uses it for beam search. The lists must be those that next_token.cpp finds on
// the host. Read best_tokens.hpp first.
#include "infer/best_tokens.hpp"

#include <algorithm>

#include <encore/kernels.hpp>

#include "model/floats.hpp"

namespace encore::infer {

namespace {

/// The limit of kernels::largest_channels. The widest beam, 32, requests 65 tokens: 64 candidates and one in
/// place of padding. 64 are enough, because at most 32 continuations of one output are selected, and one that
/// ends it.
constexpr std::int64_t largest_count = 64;

}  // namespace

std::vector<std::vector<NextToken>> BestTokens::of(Tensor logits) {
  const std::int64_t rows = logits.extent(0);
  const std::int64_t count = std::min({count_, largest_count, logits.extent(1)});
  const DType sums = sum_type(logits.dtype);
  Tensor tokens(nullptr, DType::int32, {rows, count});
  Tensor largest(nullptr, sums, {rows, count});
  Tensor log_sums(nullptr, sums, {rows});
  const std::size_t bytes =
      memory::aligned(tokens.bytes()) + memory::aligned(largest.bytes()) + memory::aligned(log_sums.bytes());
  if (memory_.bytes() < bytes)
    memory_ = memory::DeviceBuffer("encore::best_tokens", bytes, memory::Contents::undefined);
  std::byte* at = memory_.data();
  for (Tensor* tensor : {&tokens, &largest, &log_sums}) {
    tensor->data = at;
    at += memory::aligned(tensor->bytes());
  }
  kernels::largest_channels(device_, logits, tokens, largest, log_sums);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(tokens.size()));
  memory::copy_to_host(device_, tokens, numbers.data());
  const std::vector<double> values = model::doubles_of(device_, largest),
                            of_rows = model::doubles_of(device_, log_sums);
  std::vector<std::vector<NextToken>> all(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(count);
    all[row].push_back({numbers[i], values[i] - of_rows[row]});
  }
  return all;
}

}  // namespace encore::infer

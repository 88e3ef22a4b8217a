// SPDX-License-Identifier: BSD-3-Clause
// The program attention_speed: measures the seconds of attention over sequences of equal length, forward and
// backward (sdk/encore/kernels.hpp), and prints raw samples as JSON on standard output. against_attention.py
// starts it, runs PyTorch's attention on the same sizes in turn, and reads this JSON.
//   attention_speed SEQUENCES LENGTH HEADS HEAD_SIZE float32|bfloat16 REPETITIONS
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "contract/test_memory.hpp"

namespace {

using namespace encore;

template <class Work>
double seconds(const Device& device, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  device.fence();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::json measure(std::int64_t sequences, std::int64_t length, std::int64_t heads, std::int64_t size,
                       DType type, int repetitions) {
  const Device device;
  const contract::OwnedBatch batch(std::vector<std::int64_t>(static_cast<std::size_t>(sequences), length));
  const std::int64_t rows = batch.rows(), width = heads * size;
  contract::OwnedTensor qkv(type, {rows, 3 * width}), out(type, {rows, width}), dout(type, {rows, width}),
      dqkv(type, {rows, 3 * width});
  const contract::OwnedTensor log_sum(DType::float32, {rows, heads});
  qkv.set(contract::normal_values(rows * 3 * width, 1));
  dout.set(contract::normal_values(rows * width, 2));
  const kernels::Slice q{qkv, 0, width}, k{qkv, width, width}, v{qkv, 2 * width, width};
  kernels::AttentionOptions options;
  options.heads = heads;
  options.training = true;

  nlohmann::json forward = nlohmann::json::array(), backward = nlohmann::json::array();
  for (int i = -2; i < repetitions; ++i) {  // the first two warm up
    const double forward_seconds =
        seconds(device, [&] { kernels::attention(device, batch, batch, options, q, k, v, out, log_sum); });
    const double backward_seconds = seconds(device, [&] {
      kernels::attention_backward(device, batch, batch, options, q, k, v, out, log_sum, dout,
                                  {dqkv, 0, width}, {dqkv, width, width}, {dqkv, 2 * width, width});
    });
    if (i < 0) continue;
    forward.push_back(forward_seconds);
    backward.push_back(backward_seconds);
  }
  return {{"threads", host_threads()}, {"forward", forward}, {"backward", backward}};
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 7)
      throw Error("attention_speed SEQUENCES LENGTH HEADS HEAD_SIZE float32|bfloat16 REPETITIONS");
    const KokkosSession kokkos;
    const std::string word = arguments[5];
    if (word != "float32" && word != "bfloat16")
      throw Error("invalid type \"" + word + "\": expected float32 or bfloat16");
    const DType type = word == "bfloat16" ? DType::bfloat16 : DType::float32;
    std::cout << measure(std::stoll(arguments[1]), std::stoll(arguments[2]), std::stoll(arguments[3]),
                         std::stoll(arguments[4]), type, std::stoi(arguments[6]))
              << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "attention_speed: " << error.what() << '\n';
    return 2;
  }
}

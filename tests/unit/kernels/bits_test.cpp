// SPDX-License-Identifier: BSD-3-Clause
// Checks that every kernel gives equal bits with 1, 2 and 3 threads: the program runs itself once for each
// number of threads and compares digests of all results. A sum whose order depends on the threads shows that
// the comparison can fail. A second test gets the labels of kernels from the profiling hooks, because `exp
// bench` and its stored measurements use them. Every new kernel must be added to digests_of_kernels().
#include "unit/kernels/attention/attention_reference.hpp"

#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>

#include <unistd.h>

#include <encore/rows.hpp>

namespace encore::test {
namespace {

using kernels::Activation;
using kernels::Transpose;
using Digests = std::map<std::string, std::string>;

/// Returns a hash (FNV-1a) of the bits of all values.
std::string digest(const std::vector<const contract::OwnedTensor*>& tensors) {
  device().fence();
  std::uint64_t hash = 14695981039346656037ULL;
  for (const contract::OwnedTensor* tensor : tensors)
    for (const double value : tensor->values())
      for (std::uint64_t bits = std::bit_cast<std::uint64_t>(value), byte = 0; byte < 8; ++byte, bits >>= 8)
        hash = (hash ^ (bits & 0xFFU)) * 1099511628211ULL;
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, hash);
  return text.data();
}

/// Returns a digest of the results of every kernel, on a batch with uneven sequences that is larger than one
/// tile of any kernel.
Digests digests_of_kernels(DType type) {
  const Device& gpu = device();
  const DType sums = sum_type(type);
  const contract::OwnedBatch batch({1, 40, 3, 150, 17, 33, 64, 5, 2, 90, 28, 31});
  const std::int64_t N = batch.batch().size.tokens, C = 96, F = 320, H = 6, V = 17;
  Digests result;
  const auto put = [&](const std::string& name, const std::vector<const contract::OwnedTensor*>& tensors) {
    result[name + "." + name_of(type)] = digest(tensors);
  };
  const contract::OwnedTensor x = random_tensor(type, {N, C}, 1), dy = random_tensor(type, {N, F}, 2),
                              weight = random_tensor(type, {F, C}, 3);
  const contract::OwnedTensor bias = random_tensor(sums, {F}, 4);
  contract::OwnedTensor y(type, {N, F}), dx(type, {N, C}), dweight(sums, {F, C}), dbias(sums, {F});
  kernels::linear(gpu, x, weight, bias, Activation::relu, y);
  put("linear", {&y});
  kernels::linear_backward_input(gpu, dy, weight, dx);
  put("linear_backward_input", {&dx});
  const contract::OwnedTensor saved = random_tensor(type, {N, C}, 13);
  for (const Activation function : {Activation::relu, Activation::gelu}) {
    kernels::linear_backward_input(gpu, dy, weight, dx, function, saved);
    put(function == Activation::relu ? "linear_backward_input_relu" : "linear_backward_input_gelu", {&dx});
  }
  kernels::linear_backward_parameters(gpu, dy, x, dweight, dbias);
  put("linear_backward_parameters", {&dweight, &dbias});
  kernels::activation(gpu, Activation::gelu, dy, y);
  put("gelu", {&y});
  kernels::activation_backward(gpu, Activation::gelu, dy, y, y);
  put("gelu_backward", {&y});
  kernels::activation(gpu, Activation::tanh, dy, y);
  put("tanh", {&y});
  kernels::activation_backward(gpu, Activation::tanh, y, dy, y);
  put("tanh_backward", {&y});
  for (const Activation function : {Activation::silu, Activation::sigmoid}) {
    const std::string name = function == Activation::silu ? "silu" : "sigmoid";
    kernels::activation(gpu, function, dy, y);
    put(name, {&y});
    kernels::activation_backward(gpu, function, y, dy, y);
    put(name + "_backward", {&y});
  }

  const contract::OwnedTensor gain = random_tensor(sums, {C}, 5), norm_bias = random_tensor(sums, {C}, 6),
                              g = random_tensor(type, {N, C}, 7);
  contract::OwnedTensor normed(type, {N, C}), mean(sums, {N}), rstd(sums, {N}), dgain(sums, {C}),
      dnorm_bias(sums, {C});
  kernels::layer_norm(gpu, x, gain, norm_bias, 1e-5, normed, mean, rstd);
  kernels::layer_norm_backward(gpu, x, gain, mean, rstd, g, dx, dgain, dnorm_bias);
  put("layer_norm", {&normed, &mean, &rstd});
  put("layer_norm_backward", {&dx, &dgain, &dnorm_bias});

  const kernels::AttentionOptions options{.heads = H, .dropout = 0.1, .training = true, .key = {1, 2, 3}};
  const contract::OwnedTensor qkv = random_tensor(type, {N, 3 * C}, 8);
  contract::OwnedTensor out(type, {N, C}), log_sum(sums, {N, H}), dqkv(type, {N, 3 * C});
  self_attention(batch, options, qkv, out, log_sum);
  self_attention_backward(batch, options, qkv, out, log_sum, g, dqkv);
  put("attention", {&out, &log_sum});
  put("attention_backward", {&dqkv});

  for (const bool alibi : {false, true})
    for (const std::int64_t window : {0, 20}) {
      if (!alibi && window == 0) continue;
      const kernels::AttentionOptions variant{
          .heads = H, .dropout = 0.1, .training = true, .key = {1, 2, 3}, .alibi = alibi, .window = window};
      const std::string name = std::string(alibi ? "alibi_" : "") + (window > 0 ? "window_" : "");
      self_attention(batch, variant, qkv, out, log_sum);
      self_attention_backward(batch, variant, qkv, out, log_sum, g, dqkv);
      put(name + "attention", {&out, &log_sum});
      put(name + "attention_backward", {&dqkv});
    }
  const kernels::AttentionOptions causal{
      .heads = H, .dropout = 0.1, .training = true, .key = {1, 2, 3}, .causal = true};
  self_attention(batch, causal, qkv, out, log_sum);
  self_attention_backward(batch, causal, qkv, out, log_sum, g, dqkv);
  put("causal_attention", {&out, &log_sum});
  put("causal_attention_backward", {&dqkv});
  const kernels::AttentionOptions strided{
      .heads = H, .dropout = 0.1, .training = true, .key = {1, 2, 3}, .window = 8, .stride = 12};
  self_attention(batch, strided, qkv, out, log_sum);
  self_attention_backward(batch, strided, qkv, out, log_sum, g, dqkv);
  put("strided_attention", {&out, &log_sum});
  put("strided_attention_backward", {&dqkv});
  const contract::OwnedTensor distances = random_tensor(sums, {32, H}, 17);
  contract::OwnedTensor spread(sums, {H, 300}), ddistances(sums, {N, 2 * H}), ddistance_table(sums, {32, H});
  kernels::distance_bias(gpu, {}, distances, spread);
  const kernels::AttentionOptions biased{.heads = H, .scaled = false, .bias = spread};
  self_attention(batch, biased, qkv, out, log_sum);
  self_attention_backward(batch, biased, qkv, out, log_sum, g, dqkv, ddistances);
  kernels::distance_bias_backward(gpu, batch, {}, ddistances, ddistance_table);
  put("biased_attention", {&spread, &out, &log_sum});
  put("biased_attention_backward", {&dqkv, &ddistances, &ddistance_table});
  kernels::rotary(gpu, batch, 2 * H, 10000.0, false, {dqkv, 0, 2 * C});
  put("rotary", {&dqkv});

  const std::int64_t B = batch.batch().size.sequences, S = C * (C / H + 1), R = 20;
  contract::OwnedTensor features(sums, {N, 2 * C}), lines(sums, {B, S}), dlines(sums, {B, S}),
      norms(sums, {N, H}), dnorms(sums, {N, H});
  kernels::linear_attention(gpu, batch, H, part(qkv, 0), part(qkv, 1), part(qkv, 2), features, lines, norms,
                            out);
  kernels::linear_attention_backward(gpu, batch, H, part(qkv, 0), part(qkv, 1), part(qkv, 2), features, lines,
                                     norms, out, g, dlines, dnorms, part(dqkv, 0), part(dqkv, 1),
                                     part(dqkv, 2));
  put("linear_attention", {&features, &lines, &norms, &out});
  put("linear_attention_backward", {&dlines, &dnorms, &dqkv});

  const contract::OwnedTensor qr = random_tensor(type, {2 * R, C}, 15),
                              kr = random_tensor(type, {2 * R, C}, 16);
  contract::OwnedTensor weights(sums, {batch.batch().size.squares, H}),
      dscores(sums, {batch.batch().size.squares, H}), dqr(type, {2 * R, C}), dkr(type, {2 * R, C});
  kernels::disentangled_attention(gpu, batch, options, part(qkv, 0), part(qkv, 1), part(qkv, 2), qr, kr,
                                  weights, out);
  put("disentangled_attention", {&weights, &out});
  kernels::disentangled_attention_backward(gpu, batch, options, part(qkv, 0), part(qkv, 1), part(qkv, 2), qr,
                                           kr, weights, out, g, dscores, part(dqkv, 0), part(dqkv, 1),
                                           part(dqkv, 2), dqr, dkr);
  put("disentangled_attention_backward", {&dscores, &dqkv, &dqr, &dkr});

  kernels::rms_norm(gpu, x, gain, 1e-5, normed, rstd);
  kernels::rms_norm_backward(gpu, x, gain, rstd, g, dx, dgain);
  put("rms_norm", {&normed, &rstd});
  put("rms_norm_backward", {&dx, &dgain});

  const auto sum_of = [&](const contract::OwnedTensor& trunk, const contract::OwnedTensor& branch) {
    return ResidualSum(trunk, branch, batch, {0.1, {1, 2, 3}});
  };
  contract::OwnedTensor summed(type, {N, C}), dbranch(type, {N, C});
  kernels::copy(gpu, x, summed);
  kernels::layer_norm(gpu, sum_of(g, summed), gain, norm_bias, 1e-5, normed, mean, rstd);
  kernels::layer_norm_backward(gpu, summed, gain, mean, rstd, g, sum_of(dx, dbranch), dgain, dnorm_bias);
  put("layer_norm_of_sum", {&normed, &summed, &mean, &rstd});
  put("layer_norm_of_sum_backward", {&dx, &dbranch, &dgain, &dnorm_bias});
  kernels::copy(gpu, x, summed);
  kernels::rms_norm(gpu, sum_of(g, summed), gain, 1e-5, normed, rstd);
  kernels::rms_norm_backward(gpu, summed, gain, rstd, g, sum_of(dx, dbranch), dgain);
  put("rms_norm_of_sum", {&normed, &summed, &rstd});
  put("rms_norm_of_sum_backward", {&dx, &dbranch, &dgain});
  for (const kernels::Gate function : {kernels::Gate::geglu, kernels::Gate::swiglu}) {
    contract::OwnedTensor half(type, {N, F / 2}), dhalf = random_tensor(type, {N, F / 2}, 12),
                                                  whole(type, {N, F});
    kernels::gate(gpu, function, dy, half);
    kernels::gate_backward(gpu, function, dy, dhalf, whole);
    put(function == kernels::Gate::geglu ? "geglu" : "swiglu", {&half, &whole});
  }

  kernels::dropout_add(gpu, batch, {1, 2, 3}, 0.1, x, g, out);
  put("dropout_add", {&out});
  const contract::OwnedTensor table = random_tensor(sums, {V, C}, 9),
                              positions = random_tensor(sums, {150, C}, 10);
  contract::OwnedTensor dtable(sums, {V, C}), dpositions(sums, {150, C});
  kernels::embedding(gpu, batch, table, 2.0, positions, out);
  kernels::embedding_backward(gpu, batch, g, 2.0, dtable);
  kernels::positions_backward(gpu, batch, g, dpositions);
  put("embedding", {&out});
  put("embedding_backward", {&dtable, &dpositions});
  const contract::OwnedTensor segments = random_tensor(sums, {2, C}, 14);
  contract::OwnedTensor dsegments(sums, {2, C}), numbers(DType::int32, {N});
  Values halves(static_cast<std::size_t>(N), 1.0);
  std::fill_n(halves.begin(), N / 2, 0.0);
  numbers.set(halves);
  RowSet pairs = batch.batch();
  pairs.segments = numbers;
  kernels::embedding(gpu, pairs, table, 2.0, positions, segments, out);
  kernels::segments_backward(gpu, pairs, g, dsegments);
  put("embedding_of_segments", {&out});
  put("segments_backward", {&dsegments});

  contract::OwnedTensor losses(sums, {N}), dlogits(type, {N, C}), targets(DType::int32, {N}),
      total(DType::float64, {1});
  kernels::fill(gpu, 3.0, targets);
  kernels::softmax_cross_entropy(gpu, x, targets, 0.1, losses);
  kernels::softmax_cross_entropy_backward(gpu, x, targets, 0.1, 0.5, dlogits);
  put("softmax_cross_entropy", {&losses, &dlogits});
  const std::int64_t sequences = batch.batch().size.sequences;
  const contract::OwnedTensor span_logits = random_tensor(type, {N, 2}, 13);
  contract::OwnedTensor span_losses(sums, {sequences}), dspan(type, {N, 2}),
      span_rows(DType::int32, {sequences});
  kernels::fill(gpu, 0.0, span_rows);
  kernels::span_cross_entropy(gpu, batch, span_logits, span_rows, span_rows, span_losses);
  kernels::span_cross_entropy_backward(gpu, batch, span_logits, span_rows, span_rows, 0.5, dspan);
  put("span_cross_entropy", {&span_losses, &dspan});
  const contract::OwnedTensor large = random_tensor(type, {100003}, 11);
  kernels::sum_of_squares(gpu, large, static_cast<double*>(total.tensor().data));
  put("sum_of_squares", {&total});
  contract::OwnedTensor start(sums, {V, C});
  kernels::initialize(gpu, {"table", {V, C}, Initializer::normal, 0.1}, {1, 2, 3}, start);
  put("initialize", {&start});
  return result;
}

/// A sum of floats whose order depends on the number of threads.
float careless_sum() {
  float sum = 0.0F;
  Kokkos::parallel_reduce(
      "test::careless_sum", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 1000003),
      [](const int i, float& partial) { partial += 1.0F / static_cast<float>(i + 1); }, sum);
  return sum;
}

/// Prints the digests. The parent process runs only this test, by its name, in a child process.
TEST(KernelBitsChild, DISABLED_print_digests) {
  for (const DType type : {DType::float32, DType::float64, DType::bfloat16}) {
    if (!ENCORE_HOST_BACKEND && size_of(type) == 2) continue;
    for (const auto& [name, text] : digests_of_kernels(type))
      std::printf("digest %s %s\n", name.c_str(), text.c_str());
  }
  std::printf("digest careless %08x\n", std::bit_cast<std::uint32_t>(careless_sum()));
}

/// Returns the digests that a child process with this number of threads prints.
Digests digests_with_threads(int threads) {
  const std::string command =
      "OMP_PROC_BIND=false KOKKOS_NUM_THREADS=" + std::to_string(threads) +
      " OMP_NUM_THREADS=" + std::to_string(threads) + " \"$(readlink /proc/" + std::to_string(getpid()) +
      "/exe)\" --gtest_also_run_disabled_tests --gtest_filter=KernelBitsChild.* 2>/dev/null";
  Digests result;
  std::FILE* child = popen(command.c_str(), "r");
  std::array<char, 256> line{}, name{}, text{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), child) != nullptr)
    if (std::sscanf(line.data(), "digest %255s %255s", name.data(), text.data()) == 2)
      result[name.data()] = text.data();
  EXPECT_EQ(pclose(child), 0);
  return result;
}

TEST(KernelBits, EqualFor12And3Threads) {
  Digests one = digests_with_threads(1);
  EXPECT_GE(one.size(), 60U);
  for (const int threads : {2, 3}) {
    Digests other = digests_with_threads(threads);
    if (ENCORE_HOST_BACKEND && threads == 3) {
      EXPECT_NE(other["careless"], one["careless"]) << "the comparison notices nothing";
    }
    other.erase("careless");
    for (const auto& [name, text] : other)
      EXPECT_EQ(text, one[name]) << name << " with " << threads << " threads";
    EXPECT_EQ(other.size() + 1, one.size());
  }
}

TEST(KernelBits, EqualWhenRunAgain) {
  EXPECT_EQ(digests_of_kernels(DType::float32), digests_of_kernels(DType::float32));
}

std::set<std::string>& seen_labels() {
  static std::set<std::string> labels;
  return labels;
}
void remember_label(const char* name, std::uint32_t, std::uint64_t*) {
  seen_labels().insert(name);
}

TEST(KernelLabels, AreNamedLikeTheFunctions) {
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(remember_label);
  digests_of_kernels(DType::float32);
  Kokkos::Tools::Experimental::set_callbacks(before);
  const char* attention_backward =
      ENCORE_HOST_BACKEND ? "encore::attention_backward" : "encore::attention_key_backward";
  for (const char* name : {"encore::gemm",
                           "encore::layer_norm",
                           "encore::layer_norm_backward",
                           "encore::attention",
                           attention_backward,
                           "encore::dropout_add",
                           "encore::embedding",
                           "encore::embedding_backward",
                           "encore::positions_backward",
                           "encore::softmax_cross_entropy",
                           "encore::span_cross_entropy",
                           "encore::span_cross_entropy_backward",
                           "encore::sum_of_squares",
                           "encore::initialize",
                           "encore::gelu_backward",
                           "encore::layer_norm_of_sum",
                           "encore::layer_norm_of_sum_backward",
                           "encore::rms_norm",
                           "encore::rms_norm_backward",
                           "encore::rms_norm_of_sum",
                           "encore::rms_norm_of_sum_backward",
                           "encore::rotary",
                           "encore::distance_bias",
                           "encore::distance_bias_backward",
                           "encore::strided_attention",
                           "encore::strided_attention_backward",
                           "encore::linear_attention",
                           "encore::disentangled_attention",
                           "encore::silu",
                           "encore::silu_backward",
                           "encore::geglu",
                           "encore::geglu_backward",
                           "encore::swiglu",
                           "encore::swiglu_backward"})
    if (ENCORE_HOST_BACKEND || std::string(name) != "encore::gemm") {
      EXPECT_TRUE(seen_labels().contains(name)) << name;
    }
}

}  // namespace
}  // namespace encore::test

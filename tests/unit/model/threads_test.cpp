// SPDX-License-Identifier: BSD-3-Clause
// Tests that one and two threads give equal bits of a training step in each precision
// (kernels/host_threads.hpp). A layer whose sums depend on the number of threads shows that the comparison
// can fail. Each case runs in a child process (support/child_threads.hpp), because a process cannot have more
// threads than at its start. The comparison must stay exact.
#include <gtest/gtest.h>

#include <cstdlib>

#include <encore/rows.hpp>
#if ENCORE_HOST_BACKEND && defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

#include "base/sha256.hpp"
#include "kernels/host_threads.hpp"
#include "support/child_threads.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

#if ENCORE_HOST_BACKEND && defined(KOKKOS_ENABLE_OPENMP)
constexpr bool has_openmp = true;
#else
constexpr bool has_openmp = false;
#endif

/// Returns the number of threads on which its kernels run.
int threads_of([[maybe_unused]] const Device& device) {
#if ENCORE_HOST_BACKEND && defined(KOKKOS_ENABLE_OPENMP)
  return device.space().impl_thread_pool_size();
#else
  return 1;
#endif
}

/// Computes y = gain * x, but sums the gradient of `gain` in as many parts as there are threads: the mistake
/// that the tests must notice.
class ThreadwiseSum final : public Layer {
 public:
  static Schema options() { return {}; }
  ThreadwiseSum(const Options&, const LayerContext&) {}
  void declare(LayerPlan& plan) override { gain_ = plan.gain("gain", plan.width()); }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    scale(step, inputs[0], output);
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    scale(step, output_gradient, input_gradients[0]);
    const std::vector<double> x = to_host(step.device(), inputs[0]);
    const std::vector<double> dy = to_host(step.device(), output_gradient);
    std::vector<double> gradient = to_host(step.device(), step.gradient(gain_));
    const std::size_t width = gradient.size();
    const std::size_t rows = x.size() / width;
    const std::size_t parts = static_cast<std::size_t>(threads_of(step.device()));
    for (std::size_t c = 0; c < width; ++c) {
      float total = 0.0F;
      for (std::size_t part = 0; part < parts; ++part) {
        float sum = 0.0F;
        for (std::size_t r = rows * part / parts; r < rows * (part + 1) / parts; ++r)
          sum += static_cast<float>(x[r * width + c] * dy[r * width + c]);
        total += sum;
      }
      gradient[c] += static_cast<double>(total);
    }
    to_device(step.device(), gradient, step.gradient(gain_));
  }

 private:
  void scale(const Step& step, Tensor from, Tensor to) const {
    const std::vector<double> gain = to_host(step.device(), step.parameter(gain_));
    std::vector<double> values = to_host(step.device(), from);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= gain[i % gain.size()];
    to_device(step.device(), values, to);
  }
  Parameter gain_;
};

std::string digest(const Device& device, Tensor tensor) {
  std::vector<std::byte> bytes(tensor.bytes());
  memory::copy_to_host(device, tensor, bytes.data());
  Sha256 hash;
  hash.add(std::span<const std::byte>(bytes));
  return hash.hex();
}

/// Returns a hash of three steps of Adam on batches large enough for every kernel to use all threads.
/// `inject` adds the layer ThreadwiseSum; with `changes` the number of threads changes from step to step.
std::string train(config::Precision precision, bool inject, bool changes) {
  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
  Registrar offers;
  offers.add<Kind::layer, ThreadwiseSum>("threadwise_sum");
  registry.add("this test", offers);
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.width = 64;
  experiment.model.dropout = 0.1;
  experiment.data.max_length = 64;
  experiment.model.positions = config::Positions::learned;
  experiment.model.block[0].options.set("heads", std::int64_t{4});
  experiment.model.block[0].options.set("attention_dropout", 0.1);
  experiment.model.block[1].options.set("hidden", std::int64_t{96});
  experiment.train.precision = precision;
  experiment.train.gradient_shards = 2;
  if (inject) experiment.model.block.push_back(layer_table(registry, "broken", "threadwise_sum"));

  const data::PackedBatch packed = make_batch({64, 33, 1, 50, 64, 17, 64, 40}, 300, 5, 1);
  TinyModel tiny(experiment, size_with(300), registry, device, packed);
  tiny.model.initialize(1);
  const auto optimizer =
      registry.make_optimizer("adam", defaults(registry.offer(Kind::optimizer, "adam").options));
  tiny.model.parameters().make_states(optimizer->states());
  std::string digests;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    if (changes)
      kernels::use_host_threads(device, 1 + static_cast<int>(step) % host_threads(),
                                kernels::Binding::any_place);
    digests += std::to_string(tiny.loss({1, step})) + " ";
    optimizer->update(device, tiny.model.parameters().blocks(nullptr), 0.01, static_cast<std::int64_t>(step));
  }
  device.fence();
  return digests + digest(device, tiny.model.parameters().values()) +
         digest(device, tiny.model.parameters().state(1));
}

constexpr config::Precision precisions[] = {config::Precision::float32, config::Precision::bfloat16,
                                            config::Precision::float16};

std::string name_of(config::Precision precision) {
  return encore::name_of(precision == config::Precision::bfloat16  ? DType::bfloat16
                         : precision == config::Precision::float16 ? DType::float16
                                                                   : DType::float32);
}

/// Runs in the child: prints the values that the parent compares.
TEST(ThreadsChild, DISABLED_Trains) {
  const char* const name = std::getenv("ENCORE_TEST_PRECISION");
  for (const config::Precision precision : precisions)
    if (name != nullptr && name == name_of(precision))
      print_digest(train(precision, std::getenv("ENCORE_TEST_INJECT") != nullptr,
                         std::getenv("ENCORE_TEST_CHANGES") != nullptr));
}

TEST(ThreadsChild, DISABLED_PrintsTheThreadsOfNestedRegions) {
  const Device device;
  std::string counts;
#if ENCORE_HOST_BACKEND && defined(KOKKOS_ENABLE_OPENMP)
  for (const int threads : {host_threads(), 1, host_threads()}) {
    kernels::use_host_threads(device, threads, kernels::Binding::any_place);
    int most = 0;
    Kokkos::parallel_for(Kokkos::RangePolicy<ExecutionSpace>(device.space(), 0, 1),
                         [&most](int) { most = omp_get_max_threads(); });
    counts += std::to_string(most);
  }
#endif
  print_digest(counts);
}

/// A kernel may call a library such as oneDNN. If the parallel region of the kernel has a single thread, the
/// library opens another region. It must not use more threads than the kernels were given: 3, then 1, then 3.
TEST(HostThreads, ARegionWithinOneThreadHasOneThread) {
  if (!has_openmp) GTEST_SKIP() << "the kernels run on no threads of OpenMP";
  EXPECT_EQ(digest_of_child("model_test", "ThreadsChild.DISABLED_PrintsTheThreadsOfNestedRegions", 3), "313");
}

struct Threads : ::testing::TestWithParam<config::Precision> {
  void SetUp() override {
    if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
    if (GetParam() == config::Precision::float16 && !is_activation(DType::float16))
      GTEST_SKIP() << "no float16 in this build";
  }
  static std::string in_child(int threads, bool inject, bool changes = false) {
    const std::string environment = "ENCORE_TEST_PRECISION=" + name_of(GetParam()) + " ";
    return digest_of_child(
        "model_test", "ThreadsChild.DISABLED_Trains", threads,
        environment + (inject ? "ENCORE_TEST_INJECT=1 " : "") + (changes ? "ENCORE_TEST_CHANGES=1 " : ""));
  }
};

TEST_P(Threads, OneAndTwoGiveEqualBits) {
  const std::string one = in_child(1, false);
  EXPECT_EQ(in_child(2, false), one);
  EXPECT_EQ(in_child(3, false), one);
}

TEST_P(Threads, AnInjectedReorderingIsSeen) {
  EXPECT_NE(in_child(2, true), in_child(1, true));
}

TEST_P(Threads, AnotherNumberInEachStepGivesEqualBits) {
  EXPECT_EQ(in_child(3, false, true), in_child(1, false));
}

TEST_P(Threads, AnInjectedReorderingIsSeenWhenTheNumberChanges) {
  EXPECT_NE(in_child(3, true, true), in_child(3, true));
}

INSTANTIATE_TEST_SUITE_P(Precisions, Threads, ::testing::ValuesIn(precisions),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace encore::model

// SPDX-License-Identifier: BSD-3-Clause
// The program plugin_cost, called by hand: measures what it costs that layers are plugins: opening every
// built-in plugin, as at the start of a worker (plugin_host/loader.hpp), and one virtual call with the host's
// part around it. Prints medians with the smallest and largest sample.
//
//   build/openmp/bin/tests/plugin_cost
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <unistd.h>

#include <sys/wait.h>

#include <encore/device.hpp>

#include "support/tiny_model.hpp"

namespace {

using namespace encore;
using namespace encore::testing;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(const char* what, std::vector<double> samples, double factor, const char* unit) {
  std::ranges::sort(samples);
  std::printf("%-58s %9.3f %s  (%.3f to %.3f, n = %zu)\n", what, factor * samples[samples.size() / 2], unit,
              factor * samples.front(), factor * samples.back(), samples.size());
}

/// Opens all plugins in a child process, so that each sample opens them for the first time.
double loading_time() {
  int ends[2];
  if (pipe(ends) != 0) return -1.0;
  const pid_t child = fork();
  if (child == 0) {
    const double time = seconds([] { load_builtin_plugins(); });
    const bool written = write(ends[1], &time, sizeof time) == static_cast<ssize_t>(sizeof time);
    _exit(written ? 0 : 1);
  }
  double time = -1.0;
  const bool got = read(ends[0], &time, sizeof time) == static_cast<ssize_t>(sizeof time);
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
  return got ? time : -1.0;
}

/// Does nothing, so that only the call is timed.
class Nothing final : public Layer {
 public:
  static Schema options() { return {}; }
  Nothing(const Options&, const LayerContext&) {}
  void declare(LayerPlan& plan) override { plan.backward_reads(false, false); }
  void forward(const Step&, std::span<const Tensor>, Tensor) override {}
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {}
};

/// Returns the seconds of one call of a layer as Pass makes it: the Step bound to the tensors, then a virtual
/// call into what the registry made. It averages over many calls, because one is too short for the clock.
double call_time(Layer& made) {
  constexpr int calls = 1000000;
  Layer* volatile layer = &made;  // read again for each call, so that the compiler cannot know what it is
  const Device device;
  const RowSet rows;
  const std::vector<Tensor> tensors(6);
  const std::vector<RandomKey> keys(1);
  return seconds([&] {
           for (int i = 0; i < calls; ++i) {
             const Step step(device, rows, true,
                             {.parameters = tensors, .gradients = tensors, .buffers = tensors, .keys = keys});
             layer->forward(step, tensors, tensors[0]);
           }
         }) /
         calls;
}

}  // namespace

int main() {
  std::vector<double> loading, calls;
  for (int i = 0; i < 20; ++i) loading.push_back(loading_time());
  print("opening every built-in plugin", loading, 1e3, "ms");

  const KokkosSession kokkos;
  plugin_host::Registry registry = load_builtin_plugins();
  std::printf("%-58s %5zu\n", "plugins", registry.plugins().size());
  Registrar offers;
  offers.add<Kind::layer, Nothing>("nothing");
  registry.add("this program", offers);
  const std::unique_ptr<Layer> nothing = registry.make_layer("nothing", {}, {});
  for (int i = 0; i < 20; ++i) calls.push_back(call_time(*nothing));
  print("binding a Step and calling a layer through its base", calls, 1e9, "ns");

  // 12 blocks of two sub-layers, each with a residual sum and a norm; embedding and head. Each is called
  // twice in a step.
  constexpr double seed_model_calls = 2 * (12 * 2 * 3 + 2);
  for (double& time : calls) time *= seed_model_calls;
  print("all calls of a training step of experiments/seed_ner.toml", calls, 1e6, "us");
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// AdaptiveThreads: samples the load of the machine between steps, applies the chosen number of threads to the
// device, and reports a change to the observer. Read adaptive_threads.hpp first.
#include "train/adaptive_threads.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "kernels/host_threads.hpp"
#include "record/signal_stack.hpp"

namespace encore::train {
namespace {

constexpr double look_seconds = 0.5;
/// The shortest sample: /proc counts clock ticks of 10 ms, which are too coarse for less.
constexpr double shortest_look_seconds = 0.05;

std::string threads_text(int threads) {
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

std::string one_decimal(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

/// Returns the sentence that the log prints: why fewer threads are used than there are.
std::string reason(const LoadSample& seen, double cpus) {
  if (seen.granted < seen.free)
    return "a control group leaves " + one_decimal(seen.granted) + " CPUs to this run";
  return "other programs use " + one_decimal(std::max(cpus - seen.free, seen.waited)) + " of " +
         std::to_string(static_cast<int>(cpus)) + " CPUs";
}

}  // namespace

AdaptiveThreads::AdaptiveThreads(const Device& device, Observer& observer, bool unpins,
                                 std::filesystem::path root)
    : device_(device),
      observer_(observer),
      unpins_(unpins),
      most_(host_threads()),
      load_(kernels::host_cpus(), std::move(root)),
      choice_(first_choice(most_)) {}

void AdaptiveThreads::between_steps() {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - looked_).count();
  if (seconds < (first_ ? shortest_look_seconds : look_seconds)) return;
  first_ = false;
  looked_ = now;
  look(seconds);
}

void AdaptiveThreads::look(double seconds) {
  const LoadSample sample = load_.look(seconds);
  const ThreadChoice next = next_choice(choice_, sample, most_);
  if (next.threads != choice_.threads) apply(next, sample);
  choice_ = next;
}

void AdaptiveThreads::apply(const ThreadChoice& next, const LoadSample& seen) {
  const bool all = next.threads == most_;
  kernels::use_host_threads(device_, next.threads,
                            unpins_ && !all ? kernels::Binding::any_place : kernels::Binding::own_place,
                            record::add_signal_stack);
  const std::string why = next.threads > choice_.threads ? "CPUs are free again" : reason(seen, load_.cpus());
  observer_.happened(record::Logged{.text = why + ": training with " + threads_text(next.threads) +
                                            (all ? "" : " of " + std::to_string(most_))});
}

}  // namespace encore::train

// SPDX-License-Identifier: BSD-3-Clause
// Times each kernel of a step for StepCase: registers callbacks with Kokkos Tools and adds up the time
// between begin and end by label. Labels are stored names: kernel_work.cpp and measurements in databases have
// them. Read kernel_watch.hpp first.
#include "bench/kernel_watch.hpp"

#include <chrono>

#include <Kokkos_Core.hpp>
#include <encore/error.hpp>

#include "kernels/products/product_label.hpp"

namespace encore::bench {
namespace {

namespace tools = Kokkos::Tools::Experimental;

KernelWatch* watching = nullptr;  // Kokkos calls plain functions

std::int64_t now_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void on_begin(const char* label, const std::uint32_t, std::uint64_t* kernel) {
  *kernel = 0;
  watching->begin(label);
}
void on_end(const std::uint64_t) {
  watching->end();
}
void on_push(const char* label) {
  watching->push(label);
}
void on_pop() {
  watching->pop();
}
void on_allocation(const Kokkos::Tools::SpaceHandle, const char*, const void*, const std::uint64_t bytes) {
  watching->allocated(bytes);
}

}  // namespace

struct KernelWatch::Saved {
  tools::EventSet callbacks;
};

KernelWatch::KernelWatch(const Device& device)
    : device_(device), saved_(std::make_unique<Saved>(Saved{tools::get_callbacks()})) {
  ENCORE_REQUIRE(watching == nullptr, "one kernel watch at a time");
  watching = this;
  tools::set_callbacks({});
  tools::set_begin_parallel_for_callback(on_begin);
  tools::set_end_parallel_for_callback(on_end);
  tools::set_begin_parallel_reduce_callback(on_begin);
  tools::set_end_parallel_reduce_callback(on_end);
  tools::set_begin_parallel_scan_callback(on_begin);
  tools::set_end_parallel_scan_callback(on_end);
  tools::set_push_region_callback(on_push);
  tools::set_pop_region_callback(on_pop);
  tools::set_allocate_data_callback(on_allocation);
}

KernelWatch::~KernelWatch() {
  tools::set_callbacks(saved_->callbacks);
  watching = nullptr;
}

KernelWatch::Open KernelWatch::open(KernelTime* time) const {
  return {time, now_nanoseconds()};
}

void KernelWatch::close(const Open& open) {
  if (open.time == nullptr) return;
  device_.fence();
  open.time->seconds += 1e-9 * static_cast<double>(now_nanoseconds() - open.began);
  ++open.time->calls;
}

void KernelWatch::begin(const char* label) {
  auto& kernels = products_ > 0 ? within_products_ : kernels_;
  running_.push_back(open(&kernels[label]));
}

void KernelWatch::end() {
  if (running_.empty()) return;  // the kernel began before the watch
  close(running_.back());
  running_.pop_back();
}

void KernelWatch::push(const char* label) {
  const bool product = kernels::parse_product_label(label).has_value();
  products_ += product ? 1 : 0;
  regions_.push_back(open(product ? &kernels_[label] : nullptr));
}

void KernelWatch::pop() {
  if (regions_.empty()) return;
  close(regions_.back());
  if (regions_.back().time != nullptr) --products_;
  regions_.pop_back();
}

void KernelWatch::allocated(std::uint64_t bytes) {
  ++allocations_;
  allocated_bytes_ += static_cast<std::int64_t>(bytes);
}

}  // namespace encore::bench

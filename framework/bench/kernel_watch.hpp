// SPDX-License-Identifier: BSD-3-Clause
// KernelWatch measures how long each kernel of a step takes, by its label, through the callbacks of Kokkos
// Tools. A matrix product counts as a whole, by its shape (kernels/products/product_label.hpp). StepCase
// (step_case.cpp) runs a step a second time under a watch; the seconds of the step itself are taken without
// one. On a GPU a watch waits for every kernel, so that the kernel itself is timed. Labels are stored with
// measurements, so they stay.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <encore/device.hpp>

namespace encore::bench {

/// The calls of one kernel and their seconds together, since the watch began.
struct KernelTime {
  std::int64_t calls = 0;
  double seconds = 0.0;
};

class KernelWatch {
 public:
  /// Watches from its construction to its end. Tools that listened before (a connector of $KOKKOS_TOOLS_LIBS)
  /// receive nothing meanwhile, and listen again afterwards. Only one may exist at a time.
  explicit KernelWatch(const Device& device);
  ~KernelWatch();
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;

  /// Returns the times by label. Products have their shapes ("encore::gemm 896x384x768 nn float32 float32"),
  /// and the kernels of which they are made are left out.
  const std::map<std::string, KernelTime>& kernels() const { return kernels_; }
  /// Returns kernels within products, by label: "encore::gemm", "encore::gemm_pack".
  const std::map<std::string, KernelTime>& within_products() const { return within_products_; }
  /// The number of allocations that Kokkos made under the watch, and their bytes.
  std::int64_t allocations() const { return allocations_; }
  std::int64_t allocated_bytes() const { return allocated_bytes_; }

  // Only the callbacks of Kokkos Tools in kernel_watch.cpp call these.
  void begin(const char* label);
  void end();
  void push(const char* label);
  void pop();
  void allocated(std::uint64_t bytes);

 private:
  struct Saved;  // Kokkos' set of callbacks

  /// A running kernel, or a region around some.
  struct Open {
    KernelTime* time = nullptr;  ///< null: a region that is not a product
    std::int64_t began = 0;      ///< nanoseconds
  };
  Open open(KernelTime* time) const;
  void close(const Open& open);

  const Device& device_;
  std::unique_ptr<Saved> saved_;
  std::map<std::string, KernelTime> kernels_, within_products_;
  std::vector<Open> regions_;
  std::vector<Open> running_;
  int products_ = 0;  ///< number of open regions that are products
  std::int64_t allocations_ = 0, allocated_bytes_ = 0;
};

}  // namespace encore::bench

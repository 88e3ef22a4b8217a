// SPDX-License-Identifier: BSD-3-Clause
// KokkosWatch: which kernels are launched and which memory is allocated, through the callbacks of Kokkos
// Tools. Place in the flow: checks watch the passes of a layer and the updates of an optimizer. A pass that
// allocates, or a kernel without a label, fails a check.
#pragma once

#include <string>
#include <vector>

namespace encore::contract {

/// Counts the launches and allocations of Kokkos while it lives. One at a time.
class KokkosWatch {
 public:
  KokkosWatch();
  ~KokkosWatch();
  KokkosWatch(const KokkosWatch&) = delete;
  KokkosWatch& operator=(const KokkosWatch&) = delete;

  /// Returns the labels of the kernels that were launched, each once.
  std::vector<std::string> kernels() const;
  /// Returns the labels of the memory that was allocated.
  std::vector<std::string> allocations() const;
};

}  // namespace encore::contract

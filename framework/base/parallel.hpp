// SPDX-License-Identifier: BSD-3-Clause
// run_parts() runs host work other than kernels (encoding, hashing) on several threads. The caller numbers
// independent parts, and joins their results in the order of the numbers, so that no result depends on the
// number of threads. data/encode.cpp, record/weights_file.cpp and train/host_block.cpp call it.
#pragma once

#include <cstdint>
#include <functional>

namespace encore {

/// Calls part(i) once for each i in [0, count), on up to `threads` threads, of which the caller's is one.
/// Returns when all calls are done. Throws the exception of the smallest number.
void run_parts(std::int64_t count, int threads, const std::function<void(std::int64_t)>& part);

}  // namespace encore

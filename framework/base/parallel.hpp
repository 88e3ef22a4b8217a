// Work of the host that is no kernel (encoding, hashing) on several threads.
// Place in the flow: whoever has independent parts gives them a number each; what they yield is put together
// in the order of the numbers, so that no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace encore {

/// Calls piece(i) once for each i in [0, count), on up to `threads` threads, the caller's among them; returns
/// when all are done. Throws what the part with the smallest number threw.
void run_parts(std::int64_t count, int threads, const std::function<void(std::int64_t)>& part);

}  // namespace encore

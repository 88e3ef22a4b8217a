// SPDX-License-Identifier: BSD-3-Clause
// replace_all() replaces each occurrence of a substring. Commands with placeholders, such as {ranks}, are
// filled in with it (app/run_ranks.cpp, runner/launched_worker.cpp). The inserted text must not be searched
// again, or a value with a placeholder in it would be replaced too.
#pragma once

#include <string>

namespace encore {

/// Replaces `from`, which is not empty, by `to`. The inserted text is not searched again.
inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Whether a writer left its temporary file (world/atomic_file.hpp).
#pragma once

#include <algorithm>
#include <filesystem>

#include "world/atomic_file.hpp"

namespace encore::testing {

inline bool holds_aside_file(const std::filesystem::path& folder) {
  return std::ranges::any_of(std::filesystem::directory_iterator(folder), [](const auto& entry) {
    return entry.path().filename().string().ends_with(world::aside_suffix);
  });
}

}  // namespace encore::testing

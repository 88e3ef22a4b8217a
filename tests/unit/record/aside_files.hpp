// SPDX-License-Identifier: BSD-3-Clause
// holds_aside_file(): whether a folder contains the temporary file that a writer makes beside its target
// (world/atomic_file.hpp). safetensors_test.cpp and unit/store/upgrade_test.cpp check with it that no writer
// leaves one. It must know the names of temporary files, which world/atomic_file.hpp decides.
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

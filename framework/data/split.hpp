// SPDX-License-Identifier: BSD-3-Clause
// Split: the role of a data set of an experiment: train, dev or test. Names of metrics ("dev/f1") and of
// files begin with name_of(), so these names never change.
#pragma once

#include <array>
#include <cstdint>

namespace encore::data {

enum class Split : std::uint8_t { train, dev, test };
inline constexpr std::array all_splits = {Split::train, Split::dev, Split::test};

constexpr const char* name_of(Split split) {
  constexpr const char* names[] = {"train", "dev", "test"};
  return names[static_cast<int>(split)];
}

/// Returns the name in messages: "development set".
constexpr const char* title_of(Split split) {
  constexpr const char* titles[] = {"training set", "development set", "test set"};
  return titles[static_cast<int>(split)];
}

}  // namespace encore::data

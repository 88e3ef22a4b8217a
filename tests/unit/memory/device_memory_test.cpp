// SPDX-License-Identifier: BSD-3-Clause
// Tests DeviceBuffer (memory/device_memory.hpp), the memory of arenas, parameters and batches on the device:
// its address is aligned (the choice of algorithms depends on that), and an allocation that fails gives users
// a message with settings that need less memory. The message may change, together with this test, which
// compares each word.
#include "memory/device_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include <encore/error.hpp>

namespace encore::memory {
namespace {

TEST(DeviceBuffer, BeginsAtAnAlignedAddress) {
  const DeviceBuffer buffer("encore::test", 100);
  EXPECT_EQ(buffer.bytes(), 100u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % tensor_alignment, 0u);
}

TEST(DeviceBuffer, SuggestsWhatNeedsLessWhenMemoryIsShort) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends the program where malloc returns nothing";
#endif
  try {
    const DeviceBuffer buffer("encore::optimizer_states", std::size_t{1} << 60);
    FAIL() << "allocated an exbibyte";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "out of memory: there are no 1073741824.0 GiB for optimizer states; less is needed with a "
                 "smaller train.batch_size, data.max_length, model.width or model.layers, with more "
                 "train.gradient_shards, and with train.recompute = \"blocks\"");
  }
}

}  // namespace
}  // namespace encore::memory

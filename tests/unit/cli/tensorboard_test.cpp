// SPDX-License-Identifier: BSD-3-Clause
// Tests the event files for TensorBoard that `exp dump` writes (app/dump.hpp), byte by byte, against
// the published check values of CRC-32C and records written down by hand. The format is that of TensorFlow,
// so the expected bytes never change.
#include "app/dump.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace encore::cli {
namespace {

TEST(TensorBoard, TheChecksumIsCrc32c) {
  EXPECT_EQ(app::crc32c("123456789"), 0xE3069283u);            // the check value of CRC-32/ISCSI
  EXPECT_EQ(app::crc32c(std::string(32, '\0')), 0x8A9136AAu);  // RFC 3720, B.4
  EXPECT_EQ(app::crc32c(""), 0u);
}

TEST(TensorBoard, ARecordIsLengthChecksumDataChecksum) {
  const std::string record = app::tensorboard_record("abc");
  ASSERT_EQ(record.size(), 8u + 4u + 3u + 4u);
  EXPECT_EQ(record.substr(0, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 3), "abc");
  std::uint32_t stored = 0;
  std::memcpy(&stored, record.data() + 15, 4);
  const std::uint32_t turned = stored - 0xa282ead8u;
  EXPECT_EQ((turned >> 17) | (turned << 15), app::crc32c("abc"));
}

TEST(TensorBoard, AScalarIsAnEventOfProtobuf) {
  const std::string event = app::tensorboard_scalar("dev/f1", 300, 0.5, 1.0).substr(12);
  const std::string expected(
      "\x09\0\0\0\0\0\0\xf0\x3f"  // wall_time = 1.0
      "\x10\xac\x02"              // step = 300
      "\x2a\x0f"                  // summary, 15 bytes
      "\x0a\x0d"                  // value, 13 bytes
      "\x0a\x06"
      "dev/f1"           // tag
      "\x15\0\0\0\x3f",  // simple_value = 0.5f
      9 + 3 + 2 + 2 + 8 + 5);
  EXPECT_EQ(event.substr(0, event.size() - 4), expected);
}

TEST(TensorBoard, KeepsANumberThatIsNotFinite) {
  const std::string event = app::tensorboard_scalar("x", 1, std::nan(""), 0.0);
  float value = 0.0f;
  std::memcpy(&value, event.data() + event.size() - 8, 4);
  EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace encore::cli

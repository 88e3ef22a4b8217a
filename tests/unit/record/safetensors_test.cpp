// SPDX-License-Identifier: BSD-3-Clause
// Tests record/safetensors.hpp: files are read back as written, and a wrong header is rejected, whatever its
// content. Files come from anyone, so time and memory must grow only with the header; the format is that of
// the Python package safetensors.
#include "record/safetensors.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "base/sha256.hpp"
#include "record/safetensors_header.hpp"
#include "unit/record/aside_files.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

std::string file_with(const std::string& header, const std::string& data) {
  std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

/// Returns the message for a file of this header and 8 bytes of data.
std::string refusal(const std::string& header, const std::string& data = "12345678") {
  TemporaryFolder folder;
  write_bytes(folder / "t", file_with(header, data));
  return message_of<Error>([&] { Safetensors tensors(folder / "t"); });
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, ReturnsWhatWasWritten) {
  TemporaryFolder folder;
  const std::vector<float> weights = {1.0f, -2.0f, 3.5f, 0.0f, 1e-30f, 7.0f};
  const std::vector<double> moments = {0.1, 0.2};
  const std::vector<std::uint16_t> halves = {0x3f80, 0xbf80, 0x7fc0};
  const std::vector<std::int64_t> counters = {-1};
  const SavedFile saved = save_safetensors(folder / "t",
                                           {{"halves", DType::bfloat16, {3}, bytes_of(halves)},
                                            {"weights", DType::float32, {2, 3}, bytes_of(weights)},
                                            {"counters", DType::int64, {}, bytes_of(counters)},
                                            {"moments", DType::float64, {2}, bytes_of(moments)},
                                            {"empty", DType::float32, {0, 4}, {}}},
                                           {{"step", "12"}, {"note", "\"quoted\" \xC3\xA9"}});
  EXPECT_EQ(saved.bytes, read_bytes(folder / "t").size());
  EXPECT_EQ(saved.sha256, sha256(read_bytes(folder / "t")));
  EXPECT_FALSE(testing::holds_aside_file(folder.path()));

  const Safetensors file(folder / "t");
  EXPECT_EQ(file.sha256(), saved.sha256);
  EXPECT_EQ(file.text("note"), "\"quoted\" \xC3\xA9");
  EXPECT_EQ(file.tensors().size(), 5u);
  const auto& entry = file.tensor("weights", DType::float32, {2, 3});
  EXPECT_EQ(std::memcmp(entry.bytes.data(), weights.data(), entry.bytes.size()), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % sizeof(float), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.tensor("moments").bytes.data()) % sizeof(double), 0u);
  EXPECT_EQ(file.tensor("empty").bytes.size(), 0u);
  EXPECT_EQ(file.tensor("counters").shape, std::vector<std::int64_t>{});
}

TEST(Safetensors, KnowsTheHalvesOfOtherPrograms) {
  TemporaryFolder folder;
  write_bytes(folder / "t", file_with(tensor("F16", "[4]", "[0,8]"), "12345678"));
  const Safetensors file(folder / "t");
  EXPECT_EQ(file.tensor("x").dtype, StoredType::float16);
  EXPECT_STREQ(name_of(file.tensor("x").dtype), "float16");
  EXPECT_EQ(file.tensor("x").bytes.size(), 8u);
  EXPECT_NE(message_of<Error>([&] {
              file.tensor("x", DType::bfloat16, {4});
            }).find("\"x\" is float16(4) in the file, bfloat16(4) in the model"),
            std::string::npos);
}

TEST(Safetensors, NamesWhatDoesNotFit) {
  TemporaryFolder folder;
  const std::vector<float> weights = {1.0f, 2.0f};
  save_safetensors(folder / "t", {{"w", DType::float32, {2}, bytes_of(weights)}}, {});
  const Safetensors file(folder / "t");
  EXPECT_NE(message_of<Error>([&] { file.tensor("v"); }).find("there is no tensor \"v\""), std::string::npos);
  EXPECT_NE(message_of<Error>([&] {
              file.tensor("w", DType::float64, {1, 2});
            }).find("\"w\" is float32(2) in the file, float64(1, 2) in the model"),
            std::string::npos);
  EXPECT_NE(message_of<Error>([&] { file.text("step"); }).find("no metadata \"step\""), std::string::npos);
}

TEST(Safetensors, AFailingLeaseCheckLeavesTheOldFile) {
  TemporaryFolder folder;
  const std::vector<float> first = {1.0f}, second = {2.0f};
  save_safetensors(folder / "t", {{"w", DType::float32, {1}, bytes_of(first)}}, {});
  const std::string before = read_bytes(folder / "t");
  EXPECT_THROW(save_safetensors(folder / "t", {{"w", DType::float32, {1}, bytes_of(second)}}, {},
                                [] { throw Error("the lease is lost"); }),
               Error);
  EXPECT_EQ(read_bytes(folder / "t"), before);
  EXPECT_FALSE(testing::holds_aside_file(folder.path()));
}

TEST(Safetensors, RefusesACallersMistake) {
  TemporaryFolder folder;
  const std::vector<float> weights = {1.0f, 2.0f};
  EXPECT_THROW(save_safetensors(folder / "t", {{"w", DType::float32, {3}, bytes_of(weights)}}, {}),
               std::logic_error);
  const TensorSlice slice{"w", DType::float32, {2}, bytes_of(weights)};
  EXPECT_THROW(save_safetensors(folder / "t", {slice, slice}, {}), std::logic_error);
}

TEST(Safetensors, EveryCutIsRefused) {
  TemporaryFolder folder;
  const std::vector<float> weights = {1.0f, 2.0f, 3.0f};
  save_safetensors(folder / "t", {{"w", DType::float32, {3}, bytes_of(weights)}}, {{"step", "1"}});
  const std::string whole = read_bytes(folder / "t");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(folder / "cut", whole.substr(0, size));
    EXPECT_THROW(Safetensors file(folder / "cut"), Error) << size;
  }
  write_bytes(folder / "long", whole + "x");
  EXPECT_THROW(Safetensors file(folder / "long"), Error);
}

TEST(Safetensors, APipeIsNotWaitedFor) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "t").c_str(), 0600), 0);
  EXPECT_NE(message_of<Error>([&] { Safetensors file(folder / "t"); }).find("it is a pipe"),
            std::string::npos);
}

TEST(Safetensors, HostileHeadersAreRefused) {
  struct Case {
    std::string header, message;
  };
  const std::string two = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":)";
  const std::vector<Case> cases = {
      {"", "does not begin with {"},
      {"[]", "does not begin with {"},
      {"{", "not JSON"},
      {R"({"x":1})", "must have dtype, shape and data_offsets"},
      {R"({"x":{"dtype":"F32","shape":[2]}})", "must have dtype, shape and data_offsets"},
      {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})", "nothing else"},
      {tensor("F33", "[2]", "[0,8]"), "dtype \"F33\" is not known"},
      {R"({"x":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", "dtype 7 is not known"},
      {tensor("F32", "2", "[0,8]"), "not a shape"},
      {tensor("F32", "[-2]", "[0,8]"), "not a shape"},
      {tensor("F32", "[2.0]", "[0,8]"), "not a shape"},
      {tensor("F32", "[\"2\"]", "[0,8]"), "not a shape"},
      {tensor("F32", "[18446744073709551615]", "[0,8]"), "not a shape"},
      {tensor("F32", "[2]", "[0]"), "not two numbers"},
      {tensor("F32", "[2]", "[0,8,9]"), "not two numbers"},
      {tensor("F32", "[2]", "[-8,0]"), "not two numbers"},
      {tensor("F32", "[2]", "[8,0]"), "outside the file"},
      {tensor("F32", "[2]", "[0,9]"), "outside the file"},
      {tensor("F32", "[2]", "[9223372036854775800,9223372036854775807]"), "outside the file"},
      {tensor("F32", "[3]", "[0,8]"), "does not fill its 8 bytes"},
      {tensor("F16", "[2]", "[0,8]"), "does not fill its 8 bytes"},
      {tensor("F32", "[4611686018427387904,4]", "[0,0]"), "does not fill"},
      {tensor("F32", "[4294967296,4294967296,2]", "[0,8]"), "does not fill"},
      {tensor("F32", "[1]", "[4,8]"), "a hole between"},
      {tensor("F32", "[1]", "[0,4]"), "longer than its tensors"},
      {"{}", "longer than its tensors"},
      {two + R"([0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "overlap"},
      {two + R"([4,8]},"y":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "overlap"},
      {two + R"([0,4]},"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "names \"x\" twice"},
      {R"({"__metadata__":[],"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       "metadata are not an object"},
      {R"({"__metadata__":{"a":1},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       "\"a\" is not text"},
      {"{\"\xff\":1}", "not JSON"},
      {std::string(100000, '{'), "nested more than 100 levels deep"},
      {"{\"x\":" + std::string(100000, '['), "nested more than 100 levels deep"},
  };
  for (const Case& test : cases) {
    const std::string message = refusal(test.header);
    EXPECT_NE(message.find(test.message), std::string::npos)
        << test.header.substr(0, 100) << "\n  " << message;
  }
  EXPECT_EQ(refusal(tensor("F32", "[2]", "[0,8]") + "   "), "no error");
}

std::string empty_tensors(std::size_t count) {
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i)
    header +=
        (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  return header + "}";
}

/// An earlier version compared each tensor with all before it, and this took minutes.
TEST(Safetensors, ManyTensorsAreReadInOnePass) {
  for (const std::size_t count : {1000UL, 4000UL, 100'000UL}) {
    const SafetensorsHeader header = parse_safetensors_header(empty_tensors(count));
    EXPECT_EQ(header.tensors.size(), count);
    EXPECT_EQ(header.values, 2 + 14 * count) << "each value once";
  }
  EXPECT_EQ(refusal(empty_tensors(100'000), ""), "no error");
}

TEST(Safetensors, HeadersBeyondTheLimitsAreRefused) {
  const auto has = [](const std::string& header, const std::string& part) {
    const std::string message = refusal(header, "");
    EXPECT_NE(message.find(part), std::string::npos) << message.substr(0, 300);
    EXPECT_LT(message.size(), 1000U) << "a message does not repeat the whole input";
  };
  has(empty_tensors(most_tensors + 1), "the header names more than 200000 tensors");
  std::string metadata = R"({"__metadata__":{)";
  for (std::size_t i = 0; i <= most_metadata; ++i)
    metadata += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":"")";
  has(metadata + "}}", "the header has more than 10000 metadata entries");
  std::string shape = "[0";
  for (std::size_t i = 0; i < most_extents; ++i) shape += ",0";
  has(tensor("F32", shape + "]", "[0,0]"), "the shape has more than 64 extents");
  const std::string long_text(1 << 20, 'x');
  has("{\"" + long_text + "\":1}", "must have dtype");
  has("{\"" + long_text + "\":{\"dtype\":\"" + long_text + "\"}}", "is not known");
  has("{\"" + long_text + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,9]}})", "outside the file");
  has(R"({"__metadata__":{"a":"","a":""}})", "names \"a\" twice");
  has(R"({"__metadata__":{},"__metadata__":{}})", "names \"__metadata__\" twice");
  has(R"({"x":{"dtype":"F32","dtype":"F32"}})", "names \"dtype\" twice");
  has(R"({"x":{"dtype":"F32","shape":[[1]],"data_offsets":[0,0]}})", "not a shape");
  has(R"({"x":{"dtype":["F32"],"shape":[1],"data_offsets":[0,0]}})", "is not known");
  has(R"({"x":{"dtype":"F32","shape":{},"data_offsets":[0,0]}})", "not a shape");
  has("{} {}", "not JSON");
}

TEST(Safetensors, HostileLengthsAreRefused) {
  TemporaryFolder folder;
  for (const auto& [length, message] :
       std::vector<std::pair<std::uint64_t, std::string>>{{UINT64_MAX, "longer than 100 MB"},
                                                          {100'000'001, "longer than 100 MB"},
                                                          {9, "longer than the file"}}) {
    write_bytes(folder / "t", std::string(reinterpret_cast<const char*>(&length), 8) + "{}      ");
    const std::string text = message_of<Error>([&] { Safetensors file(folder / "t"); });
    EXPECT_NE(text.find(message), std::string::npos) << text;
  }
  EXPECT_NE(message_of<Error>([&] { Safetensors file(folder.path()); }).find("it is a folder; name a file"),
            std::string::npos);
}

}  // namespace
}  // namespace encore::record

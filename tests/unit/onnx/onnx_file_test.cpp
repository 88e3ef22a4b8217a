// SPDX-License-Identifier: BSD-3-Clause
// Tests the bytes that `exp export` writes for ONNX: messages of protocol buffers
// (onnx_graph/proto_message.hpp), compared with the examples of the official encoding page, and a whole file
// (onnx_graph/onnx_file.hpp). The format is fixed by ONNX. tests/system/peers/compare_onnx.py compares whole
// graphs with other programs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/sha256.hpp"
#include "onnx_graph/onnx_file.hpp"
#include "onnx_graph/proto_message.hpp"

namespace encore::onnx {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

std::string bytes_of(const auto& write) {
  onnx_graph::ProtoMessage message;
  write(message);
  return message.bytes();
}

TEST(ProtoMessage, HasTheBytesOfTheSpecification) {
  EXPECT_EQ(bytes_of([](onnx_graph::ProtoMessage& m) { m.integer(1, 150); }), "\x08\x96\x01"s);
  EXPECT_EQ(bytes_of([](onnx_graph::ProtoMessage& m) { m.integer(1, 0); }), "\x08\x00"s);
  EXPECT_EQ(bytes_of([](onnx_graph::ProtoMessage& m) { m.integer(1, -2); }),
            "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  EXPECT_EQ(bytes_of([](onnx_graph::ProtoMessage& m) { m.integer(20, 7); }), "\xa0\x01\x07"s);
  EXPECT_EQ(bytes_of([](onnx_graph::ProtoMessage& m) { m.text(2, "testing"); }), "\x12\x07testing"s);
  EXPECT_EQ(bytes_of([](onnx_graph::ProtoMessage& m) { m.number(2, 1.0F); }), "\x15\x00\x00\x80\x3f"s);
  onnx_graph::ProtoMessage inner;
  inner.integer(1, 150);
  EXPECT_EQ(bytes_of([&](onnx_graph::ProtoMessage& m) { m.message(3, inner); }), "\x1a\x03\x08\x96\x01"s);
}

class OnnxFile : public ::testing::Test {
 protected:
  OnnxFile() : folder_(fs::path(::testing::TempDir()) / ("onnx_file_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::vector<std::byte> bytes(2048);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
    model_.constants = {
        {.name = "large", .type = onnx_graph::OnnxType::float32, .shape = {2, 256}, .bytes = bytes},
        {.name = "small",
         .type = onnx_graph::OnnxType::int64,
         .shape = {},
         .bytes = std::vector<std::byte>(8)},
        {.name = "last", .type = onnx_graph::OnnxType::float32, .shape = {512}, .bytes = bytes}};
    model_.inputs = {{.name = "x",
                      .type = onnx_graph::OnnxType::int64,
                      .shape = {OnnxGraph::batch, OnnxGraph::length, 3}}};
  }
  ~OnnxFile() override { fs::remove_all(folder_); }

  std::string file(const char* name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string large() const {
    return {reinterpret_cast<const char*>(model_.constants[0].bytes.data()), 2048};
  }

  fs::path folder_;
  onnx_graph::OnnxModel model_;
};

TEST_F(OnnxFile, HoldsItsWeights) {
  const record::SavedFile saved = onnx_graph::save_onnx(folder_, model_, onnx_graph::OnnxWeights::inside);
  const std::string graph = file(onnx_graph::onnx_file);
  EXPECT_EQ(saved.bytes, graph.size());
  EXPECT_EQ(saved.sha256, sha256(graph));
  EXPECT_TRUE(
      graph.starts_with("\x08\x08\x12\x06"
                        "encore"))
      << "IR version 8, then the producer";
  EXPECT_NE(graph.find("\x10\x11", 0), std::string::npos) << "opset 17";
  // dims 2 and 256, type 1, name, 2048 raw bytes
  EXPECT_NE(graph.find("\x08\x02\x08\x80\x02\x10\x01\x42\x05large\x4a\x80\x10"s + large()),
            std::string::npos);
  // batch and length by name, 3 as a number
  EXPECT_NE(graph.find("\x0a\x07\x12\x05"
                       "batch\x0a\x08\x12\x06length\x0a\x02\x08\x03"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / onnx_graph::onnx_data_file));
}

TEST_F(OnnxFile, MayHaveItsWeightsInAnother) {
  const record::SavedFile saved = onnx_graph::save_onnx(folder_, model_, onnx_graph::OnnxWeights::beside);
  const std::string graph = file(onnx_graph::onnx_file), data = file(onnx_graph::onnx_data_file);
  EXPECT_EQ(saved.bytes, data.size());
  EXPECT_EQ(saved.sha256, sha256(data));
  EXPECT_EQ(data, large() + std::string(2048, '\0') + large()) << "each begins at a multiple of a page";
  EXPECT_EQ(graph.find(large()), std::string::npos);
  EXPECT_NE(graph.find("\x0a\x06offset\x12\x04"
                       "4096"),
            std::string::npos);
  EXPECT_NE(graph.find("\x0a\x06length\x12\x04"
                       "2048"),
            std::string::npos);
  EXPECT_NE(graph.find("small\x4a\x08"s + std::string(8, '\0')), std::string::npos) << "small ones stay";
}

}  // namespace
}  // namespace encore::onnx

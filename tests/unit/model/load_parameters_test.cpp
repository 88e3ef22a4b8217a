// SPDX-License-Identifier: BSD-3-Clause
// Tests load() (model/load_parameters.hpp), which fills the parameters of a model from named tensors, under
// our own names and those of foreign models; errors name both sides. Also convert_elements()
// (model/floats.hpp), which must round each number once, to the nearest.
#include "model/load_parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <list>
#include <numeric>

#include <encore/bfloat16.hpp>
#include <encore/error.hpp>
#include <encore/float16.hpp>

#include "memory/device_memory.hpp"
#include "model/floats.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::model {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

/// Returns the parameters that are loaded: the packed matrix of attention of width 16 (48, 16), and a gain of
/// 9 elements, which does not fill a cache line.
std::vector<memory::NamedParameter> parameters() {
  return {{"encoder.0.attention.qkv.weight", {"qkv.weight", {48, 16}}}, {"head.gain", {"gain", {9}}}};
}

class LoadTest : public ::testing::Test {
 protected:
  /// Fills the values by counting up from `first`.
  void add(const std::string& name, std::vector<std::int64_t> shape, float first) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    std::vector<float>& values = memory_.emplace_back(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    source_[name] = {DType::float32, std::move(shape), std::as_bytes(std::span(values))};
  }
  Loaded load_block(const NameMap& names = same_name) {
    return load(device_, block_, block_.values(), source_, names);
  }
  std::string refusal(const NameMap& names = same_name) {
    return message_of<Error>([&] { load_block(names); });
  }
  std::vector<float> values_of(const std::string& path, const memory::ParameterBlock& block) const {
    const Tensor tensor = block.seen_by_passes(block.find(path), Element::activation);
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    memory::copy_to_host(device_, tensor, values.data());
    return values;
  }

  const Device device_;
  memory::ParameterBlock block_{device_, parameters(), DType::float32, 1};
  std::list<std::vector<float>> memory_;
  NamedTensors source_;
};

std::vector<float> counted(float first, std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// Returns the tensors of a parameter as a foreign checkpoint may name them, with separate queries, keys and
/// values.
std::vector<SourceRows> split_names(const std::string& path) {
  if (path == "head.gain") return {{.name = "classifier.gain"}};
  return {{.name = "layer.0.query.weight"}, {.name = "layer.0.key.weight"}, {.name = "layer.0.value.weight"}};
}

TEST_F(LoadTest, OurOwnNamesAreTheIdentity) {
  add("encoder.0.attention.qkv.weight", {48, 16}, 0);
  add("head.gain", {9}, 1000);
  const Loaded loaded = load_block();
  EXPECT_EQ(loaded.taken, (std::vector<std::string>{"encoder.0.attention.qkv.weight", "head.gain"}));
  EXPECT_TRUE(loaded.missing.empty() && loaded.left.empty());
  require_complete(loaded);
  EXPECT_EQ(values_of("encoder.0.attention.qkv.weight", block_), counted(0, 48 * 16));
  EXPECT_EQ(values_of("head.gain", block_), counted(1000, 9));
}

TEST_F(LoadTest, QueriesKeysAndValuesBecomeOneMatrix) {
  add("layer.0.query.weight", {16, 16}, 0);
  add("layer.0.key.weight", {16, 16}, 256);
  add("layer.0.value.weight", {16, 16}, 512);
  add("classifier.gain", {9}, 5);
  require_complete(load_block(split_names));
  EXPECT_EQ(values_of("encoder.0.attention.qkv.weight", block_), counted(0, 48 * 16));
}

TEST_F(LoadTest, SomeRowsOfALargerMatrix) {
  add("fused", {60, 16}, 0);
  const Loaded loaded = load_block([](const std::string& path) {
    return path == "head.gain" ? std::vector<SourceRows>{}
                               : std::vector<SourceRows>{{.name = "fused", .first = 12}};
  });
  EXPECT_EQ(loaded.missing, std::vector<std::string>{"head.gain"});
  EXPECT_EQ(values_of("encoder.0.attention.qkv.weight", block_), counted(12 * 16, 48 * 16));
}

TEST_F(LoadTest, ReportsMissingAndUnusedTensors) {
  add("head.gain", {9}, 1);
  add("pooler.weight", {2}, 0);
  add("pooler.bias", {2}, 0);
  const Loaded loaded = load_block();
  EXPECT_EQ(loaded.taken, std::vector<std::string>{"head.gain"});
  EXPECT_EQ(loaded.missing, std::vector<std::string>{"encoder.0.attention.qkv.weight"});
  EXPECT_EQ(loaded.left, (std::vector<std::string>{"pooler.bias", "pooler.weight"}));
  EXPECT_EQ(message_of<Error>([&] { require_complete(loaded); }),
            "it belongs to another model: it lacks \"encoder.0.attention.qkv.weight\", and it holds "
            "\"pooler.bias\", \"pooler.weight\", which the model does not have");
}

TEST_F(LoadTest, NoPartOfAMatrixInPartsMayBeMissing) {
  add("layer.0.query.weight", {16, 16}, 0);
  add("classifier.gain", {9}, 5);
  const Loaded loaded = load_block(split_names);
  EXPECT_EQ(loaded.missing, std::vector<std::string>{"encoder.0.attention.qkv.weight"});
  EXPECT_EQ(loaded.left, std::vector<std::string>{"layer.0.query.weight"});
}

TEST_F(LoadTest, RefusesAnotherShapeWithBothSides) {
  add("head.gain", {3, 3}, 1);
  EXPECT_EQ(refusal(),
            "tensor \"head.gain\" is float32(3, 3), and parameter \"head.gain\" of the model is float32(9)");
  add("head.gain", {8}, 1);
  EXPECT_EQ(refusal(),
            "the rows of \"head.gain\" are 8, and parameter \"head.gain\" of the model is float32(9)");
  source_["head.gain"].dtype = DType::int32;
  EXPECT_EQ(refusal(),
            "tensor \"head.gain\" is int32(8), and parameter \"head.gain\" of the model is float32(9)");
}

TEST_F(LoadTest, RefusesRowsThatAreNotThere) {
  add("long", {12}, 1);
  EXPECT_EQ(
      refusal([](const std::string& path) {
        return path == "head.gain" ? std::vector<SourceRows>{{.name = "long", .first = 4, .count = 9}}
                                   : std::vector<SourceRows>{};
      }),
      "tensor \"long\" is float32(12) (rows 4 to 13 are wanted), and parameter \"head.gain\" of the model "
      "is float32(9)");
}

TEST_F(LoadTest, NumbersOfOtherTypesAreConvertedOnRequest) {
  const std::vector<bfloat16> brains(48 * 16, bfloat16(-1.5F));
  const std::vector<std::uint16_t> halves(9, 0x3C01);  // 1 + 2^-10
  source_["encoder.0.attention.qkv.weight"] = {DType::bfloat16, {48, 16}, std::as_bytes(std::span(brains))};
  source_["head.gain"] = {record::StoredType::float16, {9}, std::as_bytes(std::span(halves))};
  EXPECT_EQ(refusal(),
            "tensor \"encoder.0.attention.qkv.weight\" is bfloat16(48, 16), and parameter "
            "\"encoder.0.attention.qkv.weight\" of the model is float32(48, 16)");
  const auto load_floats = [&] {
    return load(device_, block_, block_.values(), source_, same_name, SourceTypes::floats);
  };
  require_complete(load_floats());
  EXPECT_EQ(values_of("encoder.0.attention.qkv.weight", block_), std::vector<float>(48 * 16, -1.5F));
  EXPECT_EQ(values_of("head.gain", block_), std::vector<float>(9, 1.0009765625F));
  source_["head.gain"] = {DType::int64, {9}, {}};
  EXPECT_EQ(message_of<Error>(load_floats),
            "tensor \"head.gain\" is int64(9), and parameter \"head.gain\" of the model is float32(9)");
}

/// Returns the value of the float16 number with these bits. nearest() and nearest_in_file() return the bits
/// of the float16 number nearest to a float, and to a double that a file holds.
float value_of(unsigned bits) {
  float16 number;
  number.bits = static_cast<std::uint16_t>(bits);
  return number;
}
unsigned nearest(float value) {
  return float16(value).bits;
}
unsigned nearest_in_file(double value) {
  const auto bytes = convert_elements(DType::float64, std::as_bytes(std::span(&value, 1)), DType::float16);
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data(), 2);
  return bits;
}

TEST(Float16, HasItsValue) {
  // The cases are the smallest and largest of both kinds, and values that are not numbers.
  const std::vector<std::pair<std::uint16_t, double>> cases = {
      {0x0000, 0.0},      {0x0001, 0x1p-24},  {0x03FF, 0x3FFp-24}, {0x0400, 0x1p-14},
      {0x3C00, 1.0},      {0xC000, -2.0},     {0x7BFF, 65504.0},   {0xFBFF, -65504.0},
      {0x8001, -0x1p-24}, {0x7C00, INFINITY}, {0xFC00, -INFINITY}, {0x3555, 0x1.554p-2}};
  for (const auto& [bits, value] : cases) EXPECT_EQ(value_of(bits), value) << std::hex << bits;
  EXPECT_TRUE(std::signbit(value_of(0x8000)));
  EXPECT_TRUE(std::isnan(value_of(0x7E00)));
  EXPECT_TRUE(std::isnan(value_of(0x7C01)));
}

TEST(Float16, EachIsTheNearestOfItself) {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const float value = value_of(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(value_of(nearest(value))));
      EXPECT_TRUE(std::isnan(value_of(nearest_in_file(value))));
    } else {
      EXPECT_EQ(nearest(value), bits) << value;
      EXPECT_EQ(nearest_in_file(value), bits) << value;
    }
  }
}

TEST(Float16, BetweenTwoTheNearerIsTakenAndTheEvenOneOfATie) {
  for (unsigned bits = 0; bits < 0x7BFFU; ++bits) {
    const float low = value_of(bits), high = value_of(bits + 1), middle = (low + high) / 2;
    const unsigned even = bits + bits % 2;
    EXPECT_EQ(nearest(middle), even) << middle;
    EXPECT_EQ(nearest(std::nextafter(middle, 0.0F)), bits) << middle;
    EXPECT_EQ(nearest(std::nextafter(middle, 1e9F)), bits + 1) << middle;
    EXPECT_EQ(nearest(-middle), even | 0x8000U);
    EXPECT_EQ(nearest_in_file(middle), even) << middle;
    EXPECT_EQ(nearest_in_file(std::nextafter(static_cast<double>(middle), 0.0)), bits) << middle;
    EXPECT_EQ(nearest_in_file(std::nextafter(static_cast<double>(middle), 1e9)), bits + 1) << middle;
  }
  EXPECT_EQ(nearest(std::nextafter(65520.0F, 0.0F)), 0x7BFFU) << "rounds to 65504";
  EXPECT_EQ(nearest(65520.0F), 0x7C00U) << "the tie with what would be 65536";
  EXPECT_EQ(nearest(1e30F), 0x7C00U);
  EXPECT_EQ(nearest(-INFINITY), 0xFC00U);
  EXPECT_EQ(nearest(1e-10F), 0x0000U);
  EXPECT_EQ(nearest(-1e-42F), 0x8000U);
}

TEST(ConvertElements, Bfloat16IsThatOfTheKernels) {
  std::vector<float> values = {0.0F, -0.0F, 1.0F, 3.0e38F, 1e-40F, -1e-42F, 0x1.01p0F, 0x1.03p0F};
  for (int i = 0; i < 4000; ++i) values.push_back(std::ldexp(std::sin(static_cast<float>(i)), i % 250 - 125));
  const std::vector<std::byte> bytes =
      convert_elements(DType::float32, std::as_bytes(std::span(values)), DType::bfloat16);
  ASSERT_EQ(bytes.size(), 2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    EXPECT_EQ(bits, bfloat16(values[i]).bits) << values[i];
  }
  // Rounded once: by way of float32 this one would be a tie, and become 1.
  const double above = 1.0 + 0x1p-8 + 0x1p-40;
  const auto once = convert_elements(DType::float64, std::as_bytes(std::span(&above, 1)), DType::bfloat16);
  std::uint16_t bits = 0;
  std::memcpy(&bits, once.data(), 2);
  EXPECT_EQ(bits, 0x3F81);
}

TEST(ConvertElements, NumbersThatWouldBecomeInfiniteAreRefused) {
  const auto refusal_of = [](double value, record::StoredType to) {
    return message_of<Error>(
        [&] { convert_elements(DType::float64, std::as_bytes(std::span(&value, 1)), to); });
  };
  EXPECT_EQ(refusal_of(-65520.0, record::StoredType::float16), "-65520 is beyond what float16 holds");
  EXPECT_EQ(refusal_of(1e39, DType::float32), "1e+39 is beyond what float32 holds");
  EXPECT_EQ(refusal_of(3.4e38, DType::bfloat16), "3.4e+38 is beyond what bfloat16 holds");
  EXPECT_EQ(refusal_of(INFINITY, record::StoredType::float16), "no error") << "infinity stays infinite";
  EXPECT_EQ(refusal_of(65519.0, record::StoredType::float16), "no error");
}

TEST(ConvertElements, AnyFloatsBecomeFloatsOrDoubles) {
  const std::vector<double> wide = {0.1, -1e30, 3.0};
  const std::vector<float> narrow = {0.1F, -2.0F};
  const auto converted = [](record::StoredType from, std::span<const std::byte> bytes, auto to) {
    using T = decltype(to);
    const std::vector<std::byte> result =
        convert_elements(from, bytes, sizeof(T) == 8 ? DType::float64 : DType::float32);
    std::vector<T> values(result.size() / sizeof(T));
    std::memcpy(values.data(), result.data(), result.size());
    return values;
  };
  EXPECT_EQ(converted(DType::float64, std::as_bytes(std::span(wide)), 0.0F),
            (std::vector<float>{0.1F, -1e30F, 3.0F}));
  EXPECT_EQ(converted(DType::float32, std::as_bytes(std::span(narrow)), 0.0),
            (std::vector<double>{static_cast<double>(0.1F), -2.0}));
  EXPECT_EQ(converted(DType::float32, std::as_bytes(std::span(narrow)).subspan(0, 4), 0.0F),
            (std::vector<float>{0.1F}));
  EXPECT_THROW(convert_elements(DType::int32, {}, DType::float32), std::logic_error);
}

TEST_F(LoadTest, AMappedFileIsReadInPlace) {
  add("encoder.0.attention.qkv.weight", {48, 16}, 0);
  add("head.gain", {9}, 1000);
  TemporaryFolder folder;
  std::vector<record::TensorSlice> slices;
  for (const auto& [name, tensor] : source_)
    slices.push_back({.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes});
  record::save_safetensors(folder / "t", slices, {});
  const record::Safetensors file(folder / "t");

  memory::ParameterBlock lean(device_, parameters(), DType::float32, 1, memory::Use::inference);
  require_complete(load_in_place(device_, lean, file.tensors(), same_name));
  EXPECT_EQ(values_of("encoder.0.attention.qkv.weight", lean), counted(0, 48 * 16));
  EXPECT_EQ(values_of("head.gain", lean), counted(1000, 9));
  if (memory::host_reaches_device()) {
    EXPECT_EQ(lean.seen_by_passes(lean.find("encoder.0.attention.qkv.weight"), Element::activation).data,
              file.tensor("encoder.0.attention.qkv.weight").bytes.data());
  }

  memory::ParameterBlock narrow(device_, parameters(), DType::bfloat16, 1, memory::Use::inference);
  require_complete(load_in_place(device_, narrow, file.tensors(), same_name));
  EXPECT_NE(memory::ParameterBlock::slice(narrow.values(), narrow.find("head.gain")).data, nullptr);
  std::vector<float> gain(9);
  memory::copy_to_host(device_, memory::ParameterBlock::slice(narrow.values(), narrow.find("head.gain")),
                       gain.data());
  EXPECT_EQ(gain, counted(1000, 9)) << "copies come from the values in the block";
}

}  // namespace
}  // namespace encore::model

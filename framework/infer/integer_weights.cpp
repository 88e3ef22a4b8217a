// SPDX-License-Identifier: BSD-3-Clause
// Implements integer_weights.hpp: writes and reads matrices of 8-bit or 4-bit integers with their scales.
// `exp quantize` writes such a file, run_weights.cpp reads it. The layout is a file format of users: a change
// must still read old files. Read integer_weights.hpp first.
#include "infer/integer_weights.hpp"

#include <bit>
#include <deque>

#include <encore/device.hpp>
#include <encore/kernels.hpp>

#include "kernels/products/int4_weights.hpp"
#include "kernels/products/int8_weights.hpp"
#include "memory/device_memory.hpp"
#include "model/floats.hpp"
#include "model/load_parameters.hpp"

namespace encore::infer {
namespace {

const std::string scales_suffix = "/scales";
/// The bytes of a group of 4-bit integers. A byte holds two integers, the first one in its lower half.
constexpr std::int64_t group_bytes = kernels::int4_group / 2;

/// A matrix as it is stored.
struct IntegerMatrix {
  std::vector<std::int8_t> integers;
  std::vector<float> row_scales;            ///< of 8 bits
  std::vector<std::uint16_t> group_scales;  ///< of 4 bits, bfloat16
};

float float_of(std::uint16_t upper_half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(upper_half) << 16U);
}

void append_int8_row(const float* row, std::int64_t columns, IntegerMatrix& matrix) {
  matrix.row_scales.push_back(kernels::int8_scale(row, columns));
  const std::size_t first = matrix.integers.size();
  matrix.integers.resize(first + static_cast<std::size_t>(columns));
  kernels::to_int8(row, columns, matrix.row_scales.back(), matrix.integers.data() + first);
}

void append_int4_row(const float* row, std::int64_t columns, IntegerMatrix& matrix) {
  for (std::int64_t begin = 0; begin < columns; begin += kernels::int4_group) {
    std::int8_t q[kernels::int4_group] = {};
    const std::int64_t count = std::min(kernels::int4_group, columns - begin);
    const float scale = kernels::int4_scale(row + begin, count);
    kernels::to_int4(row + begin, count, scale, q);
    matrix.group_scales.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(scale) >> 16U));
    for (std::int64_t k = 0; k < kernels::int4_group; k += 2)
      matrix.integers.push_back(std::bit_cast<std::int8_t>(
          static_cast<std::uint8_t>((q[k] & 0xF) | static_cast<unsigned>(q[k + 1] & 0xF) << 4U)));
  }
}

IntegerMatrix to_integers(std::span<const float> values, std::int64_t columns, int bits) {
  IntegerMatrix matrix;
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t first = 0; first < values.size(); first += width)
    if (bits == 4)
      append_int4_row(values.data() + first, columns, matrix);
    else
      append_int8_row(values.data() + first, columns, matrix);
  return matrix;
}

std::vector<float> from_int8(std::span<const std::int8_t> integers, std::span<const float> scales) {
  std::vector<float> values(integers.size());
  const std::size_t width = scales.empty() ? 0 : integers.size() / scales.size();
  for (std::size_t row = 0; row < scales.size(); ++row)
    encore::kernels::from_int8(integers.data() + row * width, static_cast<std::int64_t>(width), scales[row],
                               values.data() + row * width);
  return values;
}

/// Returns the signed number in four bits.
int signed_half(unsigned half) {
  return static_cast<int>(half & 0xFU) - static_cast<int>((half & 0x8U) << 1U);
}

std::vector<float> from_int4(std::span<const std::int8_t> integers, std::span<const std::uint16_t> scales,
                             std::int64_t columns) {
  std::vector<float> values;
  const std::int64_t groups = kernels::int4_groups(columns);
  for (std::size_t group = 0; group < scales.size(); ++group) {
    const std::int64_t begin = static_cast<std::int64_t>(group) % groups * kernels::int4_group;
    for (std::int64_t k = 0; k < std::min(kernels::int4_group, columns - begin); ++k) {
      const auto byte = static_cast<std::uint8_t>(
          integers[group * static_cast<std::size_t>(group_bytes) + static_cast<std::size_t>(k / 2)]);
      values.push_back(static_cast<float>(signed_half(k % 2 == 0 ? byte : byte >> 4U)) *
                       float_of(scales[group]));
    }
  }
  return values;
}

template <class T>
std::span<const T> elements_of(const record::Safetensors::Entry& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

/// Returns the values of a tensor of integers that is stored for a parameter of this shape. Throws Error if
/// the tensor or its scales have another shape.
std::vector<float> restored(const std::string& name, const std::vector<std::int64_t>& shape,
                            const record::Safetensors::Entry& integers,
                            const record::Safetensors::Entry* scales) {
  using Shape = std::vector<std::int64_t>;
  const std::int64_t rows = shape.size() == 2 ? shape[0] : 0, columns = shape.size() == 2 ? shape[1] : 0;
  if (scales != nullptr && scales->dtype == record::StoredType::float32 && scales->shape == Shape{rows} &&
      integers.shape == shape)
    return from_int8(elements_of<std::int8_t>(integers), elements_of<float>(*scales));
  const std::int64_t groups = kernels::int4_groups(columns);
  if (scales != nullptr && scales->dtype == record::StoredType::bfloat16 &&
      scales->shape == Shape{rows, groups} && integers.shape == Shape{rows, groups * group_bytes})
    return from_int4(elements_of<std::int8_t>(integers), elements_of<std::uint16_t>(*scales), columns);
  throw Error("tensor \"" + name + "\" has integers, but \"" + name + scales_suffix +
              "\" does not have one scale for each of its rows");
}

}  // namespace

std::vector<float> rounded_to_integers(std::span<const float> values, std::int64_t columns, int bits) {
  const IntegerMatrix matrix = to_integers(values, columns, bits);
  return bits == 4 ? from_int4(matrix.integers, matrix.group_scales, columns)
                   : from_int8(matrix.integers, matrix.row_scales);
}

record::SavedFile save_integer_weights(const std::filesystem::path& run_folder, const char* name,
                                       const model::Model& model, const IntegerBits& stored,
                                       record::WeightsFacts facts) {
  const memory::ParameterBlock& parameters = model.parameters();
  std::deque<std::vector<float>> floats;
  std::deque<IntegerMatrix> matrices;
  std::vector<record::TensorSlice> tensors;
  for (const memory::ParameterSlice& slice : parameters.slices()) {
    std::vector<float> values =
        model::floats_of(model.device(), memory::ParameterBlock::slice(parameters.values(), slice));
    const auto bits = stored.find(slice.path);
    if (bits == stored.end()) {
      const std::vector<float>& kept = floats.emplace_back(std::move(values));
      tensors.push_back(
          {.name = slice.path, .shape = slice.spec.shape, .bytes = std::as_bytes(std::span(kept))});
      continue;
    }
    const std::int64_t rows = slice.spec.shape.front(), columns = slice.spec.shape.back();
    const IntegerMatrix& matrix = matrices.emplace_back(to_integers(values, columns, bits->second));
    const bool groups = bits->second == 4;
    record::TensorSlice integers = {.name = slice.path,
                                    .dtype = record::StoredType::int8,
                                    .shape = slice.spec.shape,
                                    .bytes = std::as_bytes(std::span(matrix.integers))};
    record::TensorSlice scales = {.name = slice.path + scales_suffix, .shape = {rows}};
    scales.bytes = std::as_bytes(std::span(matrix.row_scales));
    if (groups) {
      integers.shape = {rows, kernels::int4_groups(columns) * group_bytes};
      scales.dtype = record::StoredType::bfloat16;
      scales.shape = {rows, kernels::int4_groups(columns)};
      scales.bytes = std::as_bytes(std::span(matrix.group_scales));
    }
    tensors.push_back(std::move(integers));
    tensors.push_back(std::move(scales));
  }
  return record::save_weights(run_folder, std::move(tensors), std::move(facts), host_threads(), {}, name);
}

void load_integer_weights(model::Model& model, const record::WeightsFile& file) {
  memory::ParameterBlock& parameters = model.parameters();
  model::NamedTensors source = file.tensors().tensors();
  std::deque<std::vector<float>> all;
  IntegerBits bits;
  for (const memory::ParameterSlice& slice : parameters.slices()) {
    const auto found = source.find(slice.path);
    if (found == source.end() || found->second.dtype != record::StoredType::int8) continue;
    const auto scales = source.find(slice.path + scales_suffix);
    const std::vector<float>& values = all.emplace_back(restored(
        slice.path, slice.spec.shape, found->second, scales == source.end() ? nullptr : &scales->second));
    bits[slice.path] = scales->second.dtype == record::StoredType::bfloat16 ? 4 : 8;
    found->second = {record::StoredType::float32, slice.spec.shape, std::as_bytes(std::span(values))};
    source.erase(scales);
  }
  model::require_complete(
      model::load(model.device(), parameters, parameters.values(), source, model::same_name));
  parameters.values_changed();
  IntegerBits products;
  for (const std::string& path : file.facts().int8)
    if (const auto known = bits.find(path); known != bits.end()) products.insert(*known);
  model.quantize(products);
}

}  // namespace encore::infer

#include "infer/int8_weights.hpp"

#include <deque>

#include <encore/device.hpp>
#include <encore/kernels.hpp>

#include "kernels/int8_weights.hpp"
#include "memory/device_memory.hpp"
#include "model/floats.hpp"
#include "model/load_parameters.hpp"

namespace encore {
namespace {

const std::string scales_suffix = "/scales";

/// Integers and the scale of each row.
struct Int8Matrix {
  std::vector<std::int8_t> integers;
  std::vector<float> scales;
};

Int8Matrix to_int8_matrix(std::span<const float> values, std::int64_t columns) {
  Int8Matrix matrix{std::vector<std::int8_t>(values.size()), {}};
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t first = 0; first < values.size(); first += width) {
    matrix.scales.push_back(int8_scale(values.data() + first, columns));
    to_int8(values.data() + first, columns, matrix.scales.back(), matrix.integers.data() + first);
  }
  return matrix;
}

std::vector<float> from_int8_matrix(std::span<const std::int8_t> integers, std::span<const float> scales) {
  std::vector<float> values(integers.size());
  const std::size_t width = scales.empty() ? 0 : integers.size() / scales.size();
  for (std::size_t row = 0; row < scales.size(); ++row)
    from_int8(integers.data() + row * width, static_cast<std::int64_t>(width), scales[row],
              values.data() + row * width);
  return values;
}

template <class T>
std::span<const T> elements_of(const Safetensors::Entry& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

}  // namespace

std::vector<float> rounded_to_int8(std::span<const float> values, std::int64_t columns) {
  const Int8Matrix matrix = to_int8_matrix(values, columns);
  return from_int8_matrix(matrix.integers, matrix.scales);
}

SavedFile save_int8_weights(const std::filesystem::path& run_folder, const Model& model,
                            const std::set<std::string>& stored, WeightsFacts facts) {
  const ParameterBlock& parameters = model.parameters();
  std::deque<std::vector<float>> floats;
  std::deque<Int8Matrix> matrices;
  std::vector<TensorSlice> tensors;
  for (const ParameterSlice& slice : parameters.slices()) {
    std::vector<float> values = floats_of(model.device(), ParameterBlock::slice(parameters.values(), slice));
    if (!stored.contains(slice.path)) {
      const std::vector<float>& kept = floats.emplace_back(std::move(values));
      tensors.push_back(
          {.name = slice.path, .shape = slice.spec.shape, .bytes = std::as_bytes(std::span(kept))});
      continue;
    }
    const Int8Matrix& matrix = matrices.emplace_back(to_int8_matrix(values, slice.spec.shape.back()));
    tensors.push_back({.name = slice.path,
                       .dtype = StoredType::int8,
                       .shape = slice.spec.shape,
                       .bytes = std::as_bytes(std::span(matrix.integers))});
    tensors.push_back({.name = slice.path + scales_suffix,
                       .shape = {slice.spec.shape.front()},
                       .bytes = std::as_bytes(std::span(matrix.scales))});
  }
  return save_weights(run_folder, std::move(tensors), std::move(facts), host_threads(), {},
                      int8_weights_file);
}

void load_int8_weights(Model& model, const WeightsFile& file) {
  NamedTensors source = file.tensors().tensors();
  std::deque<std::vector<float>> restored;
  for (const auto& [name, tensor] : file.tensors().tensors()) {
    if (tensor.dtype != StoredType::int8) continue;
    const auto scales = source.find(name + scales_suffix);
    const std::int64_t rows = tensor.shape.empty() ? 0 : tensor.shape.front();
    if (scales == source.end() || scales->second.dtype != StoredType::float32 ||
        scales->second.shape != std::vector<std::int64_t>{rows})
      throw Error("tensor \"" + name + "\" is of integers, and \"" + name + scales_suffix +
                  "\" is not the scale of each of its rows");
    const std::vector<float>& values = restored.emplace_back(
        from_int8_matrix(elements_of<std::int8_t>(tensor), elements_of<float>(scales->second)));
    source[name] = {StoredType::float32, tensor.shape, std::as_bytes(std::span(values))};
    source.erase(scales);
  }
  ParameterBlock& parameters = model.parameters();
  require_complete(load(model.device(), parameters, parameters.values(), source, same_name));
  parameters.values_changed();
  model.quantize(file.facts().int8);
}

}  // namespace encore

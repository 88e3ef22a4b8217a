// Tensors: SPLIT.lengths, SPLIT.ids, of two texts SPLIT.target_lengths and SPLIT.target_ids, of examples with
// several sequences SPLIT.sequences, and SPLIT.column.NAME with, over ragged, SPLIT.counts.NAME.
#include "tasks/encoded_sets.hpp"

#include <nlohmann/json.hpp>

#include "config/json_text.hpp"

namespace encore {
namespace {

template <class T>
std::span<const T> values_in(const Safetensors& file, const std::string& name, DType type) {
  const Safetensors::Entry& entry = file.tensor(name);
  if (entry.dtype != type || entry.shape.size() != 1)
    throw Error(file.path().string() + ": tensor \"" + name + "\" is no list of " + encore::name_of(type));
  return {reinterpret_cast<const T*>(entry.bytes.data()), entry.bytes.size() / sizeof(T)};
}

std::span<const std::int32_t> integers_in(const Safetensors& file, const std::string& name) {
  return values_in<std::int32_t>(file, name, DType::int32);
}

/// Empty where the file has no such tensor.
std::span<const std::int32_t> optional_in(const Safetensors& file, const std::string& name) {
  if (!file.has(name)) return {};
  return integers_in(file, name);
}

ColumnValues column_in(const Safetensors& file, const std::string& prefix, const ColumnRule& rule) {
  const std::string name = prefix + ".column." + rule.name;
  ColumnValues column = {.rule = rule};
  if (rule.type == ColumnType::integers)
    column.integers = integers_in(file, name);
  else
    column.numbers = values_in<float>(file, name, DType::float32);
  if (rule.space == Space::ragged) column.counts = integers_in(file, prefix + ".counts." + rule.name);
  return column;
}

}  // namespace

std::vector<TensorSlice> tensors_of(const EncodedSets& sets) {
  std::vector<TensorSlice> tensors;
  const auto add = [&](const std::string& name, auto values, DType type = DType::int32) {
    tensors.push_back({.name = name,
                       .dtype = type,
                       .shape = {static_cast<std::int64_t>(values.size())},
                       .bytes = std::as_bytes(values)});
  };
  for (const Split split : all_splits) {
    if (!sets[split]) continue;
    const ExampleArrays& arrays = sets[split]->set.arrays();
    const std::string prefix = std::string(name_of(split)) + ".";
    add(prefix + "lengths", arrays.lengths);
    add(prefix + "ids", arrays.ids);
    if (!arrays.target_lengths.empty()) {
      add(prefix + "target_lengths", arrays.target_lengths);
      add(prefix + "target_ids", arrays.target_ids);
    }
    if (!arrays.sequences.empty()) add(prefix + "sequences", arrays.sequences);
    for (const ColumnValues& column : arrays.columns) {
      if (column.rule.type == ColumnType::integers)
        add(prefix + "column." + column.rule.name, column.integers);
      else
        add(prefix + "column." + column.rule.name, column.numbers, DType::float32);
      if (column.rule.space == Space::ragged) add(prefix + "counts." + column.rule.name, column.counts);
    }
  }
  return tensors;
}

TensorMetadata metadata_of(const EncodedSets& sets) {
  TensorMetadata metadata = {{"knowledge", sets.knowledge}};
  for (const Split split : all_splits)
    if (sets[split]) metadata[name_of(split)] = nlohmann::json(sets[split]->reader_notes).dump();
  return metadata;
}

std::string knowledge_in(const Safetensors& file) {
  return file.text("knowledge");
}

EncodedSets encoded_sets_in(const std::shared_ptr<const Safetensors>& file,
                            const std::vector<ColumnRule>& columns) {
  try {
    EncodedSets result;
    result.knowledge = knowledge_in(*file);
    for (const Split split : all_splits) {
      const std::string prefix = name_of(split);
      if (!file->metadata().contains(prefix)) continue;
      ExampleArrays arrays = {.lengths = integers_in(*file, prefix + ".lengths"),
                              .ids = integers_in(*file, prefix + ".ids"),
                              .target_lengths = optional_in(*file, prefix + ".target_lengths"),
                              .target_ids = optional_in(*file, prefix + ".target_ids"),
                              .sequences = optional_in(*file, prefix + ".sequences")};
      for (const ColumnRule& rule : columns) arrays.columns.push_back(column_in(*file, prefix, rule));
      result[split].emplace(ExampleSet(std::move(arrays), file),
                            parse_json(file->text(prefix)).get<std::vector<std::string>>());
    }
    return result;
  } catch (const std::exception& error) {
    throw Error(file->path().string() + ": " + error.what());
  }
}

}  // namespace encore

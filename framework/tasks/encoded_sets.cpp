// SPDX-License-Identifier: BSD-3-Clause
// Encoded sets as tensors of a file, and back. Names of the tensors: SPLIT.lengths and SPLIT.ids, for pairs
// SPLIT.target_lengths and SPLIT.target_ids, for examples with several sequences SPLIT.sequences, and for
// each column SPLIT.column.NAME (with SPLIT.counts.NAME if it is ragged). task_sets.cpp and encoded_parts.cpp
// call these functions. New names need a new cache_format in task_sets.cpp.
#include "tasks/encoded_sets.hpp"

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore::tasks {
namespace {

template <class T>
std::span<const T> values_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

std::vector<record::TensorSlice> tensors_of(const ExampleArrays& arrays, const std::string& prefix) {
  std::vector<record::TensorSlice> tensors;
  const auto add = [&](const std::string& name, auto values, DType type = DType::int32) {
    tensors.push_back({.name = prefix + name,
                       .dtype = type,
                       .shape = {static_cast<std::int64_t>(values.size())},
                       .bytes = std::as_bytes(values)});
  };
  add("lengths", arrays.lengths);
  add("ids", arrays.ids);
  if (!arrays.target_lengths.empty()) {
    add(target_lengths_array, arrays.target_lengths);
    add(target_ids_array, arrays.target_ids);
  }
  if (!arrays.sequences.empty()) add(sequences_array, arrays.sequences);
  for (const ColumnValues& column : arrays.columns) {
    if (column.rule.type == ColumnType::integers)
      add("column." + column.rule.name, column.integers);
    else
      add("column." + column.rule.name, column.numbers, DType::float32);
    if (column.rule.space == Space::ragged) add("counts." + column.rule.name, column.counts);
  }
  return tensors;
}

std::vector<record::TensorSlice> tensors_of(const EncodedSets& sets) {
  std::vector<record::TensorSlice> tensors;
  for (const data::Split split : data::all_splits)
    if (sets[split])
      for (record::TensorSlice& tensor :
           tensors_of(sets[split]->set.arrays(), std::string(data::name_of(split)) + "."))
        tensors.push_back(std::move(tensor));
  return tensors;
}

ExampleArrays arrays_in(const FindTensor& find, const std::string& prefix,
                        const std::vector<ColumnRule>& columns) {
  const auto integers = [&](const std::string& name) {
    return values_of<std::int32_t>(find(prefix + name, DType::int32));
  };
  ExampleArrays arrays = {.lengths = integers("lengths"),
                          .ids = integers("ids"),
                          .target_lengths = integers(target_lengths_array),
                          .target_ids = integers(target_ids_array),
                          .sequences = integers(sequences_array)};
  for (const ColumnRule& rule : columns) {
    ColumnValues column = {.rule = rule};
    if (rule.type == ColumnType::integers)
      column.integers = integers("column." + rule.name);
    else
      column.numbers = values_of<float>(find(prefix + "column." + rule.name, DType::float32));
    if (rule.space == Space::ragged) column.counts = integers("counts." + rule.name);
    arrays.columns.push_back(column);
  }
  return arrays;
}

record::TensorMetadata metadata_of(const EncodedSets& sets) {
  record::TensorMetadata metadata = {{"knowledge", sets.knowledge}};
  for (const data::Split split : data::all_splits)
    if (sets[split]) metadata[data::name_of(split)] = nlohmann::json(sets[split]->reader_notes).dump();
  return metadata;
}

std::string knowledge_in(const record::Safetensors& file) {
  return file.text("knowledge");
}

EncodedSets encoded_sets_in(const std::shared_ptr<const record::Safetensors>& file,
                            const std::vector<ColumnRule>& columns) {
  try {
    EncodedSets result;
    result.knowledge = knowledge_in(*file);
    const auto find = [&](const std::string& name, DType type) -> std::span<const std::byte> {
      const auto tensor = file->tensors().find(name);
      if (tensor == file->tensors().end()) return {};
      if (tensor->second.dtype != type || tensor->second.shape.size() != 1)
        throw Error("tensor \"" + name + "\" is not a list of " + encore::name_of(type));
      return tensor->second.bytes;
    };
    for (const data::Split split : data::all_splits) {
      const std::string name = data::name_of(split);
      if (!file->metadata().contains(name)) continue;
      static_cast<void>(file->tensor(name + ".lengths"));  // throws if it is missing
      result[split].emplace(ExampleSet(arrays_in(find, name + ".", columns), file),
                            parse_json(file->text(name)).get<std::vector<std::string>>());
    }
    return result;
  } catch (const std::exception& error) {
    throw Error(file->path().string() + ": " + error.what());
  }
}

}  // namespace encore::tasks

// Tensors: SPLIT.lengths, SPLIT.ids, SPLIT.column.NAME and, of ragged columns, SPLIT.counts.NAME.
#include "tasks/encoded_sets.hpp"

#include <nlohmann/json.hpp>

#include "config/json_text.hpp"

namespace encore {
namespace {

std::span<const std::int32_t> integers_in(const Safetensors& file, const std::string& name) {
  const Safetensors::Entry& entry = file.tensor(name);
  if (entry.dtype != DType::int32 || entry.shape.size() != 1)
    throw Error(file.path().string() + ": tensor \"" + name + "\" is no list of int32");
  return {reinterpret_cast<const std::int32_t*>(entry.bytes.data()),
          entry.bytes.size() / sizeof(std::int32_t)};
}

}  // namespace

std::vector<TensorSlice> tensors_of(const EncodedSets& sets) {
  std::vector<TensorSlice> tensors;
  const auto add = [&](const std::string& name, std::span<const std::int32_t> values) {
    tensors.push_back({.name = name,
                       .dtype = DType::int32,
                       .shape = {static_cast<std::int64_t>(values.size())},
                       .bytes = std::as_bytes(values)});
  };
  for (const Split split : all_splits) {
    if (!sets[split]) continue;
    const ExampleSet& set = sets[split]->set;
    const std::string prefix = name_of(split);
    add(prefix + ".lengths", set.lengths());
    add(prefix + ".ids", set.all_ids());
    for (const ColumnValues& column : set.columns()) {
      add(prefix + ".column." + column.rule.name, column.values);
      if (column.rule.space == Space::ragged) add(prefix + ".counts." + column.rule.name, column.counts);
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

EncodedSets encoded_sets_in(const std::shared_ptr<const Safetensors>& file,
                            const std::vector<ColumnRule>& columns) {
  try {
    EncodedSets result;
    result.knowledge = file->text("knowledge");
    for (const Split split : all_splits) {
      const std::string prefix = name_of(split);
      if (!file->metadata().contains(prefix)) continue;
      std::vector<ColumnValues> values;
      for (const ColumnRule& rule : columns)
        values.push_back({.rule = rule,
                          .values = integers_in(*file, prefix + ".column." + rule.name),
                          .counts = rule.space == Space::ragged
                                        ? integers_in(*file, prefix + ".counts." + rule.name)
                                        : std::span<const std::int32_t>()});
      result[split].emplace(ExampleSet(integers_in(*file, prefix + ".lengths"),
                                       integers_in(*file, prefix + ".ids"), std::move(values), file),
                            parse_json(file->text(prefix)).get<std::vector<std::string>>());
    }
    return result;
  } catch (const std::exception& error) {
    throw Error(file->path().string() + ": " + error.what());
  }
}

}  // namespace encore

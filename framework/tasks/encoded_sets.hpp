// EncodedSets: all that training and scoring need of the sets of a run, without a word of their text; and
// their form as tensors, in which the token cache keeps them. Knows no task: the task that fills a column
// names it. Place in the flow: task_sets.hpp fills and keeps them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <encore/examples.hpp>

#include "data/split.hpp"
#include "record/safetensors.hpp"

namespace encore {

struct EncodedSet {
  EncodedSet(ExampleSet encoded, std::vector<std::string> of_reader = {})
      : set(std::move(encoded)), reader_notes(std::move(of_reader)) {}

  ExampleSet set;
  std::vector<std::string> reader_notes;  ///< Records::notes
};

/// Copies share their arrays.
struct EncodedSets {
  std::string knowledge;  ///< Task::knowledge
  std::array<std::optional<EncodedSet>, all_splits.size()> sets;

  std::optional<EncodedSet>& operator[](Split split) { return sets[static_cast<std::size_t>(split)]; }
  const std::optional<EncodedSet>& operator[](Split split) const {
    return sets[static_cast<std::size_t>(split)];
  }
};

// Names of arrays in a file, behind the name of their set and a dot.
inline constexpr const char* sequences_array = "sequences";
inline constexpr const char* target_lengths_array = "target_lengths";
inline constexpr const char* target_ids_array = "target_ids";

/// The form in a file.
std::vector<TensorSlice> tensors_of(const EncodedSets& sets);
std::vector<TensorSlice> tensors_of(const ExampleArrays& arrays, const std::string& prefix);
/// Reads that form; `find` gives the bytes of the tensor of this name and type, none where it is missing.
using FindTensor = std::function<std::span<const std::byte>(const std::string& name, DType type)>;
ExampleArrays arrays_in(const FindTensor& find, const std::string& prefix,
                        const std::vector<ColumnRule>& columns);
TensorMetadata metadata_of(const EncodedSets& sets);
/// Task::knowledge as it is in a file. Throws Error when there is none.
std::string knowledge_in(const Safetensors& file);
/// The sets look into the file and keep it mapped; `columns` are those of the task, which has its knowledge
/// already. Throws Error when it holds something else.
EncodedSets encoded_sets_in(const std::shared_ptr<const Safetensors>& file,
                            const std::vector<ColumnRule>& columns);

}  // namespace encore

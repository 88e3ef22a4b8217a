// SPDX-License-Identifier: BSD-3-Clause
// EncodedSets is all that training and scoring need of the sets of a run: token ids and columns, without
// text. This file also converts it to tensors, the form that the token cache stores. It knows no task: the
// task that fills a column names it. task_sets.hpp fills and keeps the sets; the trainer and the evaluator
// read them. Names of tensors are stored: a new one needs a new cache_format in task_sets.cpp.
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

namespace encore::tasks {

/// One encoded set.
struct EncodedSet {
  EncodedSet(ExampleSet encoded, std::vector<std::string> of_reader = {})
      : set(std::move(encoded)), reader_notes(std::move(of_reader)) {}

  ExampleSet set;
  std::vector<std::string> reader_notes;  ///< notes of the reader (Records::notes) for the user
};

/// All encoded sets of a run. Copies share their arrays.
struct EncodedSets {
  std::string knowledge;  ///< what the task knows, such as labels (Task::knowledge)
  std::array<std::optional<EncodedSet>, data::all_splits.size()> sets;

  std::optional<EncodedSet>& operator[](data::Split split) { return sets[static_cast<std::size_t>(split)]; }
  const std::optional<EncodedSet>& operator[](data::Split split) const {
    return sets[static_cast<std::size_t>(split)];
  }
};

// Names of arrays in a file, after the name of their set and a dot. Files of the cache contain them.
inline constexpr const char* sequences_array = "sequences";
inline constexpr const char* target_lengths_array = "target_lengths";
inline constexpr const char* target_ids_array = "target_ids";

/// Returns the sets as tensors of a file, which point into `sets`.
std::vector<record::TensorSlice> tensors_of(const EncodedSets& sets);
std::vector<record::TensorSlice> tensors_of(const ExampleArrays& arrays, const std::string& prefix);
/// Reads the tensors of one set; `find` returns the bytes of the tensor with this name and type, or nothing
/// if it is missing.
using FindTensor = std::function<std::span<const std::byte>(const std::string& name, DType type)>;
ExampleArrays arrays_in(const FindTensor& find, const std::string& prefix,
                        const std::vector<ColumnRule>& columns);
record::TensorMetadata metadata_of(const EncodedSets& sets);
/// Returns Task::knowledge from a file of the cache. Throws Error if it is missing.
std::string knowledge_in(const record::Safetensors& file);
/// Returns the sets of a file; they point into it and keep it mapped. `columns` are those of the task, which
/// has its knowledge already. Throws Error if the file has other content.
EncodedSets encoded_sets_in(const std::shared_ptr<const record::Safetensors>& file,
                            const std::vector<ColumnRule>& columns);

}  // namespace encore::tasks

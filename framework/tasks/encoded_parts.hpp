// SPDX-License-Identifier: BSD-3-Clause
// EncodedParts collects a set that is encoded part by part. Its arrays grow in memory or, for sets that are
// too large for memory, in temporary files. task_sets.cpp adds the parts; then it either takes the set in
// memory (set) or lets token_cache.hpp join the arrays into the file of the cache (tensors). The result must
// equal that of a set encoded at once, in names and bytes (encoded_sets.hpp). The temporary files are private
// and may change.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <encore/examples.hpp>

#include "record/safetensors.hpp"

namespace encore::tasks {

class EncodedParts {
 public:
  /// An empty `files` keeps the arrays in memory. Otherwise they are files whose names begin with this path;
  /// the destructor removes them.
  explicit EncodedParts(std::filesystem::path files);
  ~EncodedParts();
  EncodedParts(const EncodedParts&) = delete;
  EncodedParts& operator=(const EncodedParts&) = delete;

  /// Appends a part. Throws Error if the disk is full.
  void add(const ExampleSet& part);
  /// Returns all parts as tensors of one set (encoded_sets.hpp), valid as long as this object. No part may be
  /// added after it.
  std::vector<record::TensorSlice> tensors(const std::string& prefix);
  /// Returns the set in memory, which keeps `parts` alive; `rules` are those of its columns.
  static ExampleSet set(const std::shared_ptr<EncodedParts>& parts, const std::vector<ColumnRule>& rules);

 private:
  struct Array {
    record::StoredType dtype = DType::int32;
    std::vector<std::byte> bytes = {};
    std::filesystem::path path = {};
    std::ofstream file = {};
    std::size_t size = 0;  ///< in bytes
  };
  void append(const std::string& name, record::StoredType dtype, std::span<const std::byte> bytes);
  void append_many(const std::string& name, std::int32_t value, std::size_t count);
  /// Removes arrays whose values the reader of a set assumes if they are missing, such as one sequence for
  /// each example.
  void leave_out_what_is_implied();

  std::filesystem::path files_;
  std::map<std::string, Array> arrays_;  ///< by name within the set
  bool several_sequences_ = false;
};

}  // namespace encore::tasks

// EncodedParts: a set that is encoded part by part, its arrays behind each other in memory or, for sets that
// are larger than memory should be, in files of their own, from which the token cache's file is put together.
// Place in the flow: task_sets.cpp adds the parts; token_cache.hpp saves the tensors.
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

namespace encore {

class EncodedParts {
 public:
  /// An empty `files`: in memory; else the arrays are files that begin with this path, until this is gone.
  explicit EncodedParts(std::filesystem::path files);
  ~EncodedParts();
  EncodedParts(const EncodedParts&) = delete;
  EncodedParts& operator=(const EncodedParts&) = delete;

  /// Throws Error if the disk is full.
  void add(const ExampleSet& part);
  /// All parts as one set has them (encoded_sets.hpp); valid as long as this object. No part follows.
  std::vector<TensorSlice> tensors(const std::string& prefix);
  /// The set itself, in memory, which keeps `parts` alive; `rules` are those of its columns.
  static ExampleSet set(const std::shared_ptr<EncodedParts>& parts, const std::vector<ColumnRule>& rules);

 private:
  struct Array {
    StoredType dtype = DType::int32;
    std::vector<std::byte> bytes = {};
    std::filesystem::path path = {};
    std::ofstream file = {};
    std::size_t size = 0;  ///< in bytes
  };
  void append(const std::string& name, StoredType dtype, std::span<const std::byte> bytes);
  void append_many(const std::string& name, std::int32_t value, std::size_t count);
  void leave_out_what_is_implied();

  std::filesystem::path files_;
  std::map<std::string, Array> arrays_;  ///< by name within the set
  bool several_sequences_ = false;
};

}  // namespace encore

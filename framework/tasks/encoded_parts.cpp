// SPDX-License-Identifier: BSD-3-Clause
// EncodedParts: appends the arrays of each encoded part in memory or to files, and returns them as one set.
// A part may leave out `sequences` if all its values are 1, and `target_lengths` if all are 0. Here their
// values are stored, and the arrays are left out of the whole set only if all parts left them out.
// task_sets.cpp calls it for a large training set. The result must equal that of a set encoded at once. Read
// encoded_parts.hpp first.
#include "tasks/encoded_parts.hpp"

#include <utility>

#include "tasks/encoded_sets.hpp"

namespace encore::tasks {

namespace {

void require_written(const std::ofstream& file, const std::filesystem::path& path) {
  if (!file) throw Error(path.string() + ": cannot be written; is the disk full?");
}

}  // namespace

EncodedParts::EncodedParts(std::filesystem::path files) : files_(std::move(files)) {}

EncodedParts::~EncodedParts() {
  std::error_code failure;
  for (auto& [name, array] : arrays_)
    if (!array.path.empty()) std::filesystem::remove(array.path, failure);
}

void EncodedParts::append(const std::string& name, record::StoredType dtype,
                          std::span<const std::byte> bytes) {
  Array& array = arrays_[name];
  array.dtype = dtype;
  array.size += bytes.size();
  if (files_.empty()) {
    array.bytes.insert(array.bytes.end(), bytes.begin(), bytes.end());
    return;
  }
  if (array.path.empty()) {
    array.path = files_.string() + "." + name;
    array.file.open(array.path, std::ios::binary);
  }
  array.file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  require_written(array.file, array.path);
}

void EncodedParts::append_many(const std::string& name, std::int32_t value, std::size_t count) {
  const std::vector<std::int32_t> values(count, value);
  append(name, DType::int32, std::as_bytes(std::span(values)));
}

void EncodedParts::add(const ExampleSet& part) {
  for (const record::TensorSlice& tensor : tensors_of(part.arrays(), ""))
    append(tensor.name, tensor.dtype, tensor.bytes);
  if (part.arrays().sequences.empty())
    append_many(sequences_array, 1, part.size());
  else
    several_sequences_ = true;
  if (!part.has_target()) append_many(target_lengths_array, 0, part.sequence_count());
}

void EncodedParts::leave_out_what_is_implied() {
  const auto leave_out = [&](const char* name) {
    std::error_code failure;
    if (const auto array = arrays_.find(name); array != arrays_.end()) {
      array->second.file.close();
      if (!array->second.path.empty()) std::filesystem::remove(array->second.path, failure);
      arrays_.erase(array);
    }
  };
  if (!several_sequences_) leave_out(sequences_array);
  if (!arrays_.contains(target_ids_array)) leave_out(target_lengths_array);
}

std::vector<record::TensorSlice> EncodedParts::tensors(const std::string& prefix) {
  leave_out_what_is_implied();
  std::vector<record::TensorSlice> tensors;
  for (auto& [name, array] : arrays_) {
    if (!array.path.empty()) {
      array.file.close();
      require_written(array.file, array.path);
    }
    tensors.push_back({.name = prefix + name,
                       .dtype = array.dtype,
                       .shape = {static_cast<std::int64_t>(array.size / record::size_of(array.dtype))},
                       .bytes = array.bytes,
                       .file = array.path});
  }
  return tensors;
}

ExampleSet EncodedParts::set(const std::shared_ptr<EncodedParts>& parts,
                             const std::vector<ColumnRule>& rules) {
  ENCORE_REQUIRE(parts->files_.empty(), "set() needs parts that are kept in memory");
  parts->leave_out_what_is_implied();
  const auto find = [&](const std::string& name, DType) -> std::span<const std::byte> {
    const auto array = parts->arrays_.find(name);
    return array == parts->arrays_.end() ? std::span<const std::byte>() : array->second.bytes;
  };
  return {arrays_in(find, "", rules), parts};
}

}  // namespace encore::tasks

// SPDX-License-Identifier: BSD-3-Clause
// Writes our parameters as the folder of a BERT: the tensors of a model.safetensors, with the names that
// pretrained/bert_family.cpp gives them. unit/train/trainer_test.cpp and
// unit/infer/pretrained_weights_test.cpp start models from such folders.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pretrained/family.hpp"
#include "record/safetensors.hpp"

namespace encore::testing {

/// Returns the tensors of a parameter, whose rows are divided evenly among them (queries, keys and values are
/// three tensors).
inline std::vector<record::TensorSlice> bert_tensors(const std::string& path,
                                                     const record::Safetensors::Entry& parameter,
                                                     pretrained::PretrainedHead head) {
  const std::vector<pretrained::FamilyTensor> names = pretrained::bert_family.tensors_of(path, head);
  std::vector<record::TensorSlice> tensors;
  const std::size_t bytes = names.empty() ? 0 : parameter.bytes.size() / names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::int64_t> shape = parameter.shape;
    shape.front() /= static_cast<std::int64_t>(names.size());
    tensors.push_back({.name = names[i].name,
                       .dtype = parameter.dtype,
                       .shape = std::move(shape),
                       .bytes = parameter.bytes.subspan(i * bytes, bytes)});
  }
  return tensors;
}

/// Writes a folder with the tensors of these parameters, and enough of the other files for a content hash.
inline void write_bert_folder(const std::filesystem::path& folder,
                              const std::map<std::string, record::Safetensors::Entry>& parameters,
                              pretrained::PretrainedHead head) {
  std::vector<record::TensorSlice> tensors;
  for (const auto& [path, parameter] : parameters)
    for (record::TensorSlice& tensor : bert_tensors(path, parameter, head))
      tensors.push_back(std::move(tensor));
  std::filesystem::create_directories(folder);
  record::save_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
  std::ofstream(folder / "config.json") << R"({"model_type": "bert"})"
                                        << "\n";
  std::ofstream(folder / "vocab.txt") << "[UNK]\n";
}

}  // namespace encore::testing

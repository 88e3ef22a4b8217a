// SPDX-License-Identifier: BSD-3-Clause
// export_to_hugging_face(): writes a trained model as a folder that `transformers` opens, as a model of one
// of the families of pretrained/family.hpp. The family and the output of the head decide the class. The
// worker's export calls it; `exp export` writes the model card into the same folder. Options and names of
// files, which pretrained/ has, are a contract with `transformers` and must stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "infer/engine.hpp"
#include "pretrained/tokenizer_files.hpp"
#include "record/safetensors.hpp"

namespace encore::infer {

struct ExportedModel {
  std::string architecture;  ///< "BertForTokenClassification"
  std::string pipeline;      ///< the name of its use on the hub: "token-classification"
  std::int64_t tensors = 0;
  std::int64_t parameters = 0;
  record::StoredType dtype;         ///< type of the weights in the file
  record::StoredType rounded_from;  ///< type of the weights in the model
  std::string weights_sha256;       ///< of model.safetensors
};

/// Writes config.json, model.safetensors and the files of the tokenizer into `folder`, which must exist. With
/// `dtype` ("float32", "float16", "bfloat16") weights are rounded to that type, otherwise they are unchanged.
/// Throws Error that names the option that the format cannot express, or the tensor with a number outside the
/// range of the type; then nothing is written.
ExportedModel export_to_hugging_face(const Engine& engine, const std::filesystem::path& folder,
                                     const std::string& dtype = "");

/// Returns the content of each file of the engine's tokenizer, by file name. `tokenizer_class`: the class in
/// tokenizer_config.json, "" for the default one.
std::map<std::string, std::string> tokenizer_texts(const Engine& engine,
                                                   const pretrained::TokenizerFiles& files,
                                                   const std::string& tokenizer_class);

}  // namespace encore::infer

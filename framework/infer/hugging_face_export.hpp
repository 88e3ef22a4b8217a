// SPDX-License-Identifier: BSD-3-Clause
// Writes a trained model as a folder that `transformers` opens as a BERT. The output of the head decides the
// class of transformers. Place in the flow: the worker's export -> here -> pretrained/, which knows the
// options and the names; these are a contract with `transformers`. `exp export` writes the model card beside
// it.
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

/// Writes config.json, model.safetensors, vocab.txt, tokenizer_config.json and special_tokens_map.json into
/// `folder`, which must exist. With `dtype` ("float32", "float16", "bfloat16") weights are rounded to that
/// type, otherwise they are unchanged. Throws Error that names the option that the format cannot express, or
/// the tensor with a number outside the range of the type; then nothing is written.
ExportedModel export_to_hugging_face(const Engine& engine, const std::filesystem::path& folder,
                                     const std::string& dtype = "");

/// Returns the content of each file of the engine's tokenizer, by file name. `tokenizer_class`: the class in
/// tokenizer_config.json, "" for the default one.
std::map<std::string, std::string> tokenizer_texts(const Engine& engine,
                                                   const pretrained::TokenizerFiles& files,
                                                   const std::string& tokenizer_class);

}  // namespace encore::infer

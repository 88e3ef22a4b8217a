// Export: a trained model as the folder of a BERT that `transformers` opens. Which of its classes that is
// follows from what the head computes. Place in the flow: the worker's export -> here -> pretrained/, which
// knows the options and the names. `exp export` writes the model card beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "infer/engine.hpp"

namespace encore {

struct ExportedModel {
  std::string architecture;  ///< "BertForTokenClassification"
  std::string pipeline;      ///< what the hub calls its use: "token-classification"
  std::int64_t tensors = 0;
  std::int64_t parameters = 0;
  std::string weights_sha256;  ///< of model.safetensors
};

/// Writes config.json, model.safetensors, vocab.txt, tokenizer_config.json and special_tokens_map.json into
/// `folder`, which is there. Throws Error naming the option that such a model cannot have; then nothing is
/// written.
ExportedModel export_to_hugging_face(const Engine& engine, const std::filesystem::path& folder);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// bart_family: BART for the table in family.cpp: an encoder and a decoder that share one table of tokens,
// each with learned positions that begin at row 2 and a norm after its embedding. All values are those of
// `transformers`: change one only if its class has another. Read next: family.hpp for the members,
// bart_names.hpp for the names of tensors.
#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "pretrained/bart_names.hpp"
#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

/// Refuses what only other models of that type do. Most of them are older than their class in `transformers`.
void refuse_other_bart(const nlohmann::json& config) {
  for (const char* name : {"normalize_before", "add_final_layer_norm", "static_position_embeddings"})
    if (is_set(config, name)) throw Error(std::string(name) + " is true, which is not supported");
  for (const char* name : {"is_encoder_decoder", "tie_word_embeddings", "normalize_embedding"})
    if (!is_set(config, name, true)) throw Error(std::string(name) + " is false, which is not supported");
}

std::int64_t bart_first_position(const nlohmann::json&) {
  return 2;  // the offset of BartLearnedPositionalEmbedding
}

PretrainedClass bart_class_of(const HeadPlan& head, const std::string& type) {
  if (pretrained_head_of(head) == PretrainedHead::language_model)
    return {.name = "BartForConditionalGeneration", .pipeline = "text2text-generation"};
  throw Error("model.head.type = \"" + type +
              "\" over a decoder cannot be written as a BART, which has one for the next token");
}

void add_bart_members(nlohmann::json& config, const Options& task) {
  for (const char* option : {"source_start", "target_begins"})
    if (!task.has(option) || !task.flag(option))
      throw Error(
          "task." + std::string(option) +
          " = false cannot be written as a BART, whose text begins with the token `start`; train with "
          "task.source_start = true and task.target_begins = true");
  config["is_encoder_decoder"] = true;
  config["decoder_start_token_id"] = target_start_token(config, task.text("target_start"));
  config["forced_bos_token_id"] = config.at("bos_token_id");
  config["forced_eos_token_id"] = config.at("eos_token_id");
}

}  // namespace

const Family bart_family = {
    .model_type = "bart",
    .name = "BART",
    .tokenizer = &byte_bpe_files,
    .tokenizer_class = "BartTokenizer",
    .config = bart_config,
    .shape = {.decoder = true, .texts_begin = true, .counts_front_rows = false, .epsilon = 1e-5},
    .refuse = refuse_other_bart,
    .first_position = bart_first_position,
    .tensors_of = bart_tensors_of,
    .first_spelling = bart_spelling,
    .amend = amend_bart,
    .is_of_body = is_of_bart_body,
    .is_buffer = is_bart_buffer,
    .class_of = bart_class_of,
    .logit_bias = bart_logit_bias,
    .add_members = add_bart_members};

}  // namespace encore::pretrained

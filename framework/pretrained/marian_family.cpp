// SPDX-License-Identifier: BSD-3-Clause
// marian_family: Marian for the table in family.cpp: BART's two stacks and names, with sinusoidal positions
// that are not parameters (sines before cosines), and no norm after the embedding. All values are those of
// `transformers`: change one only if its class has another. Read next: family.hpp for the members,
// bart_names.hpp for the names.
#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "pretrained/bart_names.hpp"
#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

/// Returns whether the tensor is a table of positions, which some files hold though it is always the same.
bool is_marian_buffer(std::string_view name) {
  return is_bart_buffer(name) || name.ends_with(".embed_positions.weight");
}

bool is_of_marian_body(std::string_view name) {
  return is_of_bart_body(name) && !is_marian_buffer(name);
}

void refuse_other_marian(const nlohmann::json& config) {
  for (const char* name : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    if (is_set(config, name)) throw Error(std::string(name) + " is true, which is not supported");
  for (const char* name : {"is_encoder_decoder", "tie_word_embeddings", "share_encoder_decoder_embeddings",
                           "static_position_embeddings"})
    if (!is_set(config, name, true)) throw Error(std::string(name) + " is false, which is not supported");
  constexpr const char *tokens = "vocab_size", *decoder = "decoder_vocab_size";
  const auto of_decoder = member<std::int64_t>(config, decoder, "an integer");
  if (of_decoder && of_decoder != member<std::int64_t>(config, tokens, "an integer"))
    throw Error(std::string(tokens) + " and " + decoder + " differ, which is not supported");
}

PretrainedClass marian_class_of(const HeadPlan& head, const std::string& type) {
  if (pretrained_head_of(head) == PretrainedHead::language_model)
    return {.name = "MarianMTModel", .pipeline = "translation"};
  throw Error("model.head.type = \"" + type +
              "\" over a decoder cannot be written as a MarianMT, which has one for the next token");
}

void add_marian_members(nlohmann::json& config, const Options& task) {
  for (const char* option : {"source_start", "target_begins"})
    if (task.has(option) && task.flag(option))
      throw Error(
          "task." + std::string(option) +
          " = true cannot be written as a MarianMT, whose text does not begin with a marker; train with "
          "task." +
          std::string(option) + " = false");
  config["decoder_vocab_size"] = config.at("vocab_size");
  config["is_encoder_decoder"] = true;
  config["share_encoder_decoder_embeddings"] = true;
  config["static_position_embeddings"] = true;
  config["tie_word_embeddings"] = true;
  config["decoder_start_token_id"] = target_start_token(config, task.text("target_start"));
  config["forced_eos_token_id"] = config.at("eos_token_id");
  config["bad_words_ids"] = {{config.at(padding_name)}};
}

}  // namespace

const Family marian_family = {.model_type = "marian",
                              .name = "MarianMT",
                              .tokenizer = &marian_files,
                              .tokenizer_class = "MarianTokenizer",
                              .config = bart_config,
                              .shape = {.embedding_norm = false,
                                        .decoder = true,
                                        .positions = config::Positions::sinusoidal,
                                        .position_layout = config::PositionLayout::halves,
                                        .epsilon = 1e-5},
                              .refuse = refuse_other_marian,
                              .tensors_of = bart_tensors_of,
                              .first_spelling = bart_spelling,
                              .amend = amend_bart,
                              .is_of_body = is_of_marian_body,
                              .is_buffer = is_marian_buffer,
                              .class_of = marian_class_of,
                              .logit_bias = bart_logit_bias,
                              .add_members = add_marian_members};

}  // namespace encore::pretrained

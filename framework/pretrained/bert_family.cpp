// SPDX-License-Identifier: BSD-3-Clause
// bert_family, distilbert_family and roberta_family: BERT and its relatives for the table in family.cpp:
// their classes and configurations. All values are those of `transformers`: change one only if its class has
// another. Read next: family.hpp for the members, bert_names.hpp for the names of their tensors.
#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "pretrained/bert_names.hpp"
#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {
namespace {

/// Returns whether the head gives a probability for each class by itself, rather than the best class.
bool gives_probabilities(const HeadPlan& head) {
  return std::ranges::any_of(head.outputs(), [](const OutputRule& output) {
    return output.space == Space::sequences && output.type == ColumnType::numbers;
  });
}

/// Returns whether the head predicts that the second text follows the first, beside the masked tokens.
bool tells_next_text(const HeadPlan& head) {
  return has_parameter(head, "next.weight");
}

bool reads_tokens(const HeadPlan& head) {
  return std::ranges::find(head.reads(), Space::tokens) != head.reads().end();
}

/// Returns the class without the family's name in front.
PretrainedClass class_without_family(const HeadPlan& head, const std::string& type) {
  switch (pretrained_head_of(head)) {
    case PretrainedHead::spans:
      return {.name = "ForQuestionAnswering", .pipeline = "question-answering"};
    case PretrainedHead::language_model:
      if (tells_next_text(head)) return {.name = "ForPreTraining", .pipeline = "fill-mask"};
      return {.name = "ForMaskedLM", .pipeline = "fill-mask"};
    case PretrainedHead::classes:
      if (reads_tokens(head) && head.loss_space() == Space::sequences)
        throw Error("model.head.type = \"" + type +
                    "\" reads all states of a text here, which cannot be written as a BERT: it classifies a "
                    "text by its "
                    "first state; with the head \"linear\" set model.head.pooling = \"cls\" and "
                    "model.head.pooler = true");
      if (reads_tokens(head)) return {.name = "ForTokenClassification", .pipeline = "token-classification"};
      if (has_parameter(head, "pooler.weight"))
        return {.name = "ForSequenceClassification",
                .pipeline = "text-classification",
                .problem = gives_probabilities(head) ? "multi_label_classification" : nullptr};
      throw Error(
          "model.head.pooler = false cannot be written as a BERT: BertForSequenceClassification has a pooler "
          "between the first state and the classes; train with model.head.pooler = true");
    case PretrainedHead::none:
      if (head.parameters().empty()) return {.name = "Model", .pipeline = "feature-extraction"};
      break;
  }
  throw Error(
      "model.head.type = \"" + type +
      "\" cannot be written as a BERT, which has heads for classes of tokens or of sequences, for spans, and "
      "for masked tokens");
}

PretrainedClass bert_class_of(const HeadPlan& head, const std::string& type) {
  PretrainedClass written = class_without_family(head, type);
  written.name.insert(0, "Bert");
  return written;
}

PretrainedClass roberta_class_of(const HeadPlan& head, const std::string& type) {
  PretrainedClass written = class_without_family(head, type);
  if (tells_next_text(head))
    throw Error(
        "task.next_sentence = true cannot be written as a RoBERTa, which has no such head; train with the "
        "tokenizer \"wordpiece\", and it becomes a BERT");
  written.name.insert(0, "Roberta");
  return written;
}

/// Returns the first used row of the table of positions: RoBERTa counts positions from the row after the
/// number of its padding token.
std::int64_t roberta_first_position(const nlohmann::json& config) {
  constexpr std::int64_t usual_padding = 1;  // the default of RobertaConfig
  const std::int64_t padding =
      member<std::int64_t>(config, padding_name, "an integer").value_or(usual_padding);
  if (padding < 0)
    throw Error(std::string(padding_name) + " must be at least 0, found " + std::to_string(padding));
  if (padding > largest_size)
    throw Error(std::string(padding_name) + " must be at most " + std::to_string(largest_size) + ", found " +
                std::to_string(padding));
  return padding + 1;
}

void add_bert_members(nlohmann::json& config, const Options&) {
  config["position_embedding_type"] = "absolute";
}

constexpr const char* segment_table = "bert.embeddings.token_type_embeddings.weight";

}  // namespace

const Family bert_family = {.model_type = "bert",
                            .name = "BERT",
                            .tokenizer = &wordpiece_files,
                            .tensors_of = bert_tensors_of,
                            .first_spelling = bert_spelling,
                            .amend = amend_bert,
                            .is_of_body = is_of_bert_body,
                            .is_buffer = is_bert_buffer,
                            .class_of = bert_class_of,
                            .segment_table = segment_table,
                            .output_bias = bert_output_bias,
                            .shared_bias = "cls.predictions.bias",
                            .add_members = add_bert_members};

const Family distilbert_family = {.model_type = "distilbert",
                                  .name = "DistilBERT",
                                  .tokenizer = &wordpiece_files,
                                  .exported = false,  // written as a BERT: equal names, one segment
                                  .config = {.width = "dim",
                                             .layers = "n_layers",
                                             .heads = "n_heads",
                                             .hidden = "hidden_dim",
                                             .activation = "activation",
                                             .dropout = "dropout",
                                             .attention_dropout = "attention_dropout",
                                             .epsilon = "",
                                             .segments = ""},
                                  .tensors_of = bert_tensors_of,
                                  .first_spelling = bert_spelling,
                                  .amend = amend_bert,
                                  .is_of_body = is_of_bert_body,
                                  .is_buffer = is_bert_buffer,
                                  .class_of = bert_class_of};

const Family roberta_family = {.model_type = "roberta",
                               .name = "RoBERTa",
                               .tokenizer = &byte_bpe_files,
                               .tokenizer_class = "RobertaTokenizer",
                               .shape = {.doubles_separator = true},
                               .first_position = roberta_first_position,
                               .tensors_of = bert_tensors_of,
                               .first_spelling = bert_spelling_of_roberta,
                               .written_spelling = roberta_spelling,
                               .amend = amend_bert,
                               .is_of_body = is_of_bert_body,
                               .is_buffer = is_bert_buffer,
                               .class_of = roberta_class_of,
                               .segment_table = segment_table,
                               .output_bias = bert_output_bias,
                               .shared_bias = "cls.predictions.bias"};

}  // namespace encore::pretrained

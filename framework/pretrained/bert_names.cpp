// SPDX-License-Identifier: BSD-3-Clause
// Maps names of parameters here to names of tensors in BERT, DistilBERT and RoBERTa, and back;
// bert_family.cpp points to these functions. The first spelling is that of BertModel under the prefix
// "bert."; tables of renamings turn the other spellings into it. The names are those of `transformers` and of
// stored checkpoints. Read bert_names.hpp first.
#include "pretrained/bert_names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace encore::pretrained {
namespace {

/// The beginning of one name, and the beginning of another name with the same meaning.
struct Renaming {
  std::string_view from, to;
};

constexpr std::string_view layer_prefix = "bert.encoder.layer.";

/// The parameters without a block.
constexpr Renaming embedding_names[] = {
    {"embedding.tokens", "bert.embeddings.word_embeddings.weight"},
    {"embedding.positions", "bert.embeddings.position_embeddings.weight"},
    {"embedding.segments", "bert.embeddings.token_type_embeddings.weight"},
    {"embedding.norm.gain", "bert.embeddings.LayerNorm.weight"},
    {"embedding.norm.bias", "bert.embeddings.LayerNorm.bias"},
};

/// The parameters of a block, after "encoder.L." and "bert.encoder.layer.L.".
constexpr Renaming block_names[] = {
    {"attention.out.weight", "attention.output.dense.weight"},
    {"attention.out.bias", "attention.output.dense.bias"},
    {"attention.norm.gain", "attention.output.LayerNorm.weight"},
    {"attention.norm.bias", "attention.output.LayerNorm.bias"},
    {"feed_forward.up.weight", "intermediate.dense.weight"},
    {"feed_forward.up.bias", "intermediate.dense.bias"},
    {"feed_forward.down.weight", "output.dense.weight"},
    {"feed_forward.down.bias", "output.dense.bias"},
    {"feed_forward.norm.gain", "output.LayerNorm.weight"},
    {"feed_forward.norm.bias", "output.LayerNorm.bias"},
};
constexpr std::string_view packed_name = "attention.qkv.";
constexpr const char* packed_parts[] = {"query", "key", "value"};

constexpr Renaming classifier_names[] = {
    {"head.pooler.weight", "bert.pooler.dense.weight"},
    {"head.pooler.bias", "bert.pooler.dense.bias"},
    {"head.weight", "classifier.weight"},
    {"head.bias", "classifier.bias"},
};
constexpr Renaming span_names[] = {
    {"head.weight", "qa_outputs.weight"},
    {"head.bias", "qa_outputs.bias"},
};
constexpr Renaming language_model_names[] = {
    {"head.transform.weight", "cls.predictions.transform.dense.weight"},
    {"head.transform.bias", "cls.predictions.transform.dense.bias"},
    {"head.norm.gain", "cls.predictions.transform.LayerNorm.weight"},
    {"head.norm.bias", "cls.predictions.transform.LayerNorm.bias"},
    {"head.bias", "cls.predictions.bias"},
    {"head.output.weight", bert_output_matrix},
    {"head.pooler.weight", "bert.pooler.dense.weight"},
    {"head.pooler.bias", "bert.pooler.dense.bias"},
    {"head.next.weight", "cls.seq_relationship.weight"},
    {"head.next.bias", "cls.seq_relationship.bias"},
};

/// The names of DistilBERT, after "distilbert." if they have it, and those of BERT.
constexpr Renaming distilbert_blocks[] = {
    {"attention.q_lin.", "attention.self.query."},
    {"attention.k_lin.", "attention.self.key."},
    {"attention.v_lin.", "attention.self.value."},
    {"attention.out_lin.", "attention.output.dense."},
    {"sa_layer_norm.", "attention.output.LayerNorm."},
    {"ffn.lin1.", "intermediate.dense."},
    {"ffn.lin2.", "output.dense."},
    {"output_layer_norm.", "output.LayerNorm."},
};
constexpr Renaming distilbert_heads[] = {
    {"vocab_transform.", "cls.predictions.transform.dense."},
    {"vocab_layer_norm.", "cls.predictions.transform.LayerNorm."},
    {"vocab_projector.", "cls.predictions.decoder."},
};

/// The beginnings of RoBERTa's names, and those of BERT. RoBERTa's own pooler, which no head reads, has no
/// such name.
constexpr Renaming roberta_beginnings[] = {
    {"roberta.embeddings.", "bert.embeddings."},
    {"roberta.encoder.", "bert.encoder."},
    {"embeddings.", "bert.embeddings."},
    {"encoder.", "bert.encoder."},
    {"classifier.dense.", "bert.pooler.dense."},
    {"classifier.out_proj.", "classifier."},
    {"lm_head.dense.", "cls.predictions.transform.dense."},
    {"lm_head.layer_norm.", "cls.predictions.transform.LayerNorm."},
    {"lm_head.decoder.", "cls.predictions.decoder."},
    {"lm_head.bias", "cls.predictions.bias"},
};

/// Returns the name that replaces `from`, or "".
template <std::size_t N>
std::string_view find_name(const Renaming (&names)[N], std::string_view from) {
  const auto* found = std::ranges::find(names, from, &Renaming::from);
  return found == std::end(names) ? std::string_view() : found->to;
}

/// Replaces the beginning of the name if the table has it.
template <std::size_t N>
std::string rename_beginning(const Renaming (&names)[N], std::string_view name) {
  for (const Renaming& renaming : names)
    if (name.starts_with(renaming.from))
      return std::string(renaming.to) + std::string(name.substr(renaming.from.size()));
  return std::string(name);
}

bool drop_beginning(std::string_view& name, std::string_view beginning) {
  if (!name.starts_with(beginning)) return false;
  name.remove_prefix(beginning.size());
  return true;
}

/// Replaces "LayerNorm.gamma" and "LayerNorm.beta", the names of the first BERT.
std::string with_new_norm_names(std::string name) {
  for (const Renaming& renaming : {Renaming{".gamma", ".weight"}, Renaming{".beta", ".bias"}})
    if (name.ends_with(renaming.from))
      return name.substr(0, name.size() - renaming.from.size()) + std::string(renaming.to);
  return name;
}

std::vector<std::string> block_tensors_of(std::string_view path) {
  const std::string_view number = cut_number(path);
  if (number.empty()) return {};
  const std::string block = std::string(layer_prefix) + std::string(number);
  if (drop_beginning(path, packed_name)) {
    std::vector<std::string> parts;
    for (const char* part : packed_parts)
      parts.push_back(block + "attention.self." + part + "." + std::string(path));
    return parts;
  }
  const std::string_view name = find_name(block_names, path);
  if (name.empty()) return {};
  return {block + std::string(name)};
}

std::string_view head_tensor_of(std::string_view path, PretrainedHead head) {
  switch (head) {
    case PretrainedHead::classes:
      return find_name(classifier_names, path);
    case PretrainedHead::spans:
      return find_name(span_names, path);
    case PretrainedHead::language_model:
      return find_name(language_model_names, path);
    case PretrainedHead::none:
      break;
  }
  return {};
}

}  // namespace

std::vector<FamilyTensor> bert_tensors_of(std::string_view path, PretrainedHead head) {
  std::vector<std::string> names;
  if (const std::string_view name = find_name(embedding_names, path); !name.empty())
    names.emplace_back(name);
  else if (const std::string_view name = head_tensor_of(path, head); !name.empty())
    names.emplace_back(name);
  else if (drop_beginning(path, "encoder."))
    names = block_tensors_of(path);
  std::vector<FamilyTensor> tensors;
  for (std::string& name : names) tensors.push_back({.name = std::move(name)});
  return tensors;
}

std::string bert_spelling(std::string_view name) {
  const bool prefixed = drop_beginning(name, "bert.") || drop_beginning(name, "distilbert.");
  if (drop_beginning(name, "transformer.layer.")) {
    const std::string_view number = cut_number(name);
    return std::string(layer_prefix) + std::string(number) + rename_beginning(distilbert_blocks, name);
  }
  const std::string body = with_new_norm_names(std::string(name));
  const bool of_bert = prefixed || body.starts_with("embeddings.") || body.starts_with("encoder.") ||
                       body.starts_with("pooler.");
  return of_bert ? "bert." + body : rename_beginning(distilbert_heads, body);
}

std::string bert_spelling_of_roberta(std::string_view name) {
  return rename_beginning(roberta_beginnings, name);
}

std::string roberta_spelling(std::string_view name, bool pooled) {
  for (const Renaming& renaming : roberta_beginnings) {
    const bool of_pooled_classes = renaming.from.starts_with("classifier.");
    if (name.starts_with(renaming.to) && (!of_pooled_classes || pooled))
      return std::string(renaming.from) + std::string(name.substr(renaming.to.size()));
  }
  return std::string(name);
}

void amend_bert(TensorSpellings& names) {
  // DistilBERT's classes follow another layer than a pooler, so they cannot be used here.
  if (names.contains("pre_classifier.weight"))
    std::erase_if(names, [](const auto& entry) { return entry.first.starts_with("classifier."); });
  // A projection with its own bias beside the one of the predictions has a copy of it.
  if (const auto bias = names.find("cls.predictions.decoder.bias"); bias != names.end())
    names.emplace("cls.predictions.bias", bias->second);
}

bool is_bert_buffer(std::string_view name) {
  return name == "bert.embeddings.position_ids" || name == "bert.embeddings.token_type_ids";
}

bool is_of_bert_body(std::string_view name) {
  return (name.starts_with("bert.embeddings.") || name.starts_with("bert.encoder.")) && !is_bert_buffer(name);
}

}  // namespace encore::pretrained

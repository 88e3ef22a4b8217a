// What the tensors of BERT, DistilBERT and RoBERTa are called. A file has the first spelling ("bert." in
// front) with or without "bert.", with gamma and beta for weight and bias of a norm (the first BERT),
// DistilBERT's or RoBERTa's. Place in the flow: the families of bert_family.cpp point here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pretrained/family.hpp"

namespace encore {

/// The matrix of the logits of masked words, where it is not the table of pieces, and its bias.
inline constexpr const char* bert_output_matrix = "cls.predictions.decoder.weight";
inline constexpr const char* bert_output_bias = "cls.predictions.decoder.bias";

/// The tensors, in the first spelling, that hold a parameter of a model with this head; none where BERT has
/// no such parameter.
std::vector<FamilyTensor> bert_tensors_of(std::string_view path, PretrainedHead head);

/// The first spelling of a name of BERT or DistilBERT.
std::string bert_spelling(std::string_view name);
/// The first spelling of a name of RoBERTa.
std::string bert_spelling_of_roberta(std::string_view name);
/// And back. Of classes whose head has a pooler RoBERTa calls the pooler part of the classifier.
std::string roberta_spelling(std::string_view name, bool pooled);

/// Leaves out what means nothing here, and adds what a file may have under another name only.
void amend_bert(TensorSpellings& names);

/// Of a name in the first spelling: a tensor that is no parameter; one of embeddings and blocks.
bool is_bert_buffer(std::string_view name);
bool is_of_bert_body(std::string_view name);

}  // namespace encore

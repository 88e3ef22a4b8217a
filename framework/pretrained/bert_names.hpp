// SPDX-License-Identifier: BSD-3-Clause
// bert_tensors_of() and others: the names of the tensors of BERT, DistilBERT and RoBERTa. Place in the flow:
// the families of bert_family.cpp point to these functions. A file has the first spelling ("bert." in front)
// with or without "bert.", with gamma and beta for weight and bias of a norm (the first BERT), or the
// spelling of DistilBERT or RoBERTa. The names are those of `transformers`, so they never change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pretrained/family.hpp"

namespace encore::pretrained {

/// The matrix of the logits of masked words, if it is not the table of tokens, and its bias.
inline constexpr const char* bert_output_matrix = "cls.predictions.decoder.weight";
inline constexpr const char* bert_output_bias = "cls.predictions.decoder.bias";

/// Returns the tensors, in the first spelling, that hold a parameter of a model with this head; none if BERT
/// has no such parameter.
std::vector<FamilyTensor> bert_tensors_of(std::string_view path, PretrainedHead head);

/// Returns the first spelling of a name of BERT or DistilBERT.
std::string bert_spelling(std::string_view name);
/// Returns the first spelling of a name of RoBERTa.
std::string bert_spelling_of_roberta(std::string_view name);
/// Converts it back. In classes whose head has a pooler, RoBERTa makes the pooler part of the classifier.
std::string roberta_spelling(std::string_view name, bool pooled);

/// Drops names that mean nothing here, and adds names that a file may have in another form only.
void amend_bert(TensorSpellings& names);

/// Return, for a name in the first spelling, whether the tensor is not a parameter, and whether it is one of
/// embeddings and blocks.
bool is_bert_buffer(std::string_view name);
bool is_of_bert_body(std::string_view name);

}  // namespace encore::pretrained

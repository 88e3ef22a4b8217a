// Names of tensors: which tensors of a BERT as `transformers` saves it make up a parameter of a model, and so
// the other way round too. A parameter is one tensor, or several with equal rows one below the other
// (queries, keys and values). Place in the flow: the worker asks when it loads a folder or writes one
// (infer/pretrained_weights.cpp); bert_config.hpp does the same for options.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <encore/head.hpp>

namespace encore {

/// The parameter whose rows are positions.
inline constexpr const char* position_table = "embedding.positions";

/// What a head computes, as far as its tensors are called after it.
enum class BertHead : std::uint8_t {
  none,            ///< nothing that BERT has a name for
  classes,         ///< BertForTokenClassification, BertForSequenceClassification: a matrix over states
  spans,           ///< BertForQuestionAnswering: two scores per token, a loss per sequence
  language_model,  ///< BertForMaskedLM: over the table of tokens
};
BertHead bert_head_of(const HeadPlan& head);

/// Whose spelling a file has.
enum class BertFamily : std::uint8_t {
  bert,  ///< DistilBERT too
  roberta,
};

/// The tensors of a parameter, in the spelling of BertModel under the prefix "bert."; none: BERT has no such
/// parameter.
std::vector<std::string> bert_tensors_of(std::string_view path, BertHead head);

/// That spelling of a name that a file has: with or without "bert.", with gamma and beta for weight and bias
/// of a norm (the first BERT), DistilBERT's or RoBERTa's.
std::string bert_spelling(std::string_view name, BertFamily family = BertFamily::bert);
/// The way back, of a name of bert_tensors_of. Of classes whose head has a pooler RoBERTa calls the pooler
/// part of the classifier.
std::string spelling_of(BertFamily family, std::string_view name, bool pooled_classes);

/// Part of embedding or encoder, which a model of that shape must have. `name`: of bert_spelling.
bool is_of_bert_body(std::string_view name);
/// Holds no weights, only numbers that count up. `name`: of bert_spelling.
bool is_bert_buffer(std::string_view name);

/// The names of one file.
class BertNames {
 public:
  /// Throws Error where two of them mean the same.
  explicit BertNames(const std::vector<std::string>& names, BertFamily family = BertFamily::bert);

  /// As bert_tensors_of, spelled as in the file; a tensor that the file does not have as there.
  std::vector<std::string> tensors_of(std::string_view path, BertHead head) const;

 private:
  std::map<std::string, std::string> names_;  ///< in the file, by bert_spelling
};

}  // namespace encore

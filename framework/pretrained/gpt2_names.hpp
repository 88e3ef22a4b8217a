// Names of GPT-2's tensors, as bert_names.hpp has those of BERT. Its matrices are those of a Conv1D, (in,
// out), and so transposed.
#pragma once

#include <string>
#include <string_view>

namespace encore {

struct Gpt2Tensor {
  std::string name;         ///< in GPT2LMHeadModel, "transformer." in front; empty: it has no such parameter
  bool transposed = false;  ///< (in, out), where the parameter is (out, in)
};
Gpt2Tensor gpt2_tensor_of(std::string_view path);

/// With "transformer." in front, which GPT2Model alone does not have.
std::string gpt2_spelling(std::string_view name);

/// Part of embedding or blocks. `name`: of gpt2_spelling.
bool is_of_gpt2_body(std::string_view name);
/// Holds no weights of its own: the mask of an attention, the output that is the table of the embedding.
bool is_gpt2_buffer(std::string_view name);

}  // namespace encore

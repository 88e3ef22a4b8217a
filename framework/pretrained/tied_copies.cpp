// SPDX-License-Identifier: BSD-3-Clause
// require_equal_copies(): compares the bytes of tensors that a file holds twice. folder_settings.cpp calls it
// when a folder is checked. A difference must be refused, because Encore keeps one of the two tensors, so the
// model would differ silently from that of the folder. Read folder_settings.hpp first, which says why.
#include "pretrained/folder_settings.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>

#include "pretrained/hugging_face_folder.hpp"
#include "record/safetensors.hpp"

namespace encore::pretrained {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Returns pairs of a copy and its original, in the family's first spelling.
Pairs pairs_of(const Family& family, CopiesOf which) {
  if (which == CopiesOf::logits)
    return {{"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
            {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
  const std::string type = family.model_type;
  if (type == "gpt2") return {{"lm_head.weight", "transformer.wte.weight"}};
  if (type == "t5") {
    Pairs pairs = {{"encoder.embed_tokens.weight", "shared.weight"},
                   {"decoder.embed_tokens.weight", "shared.weight"}};
    if (which == CopiesOf::table_and_output) pairs.emplace_back(family.output_matrix, "shared.weight");
    return pairs;
  }
  return {{"model.encoder.embed_tokens.weight", "model.shared.weight"},
          {"model.decoder.embed_tokens.weight", "model.shared.weight"},
          {"lm_head.weight", "model.shared.weight"}};
}

}  // namespace

void require_equal_copies(const std::filesystem::path& folder, const Family& family, CopiesOf which) {
  const record::Safetensors file(folder / tensors_file);
  std::map<std::string, std::string> names;  // names in the file, by the first spelling
  for (const auto& [name, entry] : file.tensors()) names.emplace(family.first_spelling(name), name);
  for (const auto& [copy, original] : pairs_of(family, which)) {
    const auto one = names.find(copy), other = names.find(original);
    if (one == names.end() || other == names.end()) continue;
    const record::Safetensors::Entry &a = file.tensors().at(one->second),
                                     &b = file.tensors().at(other->second);
    if (a.dtype == b.dtype && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes)) continue;
    throw Error(
        file.path().string() + " holds \"" + one->second + "\" and \"" + other->second +
        "\" with different values, which config.json declares equal (tie_word_embeddings); if the first is "
        "for the logits, set tie_word_embeddings = false there");
  }
}

}  // namespace encore::pretrained

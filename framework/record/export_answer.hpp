// SPDX-License-Identifier: BSD-3-Clause
// ExportAnswer: the answer of `encore-worker export` about the folder that it has filled. The worker writes
// it (worker/export_verb.cpp), `exp export` prints it (cli/export_verb.cpp) and writes the model card from it
// (report/model_card.hpp). Users see these members as JSON, so they keep their names.
#pragma once

#include <cstdint>
#include <string>

#include "base/json_fields.hpp"

namespace encore::record {

struct ExportAnswer {
  std::string architecture;  ///< "BertForTokenClassification"
  std::string pipeline;      ///< "token-classification"
  std::int64_t tensors = 0;
  std::int64_t parameters = 0;
  std::string dtype, rounded_from;  ///< of the weights in the folder, and of those that were scored
  std::int64_t step = 0;
  std::string weights_file, weights_sha256;
  std::string library = "transformers";  ///< as the hub calls what opens it: "onnx"
  std::string use = {};                  ///< Markdown: how it is asked; of transformers the usual lines
};
void list(auto& field, A<ExportAnswer> auto& answer) {
  field("architecture", answer.architecture);
  field("pipeline", answer.pipeline);
  field("tensors", answer.tensors);
  field("parameters", answer.parameters);
  field("dtype", answer.dtype);
  field("rounded_from", answer.rounded_from);
  field("step", answer.step);
  field("weights_file", answer.weights_file);
  field("weights_sha256", answer.weights_sha256);
  field("library", answer.library);
  field.optional("use", answer.use);
}

}  // namespace encore::record

// SPDX-License-Identifier: BSD-3-Clause
// model_card(): the model card of an exported run, as Markdown with the head that the Hugging Face hub reads:
// its training, its scores with their uncertainty, and how to verify them. Place in the flow: `exp export`
// writes it as README.md beside the weights, from the database and the worker's files.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// Facts about the exported files, as the worker reported them.
struct CardModel {
  std::string architecture;  ///< "BertForTokenClassification"
  std::string pipeline;      ///< "token-classification"
  std::int64_t parameters = 0;
  std::string dtype, rounded_from;  ///< of the weights in the folder, and of those that were scored
  std::int64_t step = 0;
  std::string weights_file, weights_sha256;
  std::string library = "transformers";  ///< the hub's name for the library that opens it: "onnx"
  std::string use = {};                  ///< Markdown: how to use it; empty: the usual lines of transformers
};

/// Returns the complete runs of the same question except for the seed, in the same numeric environment,
/// including this one, by seed: the basis of an interval.
std::vector<RunRow> replicates_of(Store& store, const RunRow& run);

std::string model_card(Store& store, const RunRow& run, const CardModel& model);

}  // namespace encore

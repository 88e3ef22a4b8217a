// The model card of an exported run, as Markdown with the head that the Hugging Face hub reads: what it was
// trained on, how good it is and how sure that is, and how to prove it. Place in the flow: `exp export`
// writes it as README.md beside the weights; everything in it comes from the database and from what the
// worker wrote.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// What the worker has written.
struct CardModel {
  std::string architecture;  ///< "BertForTokenClassification"
  std::string pipeline;      ///< "token-classification"
  std::int64_t parameters = 0;
  std::string dtype, rounded_from;  ///< of the weights in the folder, and of those that were scored
  std::int64_t step = 0;
  std::string weights_file, weights_sha256;
  std::string library = "transformers";  ///< as the hub calls what opens it: "onnx"
  std::string use = {};                  ///< Markdown: how it is asked; of transformers the usual lines
};

/// The complete runs of the same question but for the seed, in the same numeric environment, this one
/// included: what an interval is made of. By seed.
std::vector<RunRow> replicates_of(Store& store, const RunRow& run);

std::string model_card(Store& store, const RunRow& run, const CardModel& model);

}  // namespace encore

// The model card of an exported run, as Markdown with the head that the Hugging Face hub reads: what it was
// trained on, how good it is and how sure that is, and how to prove it. Place in the flow: `exp export`
// writes it as README.md beside the weights; everything in it comes from the database and from what the
// worker wrote.
#pragma once

#include <string>
#include <vector>

#include "record/export_answer.hpp"
#include "store/store.hpp"

namespace encore {

/// The complete runs of the same question but for the seed, in the same numeric environment, this one
/// included: what an interval is made of. By seed.
std::vector<RunRow> replicates_of(Store& store, const RunRow& run);

std::string model_card(Store& store, const RunRow& run, const ExportAnswer& model);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// model_card(): the model card of an exported run, as Markdown with the head that the Hugging Face hub reads:
// its training, its scores with their uncertainty, and how to verify them. Place in the flow: `exp export`
// writes it as README.md beside the weights, from the database and the worker's files.
#pragma once

#include <string>
#include <vector>

#include "record/export_answer.hpp"
#include "store/store.hpp"

namespace encore::report {

/// The complete runs of the same question except for the seed, in the same numeric environment, this one
/// included: the basis of an interval. By seed.
std::vector<store::RunRow> replicates_of(store::Store& store, const store::RunRow& run);

std::string model_card(store::Store& store, const store::RunRow& run, const record::ExportAnswer& model);

}  // namespace encore::report

// Whether the truth of a set leaves a measure anything to count. Without a true label F1 is 0 whatever a
// model predicts, and without a reference of four words BLEU counts nothing but mistakes. Place in the flow:
// statistics of the development set -> here -> which checkpoint is kept (record/best_checkpoint.hpp).
#pragma once

#include <span>
#include <string_view>

#include <encore/measure.hpp>
#include <encore/statistics.hpp>

namespace encore {

/// False where the measure of this name ("f1", "f1/PER") is undefined on the set, whatever was predicted. A
/// name that is none of `measures`, such as "loss", and a measure without reducer are defined.
bool is_defined_on(std::span<const Measure> measures, std::string_view name, const Statistics& statistics);

}  // namespace encore

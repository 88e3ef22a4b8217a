// Stored predictions: which file is the one that was recorded, and what stands in it. Place in the flow: the
// worker writes predictions/<split>.jsonl (tasks/ner.cpp); comparison.cpp tests on them, examples.cpp shows
// them, classes.cpp counts what was taken for what.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// The file of a run's artifact. Throws Error when none was recorded, when it is gone, and when its content
/// is not what was recorded.
std::filesystem::path recorded_artifact(Store& store, const RunRow& run, const std::string& name);

/// One sentence, with the tags in IOB2.
struct PredictedSentence {
  std::vector<std::string> words, truth, predicted;  ///< `predicted` may be shorter: the rest was cut
};

/// The predictions of a run on "dev" or "test". Throws Error as above, and for a line that is no prediction.
std::vector<PredictedSentence> read_predictions(Store& store, const RunRow& run, const std::string& split);

}  // namespace encore

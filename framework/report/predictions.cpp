// See predictions.hpp.
#include "report/predictions.hpp"

#include <sstream>

#include "config/input_file.hpp"
#include "config/json_text.hpp"
#include "data/hash.hpp"
#include "record/run_paths.hpp"

namespace encore {

std::filesystem::path recorded_artifact(Store& store, const RunRow& run, const std::string& name) {
  for (const ArtifactRow& artifact : store.read_artifacts(run.number)) {
    if (artifact.name != name) continue;
    std::filesystem::path file = path_below(store.run_folder(run.id), artifact.path);
    if (!std::filesystem::exists(file)) throw Error(file.string() + " is gone");
    if (sha256_of_file(file) != artifact.sha256)
      throw Error(file.string() + " is not the file that was recorded");
    return file;
  }
  throw Error("run " + run.name + " stored no " + name);
}

std::vector<PredictedSentence> read_predictions(Store& store, const RunRow& run, const std::string& split) {
  const std::filesystem::path file = recorded_artifact(store, run, "predictions/" + split + ".jsonl");
  std::istringstream in(read_file(file));
  std::vector<PredictedSentence> sentences;
  const auto refuse = [&](const std::string& problem) {
    throw Error(file.string() + ":" + std::to_string(sentences.size() + 1) + ": " + problem);
  };
  for (std::string line; std::getline(in, line);) {
    try {
      const nlohmann::json example = parse_json(line);
      PredictedSentence sentence;
      example.at("words").get_to(sentence.words);
      example.at("truth").get_to(sentence.truth);
      example.at("predicted").get_to(sentence.predicted);
      if (sentence.words.size() != sentence.truth.size() || sentence.predicted.size() > sentence.truth.size())
        refuse("has not one tag for each word");
      sentences.push_back(std::move(sentence));
    } catch (const JsonError&) {
      refuse("is no JSON object with \"words\", \"truth\" and \"predicted\"");
    } catch (const nlohmann::json::exception&) {
      refuse("is no JSON object with \"words\", \"truth\" and \"predicted\"");
    }
  }
  return sentences;
}

}  // namespace encore

// evaluate: a run's best checkpoint on any CoNLL file.
#include <iostream>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "tasks/ner.hpp"
#include "train/trained_model.hpp"
#include "worker/verbs.hpp"

namespace encore {

int evaluate_verb(const TrainedRunArguments& run, const std::filesystem::path& file) {
  const Dataset data = load_conll(file, "evaluation set");
  const Device device;
  TrainedModel model(run.folder, run.plugin_folders, device);
  const EncodedSet encoded =
      encode_sentences(data.sentences, model.tokenizer(), model.labels(), model.experiment().data.max_length);
  const Evaluation evaluation = model.run(encoded.examples);
  const NerScore score = score_sentences([&](std::size_t i) { return data.sentences[i].tags; },
                                         evaluation.predictions, model.labels());

  nlohmann::json measures = nlohmann::json::object();
  for (const Measure& measure : ner_measures("file", score)) measures[measure.name.substr(5)] = measure.value;
  measures["loss"] = evaluation.loss;
  nlohmann::json unseen = nlohmann::json::object();
  for (const auto& [type, count] : encoded.report.unseen_entities) unseen[type] = count;
  const nlohmann::json result = {
      {"step", model.step()},
      {"file", file.string()},
      {"sha256", data.sha256},
      {"sentences", data.sentences.size()},
      {"words", data.words},
      {"cut_words", encoded.report.cut_words},
      {"unseen_entities", unseen},
      {"measures", measures},
      {"confusion", {{"types", score.confusion_names}, {"words", score.confusion}}},
      {"table", score.table()}};
  std::cout << result.dump() << '\n';
  return 0;
}

}  // namespace encore

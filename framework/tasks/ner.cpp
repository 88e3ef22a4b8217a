// NerTask: sets, targets and scores of entity recognition.
#include "tasks/ner.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace encore {

NerTask::NerTask(const DataTable& data) : max_length_(data.max_length) {
  sets_[index(Split::train)] = load_conll(data.train, "training set");
  sets_[index(Split::dev)] = load_conll(data.dev, "development set");
  if (!data.test.empty()) sets_[index(Split::test)] = load_conll(data.test, "test set");
  labels_ = make_labels(*sets_[index(Split::train)]);
}

WordCounts NerTask::word_counts() const {
  return sets_[index(Split::train)]->word_counts();
}

void NerTask::encode(const Tokenizer& tokenizer) {
  for (Split split : {Split::train, Split::dev, Split::test})
    if (has(split))
      encoded_[index(split)] =
          encode_sentences(sets_[index(split)]->sentences, tokenizer, labels_, max_length_);
}

std::vector<std::string> NerTask::notes() const {
  std::vector<std::string> notes;
  for (Split split : {Split::train, Split::dev, Split::test}) {
    if (!has(split)) continue;
    const Dataset& data = *sets_[index(split)];
    const EncodeReport& report = encoded_[index(split)].report;
    const std::string name = name_of(split);
    notes.push_back(name + ": " + std::to_string(data.sentences.size()) + " sentences, " +
                    std::to_string(data.words) + " words, " + std::to_string(data.entity_count()) +
                    " entities, tags in " + std::string(name_of(data.scheme)));
    const std::string cut = report.cut_message(static_cast<std::int64_t>(data.sentences.size()), max_length_);
    if (!cut.empty()) notes.push_back(name + ": " + cut);
    if (data.malformed_tags > 0)
      notes.push_back(name + ": " + std::to_string(data.malformed_tags) +
                      " tags break their scheme and are read as starts of entities");
    for (const auto& [type, count] : report.unseen_entities)
      notes.push_back(name + ": the label \"" + type + "\" of " + std::to_string(count) +
                      " entities does not stand in the training set; they are scored as missed");
  }
  return notes;
}

std::vector<std::string> tags_of(const std::vector<std::int32_t>& classes, const Labels& labels) {
  std::vector<std::string> tags;
  tags.reserve(classes.size());
  for (std::int32_t label : classes) tags.push_back(labels.name(label));
  return tags;
}

NerScore score_sentences(std::span<const Sentence> sentences, const Predictions& predictions,
                         const Labels& labels) {
  ENCORE_REQUIRE(predictions.size() == sentences.size(), "every sentence has a prediction");
  NerScorer scorer;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    scorer.add(sentences[i].tags, tags_of(predictions[i], labels));
  return scorer.score();
}

std::vector<Measure> ner_measures(const std::string& split, const NerScore& score) {
  std::vector<Measure> measures = {{split + "/f1", score.micro.f1()},
                                   {split + "/precision", score.micro.precision()},
                                   {split + "/recall", score.micro.recall()},
                                   {split + "/f1_macro", score.macro_f1},
                                   {split + "/token_accuracy", score.token_accuracy()}};
  for (const auto& [type, counts] : score.types) {
    measures.push_back({split + "/f1/" + type, counts.f1()});
    measures.push_back({split + "/precision/" + type, counts.precision()});
    measures.push_back({split + "/recall/" + type, counts.recall()});
  }
  return measures;
}

std::vector<Measure> NerTask::score(Split split, const Predictions& predictions) const {
  return ner_measures(name_of(split), score_sentences(sets_[index(split)]->sentences, predictions, labels_));
}

void NerTask::save_predictions(Split split, const Predictions& predictions,
                               const std::filesystem::path& path) const {
  const std::vector<Sentence>& sentences = sets_[index(split)]->sentences;
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    out << nlohmann::json{{"example", i},
                          {"words", sentences[i].words},
                          {"truth", sentences[i].tags},
                          {"predicted", tags_of(predictions[i], labels_)}}
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << '\n';
  out.close();
  if (!out) throw Error(path.string() + ": cannot write the predictions; is the disk full?");
}

std::unique_ptr<Task> make_task(const Experiment& experiment) {
  // The schema of task.type admits nothing else.
  ENCORE_REQUIRE(experiment.task.type == "ner", "task.type is checked when the experiment is read");
  return std::make_unique<NerTask>(experiment.data);
}

}  // namespace encore

// NerTask: sets, targets and scores of entity recognition.
#include "tasks/ner.hpp"

#include <bit>
#include <fstream>

#include <nlohmann/json.hpp>

#include "data/labels.hpp"
#include "record/specification.hpp"

namespace encore {

namespace {

/// Raised whenever the same files and tokenizer give other examples, or the cache's file another form.
constexpr int cache_format = 2;

}  // namespace

NerTask::NerTask(const DataTable& data, ContentHashes planned) : data_(data), planned_(std::move(planned)) {}

// --- reading ---

const std::string& NerTask::path(Split split) const {
  return split == Split::train ? data_.train : split == Split::dev ? data_.dev : data_.test;
}

Dataset NerTask::read(Split split) const {
  const char* what = split == Split::train ? "training set"
                     : split == Split::dev ? "development set"
                                           : "test set";
  Dataset data = load_conll(path(split), what);
  if (const auto planned = planned_.find(name_of(split)); planned != planned_.end())
    require_planned({path(split), planned->second}, name_of(split), data.sha256);
  return data;
}

const Dataset& NerTask::require_read(Split split) {
  std::optional<Dataset>& data = datasets_[index(split)];
  if (!data) data = read(split);
  return *data;
}

void NerTask::read() {
  for (const Split split : all_splits)
    if (has(split)) require_read(split);
  sets_.labels = make_labels(*datasets_[index(Split::train)]);
}

WordCounts NerTask::word_counts() {
  return require_read(Split::train).word_counts();
}

// --- encoding ---

void NerTask::encode(const Tokenizer& tokenizer, int threads) {
  read();
  sets_ = encode_ner(datasets_, tokenizer, data_.max_length, threads);
  datasets_[index(Split::train)].reset();  // nobody asks for its words again, and they take the most memory
}

std::string NerTask::key(const std::string& encoding) const {
  const nlohmann::json key = {
      {"format", cache_format}, {"byte_order", std::endian::native == std::endian::little ? "little" : "big"},
      {"task", "ner"},          {"max_length", data_.max_length},
      {"files", planned_},      {"encoding", encoding}};
  return key.dump();
}

bool NerTask::load_encoded(const TokenCache& cache, const std::string& encoding) {
  if (planned_.empty()) return false;
  const std::shared_ptr<const Safetensors> file = cache.load(key(encoding), cache_notes_);
  if (!file) return false;
  try {
    sets_ = ner_sets_in(file);
    return true;
  } catch (const Error& error) {
    cache_notes_.push_back(std::string("a file of the token cache is made anew: ") + error.what());
    return false;
  }
}

void NerTask::save_encoded(const TokenCache& cache, const std::string& encoding) {
  if (!planned_.empty()) cache.save(key(encoding), tensors_of(sets_), metadata_of(sets_), cache_notes_);
}

const NerSet& NerTask::encoded(Split split) const {
  ENCORE_REQUIRE(sets_.sets[index(split)], std::string("the ") + name_of(split) + " set is encoded");
  return *sets_.sets[index(split)];
}

// --- what is told and scored ---

Notes NerTask::notes() const {
  Notes notes = cache_notes_;
  for (const Split split : all_splits) {
    if (!has(split)) continue;
    const DatasetSummary& data = encoded(split).summary;
    const EncodeReport& report = set(split).report;
    const auto sentences = static_cast<std::int64_t>(set(split).examples.size());
    const std::string name = name_of(split);
    notes.push_back(name + ": " + std::to_string(sentences) + " sentences, " + std::to_string(data.words) +
                    " words, " + std::to_string(data.entity_count()) + " entities, tags in " +
                    std::string(name_of(data.scheme)));
    if (data.entity_count() == 0)
      notes.push_back(name + ": no word belongs to an entity, so its F1 is 0 whatever a model finds" +
                      (split == Split::dev ? ", and chooses no checkpoint" : ""));
    const std::string cut = report.cut_message(sentences, data_.max_length);
    if (!cut.empty()) notes.push_back(name + ": " + cut);
    if (data.malformed_tags > 0) notes.push_back(name + ": " + data.malformed_message());
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

NerScore score_sentences(const std::function<std::vector<std::string>(std::size_t)>& truth,
                         const Predictions& predictions, const Labels& labels) {
  NerScorer scorer;
  for (std::size_t i = 0; i < predictions.size(); ++i) scorer.add(truth(i), tags_of(predictions[i], labels));
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
  ENCORE_REQUIRE(predictions.size() == set(split).examples.size(), "every sentence has a prediction");
  const NerTruth truth(sets_, encoded(split));
  return ner_measures(name_of(split), score_sentences([&](std::size_t i) { return truth.tags(i); },
                                                      predictions, sets_.labels));
}

void NerTask::save_predictions(Split split, const Predictions& predictions,
                               const std::filesystem::path& path) const {
  const std::optional<Dataset>& known = datasets_[index(split)];
  const Dataset data = known ? Dataset() : read(split);
  const std::vector<Sentence>& sentences = known ? known->sentences : data.sentences;
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    out << nlohmann::json{{"example", i},
                          {"words", sentences[i].words},
                          {"truth", sentences[i].tags},
                          {"predicted", tags_of(predictions[i], sets_.labels)}}
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << '\n';
  out.close();
  if (!out) throw Error(path.string() + ": cannot write the predictions; is the disk full?");
}

std::unique_ptr<Task> make_task(const Experiment& experiment, ContentHashes planned) {
  // The schema of task.type admits nothing else.
  ENCORE_REQUIRE(experiment.task.type == "ner", "task.type is checked when the experiment is read");
  return std::make_unique<NerTask>(experiment.data, std::move(planned));
}

}  // namespace encore

// See ner_sets.hpp.
#include "tasks/ner_sets.hpp"

#include <numeric>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "config/json_text.hpp"
#include "data/labels.hpp"
#include "tasks/task.hpp"

namespace encore {
namespace {

using nlohmann::json;

// --- tags as numbers ---

/// Numbers tags in the order in which they first come.
class TagNumbers {
 public:
  explicit TagNumbers(const std::vector<std::string>& labels) {
    for (const std::string& label : labels) number(label);
  }
  std::int32_t number(const std::string& tag) {
    const auto [found, added] = numbers_.emplace(tag, static_cast<std::int32_t>(names_.size()));
    if (added) names_.push_back(tag);
    return found->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

// --- the form in a file ---

json to_json(const DatasetSummary& summary) {
  json first_malformed = json::array();
  for (const MalformedTag& each : summary.first_malformed) first_malformed.push_back({each.line, each.tag});
  return {{"scheme", static_cast<int>(summary.scheme)},
          {"columns", summary.columns},
          {"words", summary.words},
          {"entities", summary.entities},
          {"malformed_tags", summary.malformed_tags},
          {"first_malformed", first_malformed}};
}

DatasetSummary summary_from(const json& text) {
  DatasetSummary summary;
  summary.scheme = static_cast<TagScheme>(text.at("scheme").get<int>());
  summary.columns = text.at("columns");
  summary.words = text.at("words");
  summary.entities = text.at("entities").get<std::map<std::string, std::int64_t>>();
  summary.malformed_tags = text.at("malformed_tags");
  for (const json& each : text.at("first_malformed"))
    summary.first_malformed.push_back({each.at(0), each.at(1)});
  return summary;
}

json to_json(const EncodeReport& report) {
  return {{"rows", report.rows},
          {"longest", report.longest},
          {"pieces", report.pieces},
          {"unknown_pieces", report.unknown_pieces},
          {"cut_sentences", report.cut_sentences},
          {"cut_words", report.cut_words},
          {"cut_entities", report.cut_entities},
          {"unseen_entities", report.unseen_entities}};
}

EncodeReport report_from(const json& text) {
  EncodeReport report;
  report.rows = text.at("rows");
  report.longest = text.at("longest");
  report.pieces = text.at("pieces");
  report.unknown_pieces = text.at("unknown_pieces");
  report.cut_sentences = text.at("cut_sentences");
  report.cut_words = text.at("cut_words");
  report.cut_entities = text.at("cut_entities");
  report.unseen_entities = text.at("unseen_entities").get<std::map<std::string, std::int64_t>>();
  return report;
}

struct NamedArray {
  const char* name;
  std::span<const std::int32_t> ExampleArrays::*array;
};
constexpr NamedArray named_arrays[] = {
    {"rows", &ExampleArrays::rows},           {"kept_words", &ExampleArrays::kept_words},
    {"cut_words", &ExampleArrays::cut_words}, {"ids", &ExampleArrays::ids},
    {"targets", &ExampleArrays::targets},     {"first_pieces", &ExampleArrays::first_pieces}};

std::span<const std::int32_t> integers_in(const Safetensors& file, const std::string& name) {
  const Safetensors::Entry& entry = file.tensor(name);
  if (entry.dtype != DType::int32 || entry.shape.size() != 1)
    throw Error(file.path().string() + ": tensor \"" + name + "\" is no list of int32");
  return {reinterpret_cast<const std::int32_t*>(entry.bytes.data()),
          entry.bytes.size() / sizeof(std::int32_t)};
}

}  // namespace

NerTruth::NerTruth(const NerSets& sets, const NerSet& set) : names_(sets.tags), tags_(set.tags) {
  const ExampleArrays& arrays = set.encoded.arrays;
  first_word_.reserve(arrays.rows.size() + 1);
  first_word_.push_back(0);
  for (std::size_t i = 0; i < arrays.rows.size(); ++i)
    first_word_.push_back(first_word_.back() +
                          static_cast<std::size_t>(arrays.kept_words[i] + arrays.cut_words[i]));
  ENCORE_REQUIRE(first_word_.back() == tags_.size(), "every word has a tag");
}

std::vector<std::string> NerTruth::tags(std::size_t sentence) const {
  std::vector<std::string> tags;
  for (std::size_t word = first_word_[sentence]; word < first_word_[sentence + 1]; ++word)
    tags.push_back(names_[static_cast<std::size_t>(tags_[word])]);
  return tags;
}

NerSets encode_ner(const std::array<std::optional<Dataset>, 3>& datasets, const Tokenizer& tokenizer,
                   std::int64_t max_length, int threads) {
  NerSets result;
  result.labels = make_labels(*datasets[static_cast<std::size_t>(Split::train)]);
  TagNumbers numbers(result.labels.names());
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    if (!datasets[i]) continue;
    const Dataset& data = *datasets[i];
    const auto tags = std::make_shared<std::vector<std::int32_t>>();
    tags->reserve(static_cast<std::size_t>(data.words));
    for (const Sentence& sentence : data.sentences)
      for (const std::string& tag : sentence.tags) tags->push_back(numbers.number(tag));
    result.sets[i] = {data, encode_sentences(data.sentences, tokenizer, result.labels, max_length, threads),
                      *tags, tags};
  }
  result.tags = numbers.names();
  return result;
}

std::vector<TensorSlice> tensors_of(const NerSets& sets) {
  std::vector<TensorSlice> tensors;
  const auto add = [&](const std::string& name, std::span<const std::int32_t> values) {
    tensors.push_back(
        {name, DType::int32, {static_cast<std::int64_t>(values.size())}, std::as_bytes(values)});
  };
  for (const Split split : all_splits) {
    const std::optional<NerSet>& set = sets.sets[static_cast<std::size_t>(split)];
    if (!set) continue;
    const std::string prefix = name_of(split) + std::string(".");
    for (const NamedArray& named : named_arrays) add(prefix + named.name, set->encoded.arrays.*named.array);
    add(prefix + "tags", set->tags);
  }
  return tensors;
}

TensorMetadata metadata_of(const NerSets& sets) {
  TensorMetadata metadata = {{"labels", json(sets.labels.names()).dump()}, {"tags", json(sets.tags).dump()}};
  for (const Split split : all_splits)
    if (const auto& set = sets.sets[static_cast<std::size_t>(split)])
      metadata[name_of(split)] =
          json{{"summary", to_json(set->summary)}, {"report", to_json(set->encoded.report)}}.dump();
  return metadata;
}

NerSets ner_sets_in(const std::shared_ptr<const Safetensors>& file) {
  try {
    NerSets result;
    result.labels = Labels(parse_json(file->text("labels")).get<std::vector<std::string>>());
    result.tags = parse_json(file->text("tags")).get<std::vector<std::string>>();
    for (const Split split : all_splits) {
      if (!file->metadata().contains(name_of(split))) continue;
      const json about = parse_json(file->text(name_of(split)));
      const std::string prefix = name_of(split) + std::string(".");
      ExampleArrays arrays;
      for (const NamedArray& named : named_arrays)
        arrays.*named.array = integers_in(*file, prefix + named.name);
      result.sets[static_cast<std::size_t>(split)] = {
          summary_from(about.at("summary")), EncodedSet(arrays, report_from(about.at("report")), file),
          integers_in(*file, prefix + "tags"), file};
    }
    return result;
  } catch (const std::exception& error) {
    throw Error(file->path().string() + ": " + error.what());
  }
}

}  // namespace encore

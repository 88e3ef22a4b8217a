// SPDX-License-Identifier: BSD-3-Clause
// Makes records for the checks of tasks and readers: a value for each field by its shared name, and a
// SampleTokenizer that cuts and joins words. task_checks.cpp and reader_checks.cpp call it. A new shared
// field needs a case here. Read sample_records.hpp first.
#include "contract/sample_records.hpp"

#include <algorithm>
#include <map>

namespace encore::contract {
namespace {

struct Sample {
  const char* text;
  const char* label;
};

constexpr Sample train_samples[] = {
    {"Anna lives in Lund", "person"},
    {"the train to Paris leaves at 7", "place"},
    {"Bo met Ola Berg in Oslo", "person"},
    {"naïve plans for Zürich", "place"},
    {"rain", "weather"},
    {"it will rain in Malmö and snow in Oslo", "weather"},
    {"Berg and Anna went home before the long winter evening came to the old town by the sea , and Bo did "
     "not",
     "person"},
    {"\xF0\x9F\x99\x82 good morning Paris", "place"},
    {"Straße nach Wien", "place"},
    {"no snow , said Ola", "weather"},
};
constexpr Sample other_samples[] = {
    {"Ola lives in Paris", "person"},
    {"wind", "weather"},
    {"see you in May", "date"},
    {"Lund is north of Malmö", "place"},
};

std::vector<Sample> samples_of(SampleSet set) {
  if (set == SampleSet::train) return {std::begin(train_samples), std::end(train_samples)};
  return {std::begin(other_samples), std::end(other_samples)};
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == ' ')
      words.emplace_back();
    else
      words.back() += letter;
  }
  return words;
}

std::string tag_of(const std::string& word, const std::string& before) {
  static const std::map<std::string, std::string> entities = {
      {"Anna", "PER"},  {"Bo", "PER"},    {"Ola", "PER"},  {"Berg", "PER"},
      {"Lund", "LOC"},  {"Paris", "LOC"}, {"Oslo", "LOC"}, {"Zürich", "LOC"},
      {"Malmö", "LOC"}, {"Wien", "LOC"},  {"May", "DATE"}};
  const auto found = entities.find(word);
  if (found == entities.end()) return "O";
  return (word == "Berg" && before == "Ola" ? "I-" : "B-") + found->second;
}

std::vector<std::string> tags_of(const std::vector<std::string>& words) {
  std::vector<std::string> tags;
  for (std::size_t i = 0; i < words.size(); ++i) tags.push_back(tag_of(words[i], i == 0 ? "" : words[i - 1]));
  return tags;
}

std::string reversed(const std::string& text) {
  std::vector<std::string> words = words_of(text);
  std::ranges::reverse(words);
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : " ") + word;
  return result;
}

/// Returns the first word, which is the answer to the question about the beginning of a text.
std::vector<TextSpan> answers_of(const std::string& text) {
  const std::string word = words_of(text).front();
  const auto points = std::ranges::count_if(word, [](char byte) { return (byte & 0xC0) != 0x80; });
  return {{.label = {}, .text = word, .start = 0, .end = points}};
}

/// Returns the first and the last code point of a text as spans.
std::vector<TextSpan> spans_of(const std::string& text) {
  const auto first_of_last = [&] {
    std::size_t byte = text.size() - 1;
    while ((text[byte] & 0xC0) == 0x80) --byte;
    return byte;
  }();
  std::size_t behind_first = 1;
  while ((text[behind_first] & 0xC0) == 0x80) ++behind_first;
  const auto points = std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
  return {{.label = "e1", .text = text.substr(0, behind_first), .start = 0, .end = 1},
          {.label = "e2", .text = text.substr(first_of_last), .start = points - 1, .end = points}};
}

template <class Make>
auto for_each(const std::vector<Sample>& samples, const Make& make) {
  std::vector<decltype(make(samples.front()))> values;
  for (const Sample& sample : samples) values.push_back(make(sample));
  return values;
}

Records::Values values_of(const std::string& field, const std::vector<Sample>& samples) {
  const auto text = [](const Sample& sample) { return std::string(sample.text); };
  if (field == "text" || field == "context" || field == "source") return for_each(samples, text);
  if (field == "text2" || field == "target")
    return for_each(samples, [](const Sample& sample) { return reversed(sample.text); });
  if (field == "negatives")
    return for_each(samples, [](const Sample& sample) {
      std::vector<std::string> negatives = {reversed(samples_of(SampleSet::train).front().text)};
      if (words_of(sample.text).size() > 5) negatives.emplace_back("fog in Wien");
      return negatives;
    });
  if (field == "label")
    return for_each(samples, [](const Sample& sample) { return std::string(sample.label); });
  if (field == "labels")
    return for_each(samples, [](const Sample& sample) {
      std::vector<std::string> labels = {sample.label};
      if (words_of(sample.text).size() > 5) labels.emplace_back("long");
      return labels;
    });
  if (field == "number")
    return for_each(samples, [](const Sample& sample) {
      return 0.25 * static_cast<double>(words_of(sample.text).size());
    });
  if (field == "words") return for_each(samples, [](const Sample& sample) { return words_of(sample.text); });
  if (field == "tags")
    return for_each(samples, [](const Sample& sample) { return tags_of(words_of(sample.text)); });
  if (field == "id")
    return for_each(samples, [](const Sample& sample) { return "about: " + std::string(sample.text); });
  if (field == "question")
    return for_each(samples, [](const Sample&) { return std::string("which word does it begin with ?"); });
  if (field == "spans") return for_each(samples, [](const Sample& sample) { return spans_of(sample.text); });
  if (field == "answers")
    return for_each(samples, [](const Sample& sample) { return answers_of(sample.text); });
  throw Error("it needs the field \"" + field +
              "\", which is not a shared one (encore/records.hpp), so there are no samples to check it with; "
              "offer its reader in the same plugin and name a file of yours: --data FILE");
}

}  // namespace

Records sample_records(const std::vector<std::string>& fields, SampleSet set) {
  Records records;
  for (const std::string& field : fields) records.add(field, values_of(field, samples_of(set)));
  return records;
}

std::vector<std::string> all_fields(const TaskFields& needs) {
  std::vector<std::string> fields = needs.structure;
  fields.insert(fields.end(), needs.truth.begin(), needs.truth.end());
  return fields;
}

Records with_fields(const Records& records, const std::vector<std::string>& fields) {
  Records chosen;
  for (const Records::Field& field : records.fields())
    if (std::ranges::find(fields, field.name) != fields.end()) chosen.add(field.name, field.values);
  return chosen;
}

Records behind_each_other(const Records& records, const Records& others) {
  Records result;
  for (std::size_t i = 0; i < records.fields().size(); ++i) {
    Records::Values values = records.fields()[i].values;
    std::visit(
        [&](auto& list) {
          const auto& more = std::get<std::decay_t<decltype(list)>>(others.fields().at(i).values);
          list.insert(list.end(), more.begin(), more.end());
        },
        values);
    result.add(records.fields()[i].name, std::move(values));
  }
  return result;
}

std::string SampleTokenizer::decode(std::span<const std::int32_t> numbers) const {
  std::string text;
  for (const std::int32_t number : numbers) {
    if (number < static_cast<std::int32_t>(all_specials.size())) continue;
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

void SampleTokenizer::append_tokens(std::string_view text, std::vector<std::int32_t>& to,
                                    std::vector<ByteRange>* ranges) const {
  constexpr auto first = static_cast<std::int32_t>(all_specials.size());
  std::size_t in_token = 0, at = 0;
  std::uint32_t hash = 0;
  const auto end_token = [&] {
    if (in_token > 0) {
      to.push_back(first + static_cast<std::int32_t>(hash % (tokens - first)));
      if (ranges != nullptr) ranges->push_back({at - in_token, at});
    }
    in_token = 0;
    hash = 0;
  };
  for (; at < text.size(); ++at) {
    if (text[at] == ' ' || in_token == 3) end_token();
    if (text[at] == ' ') continue;
    hash = hash * 31 + static_cast<unsigned char>(text[at]);
    ++in_token;
  }
  end_token();
}

}  // namespace encore::contract

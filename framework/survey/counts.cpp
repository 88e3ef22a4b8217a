// SPDX-License-Identifier: BSD-3-Clause
// Counts over records. Equal records are found by sorting hashes of their text, which takes 16 bytes for each
// record; a hash table takes several times as much. survey.cpp calls these functions. Read survey.hpp first.
#include "survey/survey.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <encore/error.hpp>

#include "base/readable_text.hpp"
#include "survey/text_size.hpp"

namespace encore::survey {
namespace {

using Texts = Records::Texts;
using Views = std::vector<std::string_view>;

/// The records of one text, in their order.
using Group = std::vector<std::uint32_t>;

/// Calls `look` with the records of each text that several records have. The first records of the groups
/// ascend only if the caller sorts them.
template <class Look>
void for_each_repeated(const Views& texts, const Look& look) {
  std::vector<std::pair<std::size_t, std::uint32_t>> hashes;
  hashes.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    hashes.emplace_back(std::hash<std::string_view>()(texts[i]), static_cast<std::uint32_t>(i));
  std::ranges::sort(hashes);
  for (std::size_t begin = 0, end = 0; begin < hashes.size(); begin = end) {
    while (end < hashes.size() && hashes[end].first == hashes[begin].first) ++end;
    if (end - begin < 2) continue;
    std::map<std::string_view, Group> groups;  // nearly always one: equal hashes of different text are rare
    for (std::size_t i = begin; i < end; ++i) groups[texts[hashes[i].second]].push_back(hashes[i].second);
    for (const auto& [text, group] : groups)
      if (group.size() > 1) look(group);
  }
}

/// The first examples in the order of the file.
class Examples {
 public:
  explicit Examples(const Records& records) : records_(records) {}

  void add(Group group) { groups_.push_back(std::move(group)); }
  std::vector<record::RepeatedText> list() {
    std::ranges::sort(groups_);
    std::vector<record::RepeatedText> examples;
    for (std::size_t i = 0; i < std::min(groups_.size(), most_examples); ++i) {
      record::RepeatedText& one = examples.emplace_back();
      one.text = example_of(records_.texts("text")[groups_[i].front()]);
      one.records = std::ssize(groups_[i]);
      for (const std::uint32_t record : groups_[i])
        if (const std::string& label = records_.texts("label")[record];
            one.labels.size() < most_examples && std::ranges::find(one.labels, label) == one.labels.end())
          one.labels.push_back(label);
    }
    return examples;
  }

 private:
  const Records& records_;
  std::vector<Group> groups_;
};

std::vector<record::SurveyedClass> classes_of(const Texts& labels) {
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::string& label : labels)
    if (++counts[label] == 1 && counts.size() > most_classes)
      throw Error("the label has more than " + thousands(most_classes) +
                  " different values: expected classes; name another column with --label");
  std::vector<record::SurveyedClass> classes;
  for (const auto& [label, count] : counts) classes.push_back({std::string(label), count});
  std::ranges::sort(classes, [](const auto& a, const auto& b) {
    return a.records != b.records ? a.records > b.records : natural_less(a.label, b.label);
  });
  return classes;
}

void measure_lengths(const Texts& texts, record::SurveyedRecords& found) {
  std::vector<std::uint32_t> words;
  words.reserve(texts.size());
  double all = 0.0;
  for (const std::string& text : texts) {
    words.push_back(static_cast<std::uint32_t>(count_words(text)));
    all += words.back();
    found.characters += static_cast<std::int64_t>(count_characters(text));
  }
  if (words.empty()) return;
  found.words = all / static_cast<double>(words.size());
  const auto place = words.begin() + static_cast<std::ptrdiff_t>((words.size() - 1) * 99 / 100);
  std::ranges::nth_element(words, place);
  found.long_words = *place;
}

}  // namespace

record::SurveyedRecords count_records(const Records& records) {
  const Texts &texts = records.texts("text"), &labels = records.texts("label");
  record::SurveyedRecords found{.records = std::ssize(texts), .classes = classes_of(labels)};
  measure_lengths(texts, found);
  Examples duplicates(records), conflicts(records);
  for_each_repeated(Views(texts.begin(), texts.end()), [&](const Group& group) {
    std::map<std::string_view, Group> by_label;
    for (const std::uint32_t record : group) by_label[labels[record]].push_back(record);
    for (const auto& [label, same] : by_label) {
      found.duplicates += std::ssize(same) - 1;
      if (same.size() > 1) duplicates.add(same);
    }
    if (by_label.size() == 1) return;
    ++found.conflicts;
    conflicts.add(group);
  });
  found.duplicate_examples = duplicates.list();
  found.conflict_examples = conflicts.list();
  return found;
}

record::SurveyedTest compare_with_test(const Records& records, const Records& test) {
  record::SurveyedTest result{.found = count_records(test)};
  const Texts &known = records.texts("text"), &texts = test.texts("text");
  Views both(texts.begin(), texts.end());  // the records of the test set come first
  both.insert(both.end(), known.begin(), known.end());
  Examples leaks(test);
  for_each_repeated(both, [&](Group group) {
    const bool is_known = group.back() >= texts.size();
    std::erase_if(group, [&](std::uint32_t record) { return record >= texts.size(); });
    if (!is_known || group.empty()) return;
    result.leaks += std::ssize(group);
    leaks.add(group);
  });
  result.leak_examples = leaks.list();
  std::unordered_map<std::string_view, bool> classes;
  for (const std::string& label : records.texts("label")) classes[label] = true;
  for (const record::SurveyedClass& one : result.found.classes)
    if (!classes.contains(one.label)) result.unknown_classes.push_back(one.label);
  return result;
}

}  // namespace encore::survey

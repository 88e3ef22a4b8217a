// SPDX-License-Identifier: BSD-3-Clause
// Splits records into a training, a development and a test set by hashes of their inputs ([data] split).
// set_files.cpp and new_examples.cpp call it. Hash, shares and the order of split_each_label() must never
// change, because runs would get other sets. Read data_split.hpp first.
#include "tasks/data_split.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "base/nearest.hpp"
#include "base/sha256.hpp"

namespace encore::tasks {
namespace {

constexpr std::size_t hash_digits = 16;  // 64 bits

/// Appends the text with its length before it, so that two different records never give the same bytes.
void append(std::string& form, const std::string& text) {
  form += std::to_string(text.size()) + ":" + text;
}
void append(std::string& form, double number) {
  // -0.0 and 0.0 are one number.
  append(form, std::to_string(std::bit_cast<std::uint64_t>(number == 0.0 ? 0.0 : number)));
}
void append(std::string& form, const TextSpan& span) {
  append(form, span.label);
  append(form, span.text);
  append(form, std::to_string(span.start));
  append(form, std::to_string(span.end));
}
void append(std::string& form, const std::map<std::string, double>& numbers) {
  form += "{" + std::to_string(numbers.size()) + "}";
  for (const auto& [name, number] : numbers) {
    append(form, name);
    append(form, number);
  }
}
template <class T>
void append(std::string& form, const std::vector<T>& list) {
  form += "[" + std::to_string(list.size()) + "]";
  for (const T& element : list) append(form, element);
}

/// Returns the set to which a position in [0, 1) belongs.
data::Split share_at(double place, std::span<const double> shares) {
  double end = 0.0;
  for (std::size_t i = 0; i + 1 < shares.size(); ++i) {
    end += shares[i];
    if (place < end) return data::all_splits[i];
  }
  return data::all_splits[shares.size() - 1];
}

const Records::Field* find_field(const Records& records, const std::string& name) {
  const auto found = std::ranges::find(records.fields(), name, &Records::Field::name);
  return found == records.fields().end() ? nullptr : &*found;
}

}  // namespace

std::uint64_t content_hash(const Records& records, std::size_t record, const TaskFields& fields) {
  std::vector<std::string> names = fields.structure;
  for (const std::string& name : fields.optional)
    if (records.has(name)) names.push_back(name);
  std::ranges::sort(names);
  std::string form;
  for (const std::string& name : names) {
    const Records::Field* field = find_field(records, name);
    if (field == nullptr)
      throw Error("the records have no field \"" + name + "\", by which they are cut into sets");
    append(form, name);
    std::visit([&](const auto& values) { append(form, values[record]); }, field->values);
  }
  return std::stoull(sha256(form).substr(0, hash_digits), nullptr, 16);
}

data::Split split_of(std::uint64_t hash, std::span<const double> shares) {
  // Uses the upper 53 bits, which a double holds exactly.
  return share_at(static_cast<double>(hash >> 11) * 0x1p-53, shares);
}

Records selected(const Records& records, std::span<const std::size_t> numbers) {
  Records result;
  for (const Records::Field& field : records.fields())
    std::visit(
        [&](const auto& values) {
          std::decay_t<decltype(values)> some;
          some.reserve(numbers.size());
          for (const std::size_t number : numbers) some.push_back(values[number]);
          result.add(field.name, std::move(some));
        },
        field.values);
  return result;
}

Records joined(const std::vector<Records>& parts) {
  Records result;
  if (parts.empty()) return result;
  for (std::size_t i = 0; i < parts.front().fields().size(); ++i)
    std::visit(
        [&](const auto& values) {
          std::decay_t<decltype(values)> all;
          for (const Records& part : parts) {
            const auto& more = std::get<std::decay_t<decltype(values)>>(part.fields()[i].values);
            all.insert(all.end(), more.begin(), more.end());
          }
          result.add(parts.front().fields()[i].name, std::move(all));
        },
        parts.front().fields()[i].values);
  for (const Records& part : parts)
    result.notes.insert(result.notes.end(), part.notes.begin(), part.notes.end());
  return result;
}

namespace {

/// Returns the three sets, given the set of each record.
std::array<Records, data::all_splits.size()> sets_of(const Records& records,
                                                     const std::vector<data::Split>& splits) {
  std::array<std::vector<std::size_t>, data::all_splits.size()> numbers;
  for (std::size_t i = 0; i < splits.size(); ++i) numbers[static_cast<std::size_t>(splits[i])].push_back(i);
  std::array<Records, data::all_splits.size()> sets;
  for (std::size_t i = 0; i < sets.size(); ++i) sets[i] = selected(records, numbers[i]);
  sets.front().notes = records.notes;
  return sets;
}

/// Returns the label of each record.
const std::vector<std::string>& labels_of(const Records& records, const TaskFields& fields) {
  const Records::Field* field =
      fields.truth.size() == 1 ? find_field(records, fields.truth.front()) : nullptr;
  const auto* labels = field == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&field->values);
  if (labels == nullptr)
    throw Error("data.stratify needs a task with one label for each example; this one reads the fields " +
                quoted_list(fields.truth) + ", so leave data.stratify out");
  return *labels;
}

}  // namespace

std::array<Records, data::all_splits.size()> split_records(const Records& records, const TaskFields& fields,
                                                           std::span<const double> shares) {
  std::vector<data::Split> splits;
  for (std::size_t i = 0; i < records.size(); ++i)
    splits.push_back(split_of(content_hash(records, i, fields), shares));
  return sets_of(records, splits);
}

std::size_t count_labels(const Records& records, const TaskFields& fields) {
  const std::vector<std::string>& labels = labels_of(records, fields);
  return std::set<std::string_view>(labels.begin(), labels.end()).size();
}

std::array<Records, data::all_splits.size()> split_each_label(const Records& records,
                                                              const TaskFields& fields,
                                                              std::span<const double> shares) {
  const std::vector<std::string>& labels = labels_of(records, fields);
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < records.size(); ++i) hashes.push_back(content_hash(records, i, fields));
  // Records with equal content may have several labels; the first label in the order of bytes decides.
  std::map<std::uint64_t, std::string> label_of;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto [known, is_new] = label_of.emplace(hashes[i], labels[i]);
    if (!is_new && labels[i] < known->second) known->second = labels[i];
  }
  std::map<std::string, std::vector<std::uint64_t>> by_label;  // each list is ascending
  for (const auto& [hash, label] : label_of) by_label[label].push_back(hash);
  std::unordered_map<std::uint64_t, data::Split> split_of_hash;
  for (const auto& [label, list] : by_label)
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(list.size());
      split_of_hash[list[i]] = share_at(place, shares);
    }
  std::vector<data::Split> splits;
  for (const std::uint64_t hash : hashes) splits.push_back(split_of_hash.at(hash));
  return sets_of(records, splits);
}

}  // namespace encore::tasks

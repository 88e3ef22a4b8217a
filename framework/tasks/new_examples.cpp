// SPDX-License-Identifier: BSD-3-Clause
// NewExamples: divides the records of data.more (examples that were added after an earlier training) by
// hashes of their content: learned() chooses those that a run trains on, fitted_on() those that an
// application adds to its development set. set_files.cpp and apply/application_sets.cpp call it. A run must
// never train on a record that it is scored on. Read new_examples.hpp first.
#include "tasks/new_examples.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "tasks/data_split.hpp"

namespace encore::tasks {
namespace {

bool is_held_out(std::uint64_t hash, double share) {
  return share > 0 && split_of(hash, std::array{1.0 - share, share}) != data::Split::train;
}

std::vector<std::string> field_names(const Records& records) {
  std::vector<std::string> names;
  for (const Records::Field& field : records.fields()) names.push_back(field.name);
  return names;
}

}  // namespace

Records held_out(const Records& records, const TaskFields& fields, double share) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (is_held_out(content_hash(records, i, fields), share)) numbers.push_back(i);
  if (numbers.empty())
    throw Error("none of its " + std::to_string(records.size()) +
                " examples falls into the share that is held out; add examples, or enlarge the share");
  Records chosen = selected(records, numbers);
  chosen.notes = records.notes;
  return chosen;
}

void require_same_fields(const Records& train, const Records& added) {
  bool same = train.fields().size() == added.fields().size();
  for (std::size_t i = 0; same && i < train.fields().size(); ++i)
    same = train.fields()[i].name == added.fields()[i].name &&
           train.fields()[i].values.index() == added.fields()[i].values.index();
  if (!same)
    throw Error("the records have the fields " + quoted_list(field_names(added)) +
                ", and those of the training set " + quoted_list(field_names(train)) +
                "; both must be read alike");
}

NewExamples::NewExamples(TaskFields fields, double share) : fields_(std::move(fields)), share_(share) {}

void NewExamples::score(const Records& set) {
  for (std::size_t i = 0; i < set.size(); ++i) scored_.insert(content_hash(set, i, fields_));
}

Records NewExamples::fitted_on(const Records& added, double compared) const {
  std::vector<std::size_t> numbers;
  std::size_t scored = 0, learned = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::uint64_t hash = content_hash(added, i, fields_);
    const bool is_scored = scored_.contains(hash);
    if (!is_held_out(hash, share_))
      learned += is_scored ? 1 : 0;
    else if (!is_held_out(hash, compared) && is_scored)
      ++scored;
    else if (!is_held_out(hash, compared))
      numbers.push_back(i);
  }
  Records chosen = selected(added, numbers);
  chosen.notes = added.notes;
  std::string note = "data.more: " + std::to_string(added.size()) + " examples, " +
                     std::to_string(numbers.size()) + " of them in the development set";
  if (scored > 0) note += ", " + std::to_string(scored) + " left out, which it or the test set has already";
  if (learned > 0)
    note += "; warning: models learned from " + std::to_string(learned) +
            " that the development or test set also has, so scores there may be better than in service";
  chosen.notes.push_back(std::move(note));
  return chosen;
}

Records NewExamples::learned(const Records& added, const Records* train) const {
  std::unordered_set<std::uint64_t> known;
  for (std::size_t i = 0; train != nullptr && i < train->size(); ++i)
    known.insert(content_hash(*train, i, fields_));
  std::vector<std::size_t> numbers;
  std::size_t held = 0, scored = 0, repeated = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::uint64_t hash = content_hash(added, i, fields_);
    if (known.contains(hash)) ++repeated;
    if (scored_.contains(hash))
      ++scored;
    else if (is_held_out(hash, share_))
      ++held;
    else
      numbers.push_back(i);
  }
  Records chosen = selected(added, numbers);
  chosen.notes = added.notes;
  std::string note = "data.more: " + std::to_string(added.size()) + " examples, " +
                     std::to_string(numbers.size()) + " of them learned from";
  if (held > 0) note += ", " + std::to_string(held) + " held out";
  if (scored > 0) note += ", " + std::to_string(scored) + " left out, which the development or test set has";
  if (repeated > 0) note += "; " + std::to_string(repeated) + " stand in data.train already";
  chosen.notes.push_back(std::move(note));
  return chosen;
}

}  // namespace encore::tasks

// SPDX-License-Identifier: BSD-3-Clause
// TaskSets: reads, encodes, caches and scores the sets of a run. The training set decides what the task knows
// (Task::prepare) and a data.max_length in percent; the other sets only extend it, such as by labels
// (Task::extend), and each set is encoded by itself. Sessions, the trainer and the evaluator call it. key()
// must name everything on which the encoded sets depend, otherwise the token cache returns sets of other
// settings. Read task_sets.hpp first.
#include "tasks/task_sets.hpp"

#include <algorithm>
#include <bit>
#include <variant>

#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "data/encode.hpp"
#include "tasks/all_errors.hpp"
#include "tasks/encoded_parts.hpp"
#include "tasks/length_share.hpp"
#include "tasks/prediction_file.hpp"

namespace encore::tasks {

namespace {

namespace fs = std::filesystem;

/// The version of the cache's file format. Raise it when the format changes, so that old files are not read.
constexpr int cache_format = 5;

/// Key in the file's metadata for the length that a percentage in data.max_length has led to.
constexpr const char* max_length_name = "max_length";
/// The smallest length that a percentage may lead to, the same as for a number in data.max_length.
constexpr std::int64_t shortest_max_length = 3;
/// The most notes kept of one part; each part of a corpus may have some.
constexpr std::size_t most_part_notes = 4;

/// Returns "1287 examples, 20125 words, 41 cut words".
std::string counts_note(const EncodedSet& set, const SetDescription& description) {
  const std::size_t examples = set.set.size();
  std::string text = std::to_string(examples) + (examples == 1 ? " example" : " examples");
  for (const auto& [name, value] : description.counts)
    if (value != 0) text += ", " + std::to_string(value) + " " + name;
  return text;
}

/// Returns records in which the named fields of text are empty.
Records without(const Records& records, const std::vector<std::string>& names) {
  Records left;
  for (const Records::Field& field : records.fields())
    if (std::ranges::find(names, field.name) != names.end() &&
        std::holds_alternative<Records::Texts>(field.values))
      left.add(field.name, Records::Texts(records.size()));
    else
      left.add(field.name, field.values);
  return left;
}

/// Drops words until half of the allowed number is left: those that occur once first, then twice, and so on.
void drop_rarest(TextCounts& counts, std::size_t most) {
  if (counts.size() <= most) return;
  for (std::int64_t rarest = 1; counts.size() > most / 2; ++rarest)
    std::erase_if(counts, [&](const auto& entry) { return entry.second <= rarest; });
}

}  // namespace

Statistics measured(const Task& task, const ExampleSet& set, const Outputs& outputs,
                    const std::string& what) {
  Statistics statistics;
  task.measure(set, outputs, statistics);
  if (statistics.examples() != set.size())
    throw Error("the task measures " + std::to_string(statistics.examples()) + " of the " +
                std::to_string(set.size()) + " examples of the " + what);
  return statistics;
}

TaskSets::TaskSets(TaskParts parts, const config::DataTable& data, ContentHashes planned, CorpusLimits limits)
    : parts_(std::move(parts)),
      data_(data),
      most_words_(limits.most_words),
      files_(*parts_.reader, parts_.fields, parts_.remedy, data, std::move(planned), limits,
             task().takes_parts()) {}

// --- reading ---

void TaskSets::visit_train(const VisitRecords& visit) {
  const auto prepared = [&](Records& records) {
    if (!prepared_) with_file(files_.text(data::Split::train), [&] { parts_.task->prepare(records); });
    prepared_ = true;
    visit(records);
  };
  if (files_.in_parts()) return files_.visit_parts(records_, prepared);
  require_read(data::Split::train);
  prepared(*records_[index_of(data::Split::train)]);
}

const Records& TaskSets::require_read(data::Split split) {
  files_.read_into(split, records_);
  return *records_[index_of(split)];
}

void TaskSets::read() {
  if (!prepared_ && !files_.in_parts()) {
    AllErrors errors;
    for (const data::Split split : data::all_splits)
      if (has(split) && (split == data::Split::train || !files_.is_share(split)))
        errors.collect([&] { files_.read_into(split, records_); });
    errors.require_none();
  }
  if (!prepared_) visit_train([](Records&) {});
  if (extended_) return;
  for (const data::Split split : held_out_splits) {
    if (!has(split)) continue;
    const Records& other = require_read(split);
    with_file(files_.text(split), [&] { parts_.task->extend(other); });
  }
  extended_ = true;
}

TextCounts TaskSets::text_counts(TextSide side) {
  TextCounts counts;
  visit_train([&](Records& records) {
    TextCounts part = task().text_counts(
        side == TextSide::both
            ? records
            : without(records, side == TextSide::sources ? parts_.fields.truth : parts_.fields.structure));
    if (!files_.in_parts()) {
      counts = std::move(part);
      return;
    }
    for (const auto& [text, count] : part) counts[text] += count;
    drop_rarest(counts, most_words_);
  });
  return counts;
}

// --- encoding ---

/// Returns the encoded records. An error names a record by its number in the set, so if the set is only a
/// part of its files, the error names the set, too.
ExampleSet TaskSets::encoded(data::Split split, const Records& records, const Tokenizer& tokenizer,
                             std::int64_t max_length, int threads, std::size_t earlier) const {
  const std::string set = files_.is_share(split) ? std::string(", ") + data::title_of(split) : "";
  return with_file(files_.text(split) + set, [&] {
    return data::encode_records(task(), records, tokenizer, max_length, threads, earlier);
  });
}

/// Counts the lengths of uncut sequences, then makes the task for the length that follows from them.
void TaskSets::decide_max_length(const Tokenizer& tokenizer, int threads) {
  if (data_.max_length != 0) return;
  LengthCounts lengths;
  std::size_t earlier = 0;
  visit_train([&](const Records& records) {
    lengths.add(
        encoded(data::Split::train, records, tokenizer, longest_sequence, threads, earlier).arrays().lengths);
    earlier += records.size();
  });
  data_.max_length = lengths.covering(data_.max_length_percent, shortest_max_length);
  remake_task();
}

void TaskSets::remake_task() {
  parts_.task = parts_.make_task(data_.max_length);
  prepared_ = extended_ = false;
}

void TaskSets::encode_train(EncodedParts& to, std::vector<std::string>& notes, const Tokenizer& tokenizer,
                            int threads) {
  std::size_t left_out = 0, earlier = 0;
  visit_train([&](Records& records) {
    to.add(encoded(data::Split::train, records, tokenizer, data_.max_length, threads, earlier));
    earlier += records.size();
    for (std::string& note : records.notes) {
      if (notes.size() < most_part_notes)
        notes.push_back(std::move(note));
      else
        ++left_out;
    }
  });
  if (left_out > 0) notes.push_back("and " + std::to_string(left_out) + " more notes like these");
}

void TaskSets::encode_held_out(const Tokenizer& tokenizer, int threads) {
  for (const data::Split split : held_out_splits) {
    if (!has(split)) continue;
    const Records& records = require_read(split);
    sets_[split].emplace(encoded(split, records, tokenizer, data_.max_length, threads), records.notes);
  }
  sets_.knowledge = task().knowledge();
  descriptions_ = {};
}

void TaskSets::encode(const Tokenizer& tokenizer, int threads) {
  decide_max_length(tokenizer, threads);
  if (files_.in_parts()) {
    const auto parts = std::make_shared<EncodedParts>(fs::path());
    std::vector<std::string> notes;
    encode_train(*parts, notes, tokenizer, threads);
    sets_[data::Split::train].emplace(EncodedParts::set(parts, task().columns()), std::move(notes));
    read();
  } else {
    read();
    const Records& records = require_read(data::Split::train);
    sets_[data::Split::train].emplace(
        encoded(data::Split::train, records, tokenizer, data_.max_length, threads), records.notes);
    records_[index_of(data::Split::train)]
        .reset();  // its text is not needed again, and it takes the most memory
  }
  encode_held_out(tokenizer, threads);
}

void TaskSets::encode(const Tokenizer& tokenizer, int threads, const TokenCache& cache,
                      const std::string& encoding) {
  if (load_encoded(cache, encoding)) return;
  if (!files_.in_parts() || files_.planned().empty() || !cache.keeps()) {
    encode(tokenizer, threads);
    save_encoded(cache, encoding);
    return;
  }
  decide_max_length(tokenizer, threads);
  EncodedParts parts(cache.scratch());
  std::vector<std::string> notes;
  encode_train(parts, notes, tokenizer, threads);
  read();
  encode_held_out(tokenizer, threads);
  std::vector<record::TensorSlice> tensors =
      parts.tensors(std::string(data::name_of(data::Split::train)) + ".");
  for (record::TensorSlice& tensor : tensors_of(sets_)) tensors.push_back(std::move(tensor));
  record::TensorMetadata metadata = metadata_of(sets_);
  metadata[data::name_of(data::Split::train)] = nlohmann::json(notes).dump();
  add_max_length(metadata);
  if (!cache.save(key(encoding), tensors, metadata, cache_notes_) || !load_encoded(cache, encoding))
    throw Error(files_.text(data::Split::train) +
                ": a training set of this size needs the token cache, which cannot be used: " +
                (cache_notes_.empty() ? "its file is gone" : cache_notes_.back()));
}

std::string TaskSets::key(const std::string& encoding) const {
  nlohmann::json key = {{"format", cache_format},
                        {"byte_order", std::endian::native == std::endian::little ? "little" : "big"},
                        {"task", parts_.identity},
                        {"max_length", data_.max_length},
                        {"files", files_.planned()},
                        {"encoding", encoding}};
  if (data_.max_length_percent > 0) key["max_length"] = percent_text(data_.max_length_percent);
  if (!data_.split.empty()) key["split"] = data_.split;
  if (data_.stratify) key["stratify"] = true;
  if (data_.held_out > 0) key["held_out"] = data_.held_out;
  return key.dump();
}

void TaskSets::add_max_length(record::TensorMetadata& metadata) const {
  if (data_.max_length_percent > 0) metadata[max_length_name] = std::to_string(data_.max_length);
}

bool TaskSets::load_encoded(const TokenCache& cache, const std::string& encoding) {
  if (files_.planned().empty()) return false;
  const std::shared_ptr<const record::Safetensors> file = cache.load(key(encoding), cache_notes_);
  if (!file) return false;
  try {
    if (data_.max_length == 0) {
      data_.max_length = std::stoll(file->text(max_length_name));
      remake_task();
    }
    parts_.task->restore(knowledge_in(*file));
    sets_ = encoded_sets_in(file, task().columns());
    descriptions_ = {};
    prepared_ = extended_ = true;
    return true;
  } catch (const config::ConfigError&) {
    throw;  // the task rejects this length
  } catch (const Error& error) {
    cache_notes_.push_back(std::string("encoding again, because a file of the token cache is unusable: ") +
                           error.what());
    return false;
  }
}

void TaskSets::save_encoded(const TokenCache& cache, const std::string& encoding) {
  if (files_.planned().empty()) return;
  record::TensorMetadata metadata = metadata_of(sets_);
  add_max_length(metadata);
  cache.save(key(encoding), tensors_of(sets_), std::move(metadata), cache_notes_);
}

const EncodedSet& TaskSets::set(data::Split split) const {
  ENCORE_REQUIRE(sets_[split], std::string("the ") + data::title_of(split) + " is encoded");
  return *sets_[split];
}

// --- what is reported ---

Notes TaskSets::notes() const {
  Notes notes = cache_notes_;
  for (const data::Split split : data::all_splits) {
    if (!has(split)) continue;
    const std::string prefix = std::string(data::name_of(split)) + ": ";
    if (split == data::Split::train && data_.max_length_percent > 0)
      notes.push_back("data.max_length = \"" + percent_text(data_.max_length_percent) + "\" is " +
                      std::to_string(data_.max_length) +
                      ": the smallest length that fits this share of the training sequences");
    const SetDescription& description = describe(split);
    notes.push_back(prefix + counts_note(set(split), description));
    for (const std::string& note : description.notes) notes.push_back(prefix + note);
    for (const std::string& note : set(split).reader_notes) notes.push_back(prefix + note);
  }
  return notes;
}

const SetDescription& TaskSets::describe(data::Split split) const {
  std::optional<SetDescription>& description = descriptions_[index_of(split)];
  if (!description) description = task().describe(set(split).set);
  return *description;
}

Statistics TaskSets::measure(data::Split split, const Outputs& outputs) const {
  return measured(task(), set(split).set, outputs, data::title_of(split));
}

std::string TaskSets::tune(const Outputs& dev) {
  std::string tuned = task().tune(set(data::Split::dev).set, dev);
  use(tuned);
  return tuned;
}

Records TaskSets::save_predictions(data::Split split, const Outputs& outputs, const Statistics& statistics,
                                   const std::filesystem::path& path) const {
  RecordSets read_again;
  if (!records_[index_of(split)]) files_.read_into(split, read_again);
  const Records& records =
      records_[index_of(split)] ? *records_[index_of(split)] : *read_again[index_of(split)];
  Records predicted = task().label(records, set(split).set, outputs);
  write_predictions(path, parts_.fields, records, predicted, statistics);
  return predicted;
}

}  // namespace encore::tasks

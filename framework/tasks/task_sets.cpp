// Every set is read, encoded and scored on its own; only the labels come from all of them.
#include "tasks/task_sets.hpp"

#include <bit>

#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "config/nearest.hpp"
#include "data/encode.hpp"
#include "data/file.hpp"
#include "data/hash.hpp"
#include "record/specification.hpp"
#include "tasks/data_split.hpp"
#include "tasks/encoded_parts.hpp"
#include "tasks/file_parts.hpp"
#include "tasks/length_share.hpp"
#include "tasks/prediction_file.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

/// Raised whenever the cache's file gets another form.
constexpr int cache_format = 4;

/// In the file's metadata, where it is a share of the training set.
constexpr const char* max_length_name = "max_length";
/// As for data.max_length as a number.
constexpr std::int64_t shortest_max_length = 3;
/// Each part of a corpus may have some.
constexpr std::size_t most_part_notes = 4;

std::size_t index(Split split) {
  return static_cast<std::size_t>(split);
}

/// "1287 examples, 20125 words, 41 cut words"
std::string counts_note(const EncodedSet& set, const SetDescription& description) {
  const std::size_t examples = set.set.size();
  std::string text = std::to_string(examples) + (examples == 1 ? " example" : " examples");
  for (const auto& [name, value] : description.counts)
    if (value != 0) text += ", " + std::to_string(value) + " " + name;
  return text;
}

/// Until a half of what is allowed is left: those that stand once, then those that stand twice, and so on.
void drop_rarest(TextCounts& counts, std::size_t most) {
  if (counts.size() <= most) return;
  for (std::int64_t rarest = 1; counts.size() > most / 2; ++rarest)
    std::erase_if(counts, [&](const auto& entry) { return entry.second <= rarest; });
}

}  // namespace

ReadSet read_set(const Reader& reader, const std::vector<std::string>& paths, const std::string& what) {
  std::vector<std::string> texts;
  ReadSet set;
  for (const std::string& path : paths) {
    texts.push_back(load_text(path, what));
    set.sha256.push_back(sha256(texts.back()));
  }
  std::vector<InputText> files;
  for (std::size_t i = 0; i < paths.size(); ++i) files.push_back({.name = paths[i], .text = texts[i]});
  set.records = reader.read(files, what);
  return set;
}

void require_fields(const Records& records, const TaskFields& needs) {
  std::vector<std::string> missing, given;
  for (const std::vector<std::string>* fields : {&needs.structure, &needs.truth})
    for (const std::string& field : *fields)
      if (!records.has(field)) missing.push_back(field);
  if (missing.empty()) return;
  for (const Records::Field& field : records.fields()) given.push_back(field.name);
  throw Error("the task needs the field" + std::string(missing.size() == 1 ? " " : "s ") +
              quoted_list(missing) + ", and the reader gives " + quoted_list(given) +
              "; its options decide what it gives");
}

Statistics measured(const Task& task, const ExampleSet& set, const Outputs& outputs,
                    const std::string& what) {
  Statistics statistics;
  task.measure(set, outputs, statistics);
  if (statistics.examples() != set.size())
    throw Error("the task measures " + std::to_string(statistics.examples()) + " of the " +
                std::to_string(set.size()) + " examples of the " + what);
  return statistics;
}

TaskSets::TaskSets(TaskParts parts, const DataTable& data, ContentHashes planned, CorpusLimits limits)
    : parts_(std::move(parts)), data_(data), planned_(std::move(planned)), limits_(limits) {
  if (parts_.reader->cut() == Cut::nowhere || !task().takes_parts()) return;
  std::uintmax_t bytes = 0;
  std::error_code failure;  // said when it is read
  for (const std::string& path : data_.train)
    if (const std::uintmax_t size = fs::file_size(path, failure); !failure) bytes += size;
  in_parts_ = bytes > limits_.part_bytes;
}

// --- files ---

bool TaskSets::has(Split split) const {
  return data_.split.empty() ? !paths(split).empty() : index(split) < data_.split.size();
}

const std::vector<std::string>& TaskSets::paths(Split split) const {
  if (!data_.split.empty()) return data_.train;
  return split == Split::train ? data_.train : split == Split::dev ? data_.dev : data_.test;
}

/// "train.txt", "a.txt and 2 more files"
std::string TaskSets::files_text(Split split) const {
  const std::vector<std::string>& files = paths(split);
  const std::size_t more = files.size() - 1;
  return files.front() + (more == 0   ? ""
                          : more == 1 ? " and 1 more file"
                                      : " and " + std::to_string(more) + " more files");
}

void TaskSets::require_as_planned(Split split, const std::vector<std::string>& hashes) const {
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (const auto planned = planned_.find(numbered_file(name_of(split), i)); planned != planned_.end())
      require_planned({paths(split)[i], planned->second}, name_of(split), hashes[i]);
}

// --- reading ---

ReadSet TaskSets::read_files(Split files) const {
  ReadSet set = read_set(*parts_.reader, paths(files), title_of(files));
  require_as_planned(files, set.sha256);
  with_file(files_text(files), [&] { require_fields(set.records, parts_.fields); });
  return set;
}

void TaskSets::require_none_empty(const std::array<std::size_t, all_splits.size()>& counts) const {
  std::string text;
  bool empty = false;
  for (const Split split : all_splits) {
    if (!has(split)) continue;
    empty = empty || counts[index(split)] == 0;
    text += (text.empty() ? "" : ", ") + std::to_string(counts[index(split)]) + " for the " + title_of(split);
  }
  if (empty)
    throw Error(files_text(Split::train) + ": data.split leaves a set without examples: " + text +
                "; give it more examples, or the set a larger share");
}

void TaskSets::read_into(Split split, Sets& to) const {
  if (to[index(split)]) return;
  if (data_.split.empty()) {
    to[index(split)] = read_files(split).records;
    return;
  }
  if (in_parts_) return visit_parts(to, {});
  std::array<Records, all_splits.size()> sets =
      split_records(read_files(Split::train).records, parts_.fields, data_.split);
  require_none_empty({sets[0].size(), sets[1].size(), sets[2].size()});
  for (const Split one : all_splits)
    if (has(one) && !to[index(one)]) to[index(one)] = std::move(sets[index(one)]);
}

void TaskSets::visit_parts(Sets& held_out, const Visit& visit) const {
  FileParts parts(paths(Split::train), parts_.reader->cut(), limits_.part_bytes, title_of(Split::train));
  std::array<std::size_t, all_splits.size()> counts = {};
  std::array<std::vector<Records>, all_splits.size()> kept;
  bool any = false;
  while (const std::optional<FileParts::Part> part = parts.next()) {
    any = true;
    const std::string& path = paths(Split::train)[part->file];
    const InputText text = {.name = path, .text = part->text, .first_line = part->first_line};
    Records records = parts_.reader->read({&text, 1}, title_of(Split::train));
    with_file(path, [&] { require_fields(records, parts_.fields); });
    for (std::string& note : records.notes)
      note = fs::path(path).filename().string() + ", lines " + std::to_string(part->first_line) + " to " +
             std::to_string(part->last_line) + ": " + note;
    if (!data_.split.empty()) {
      std::array<Records, all_splits.size()> sets = split_records(records, parts_.fields, data_.split);
      for (const Split split : {Split::dev, Split::test}) {
        counts[index(split)] += sets[index(split)].size();
        if (has(split) && !held_out[index(split)])
          kept[index(split)].push_back(std::move(sets[index(split)]));
      }
      records = std::move(sets[index(Split::train)]);
    }
    counts[index(Split::train)] += records.size();
    if (visit && records.size() > 0) visit(records);
  }
  require_as_planned(Split::train, parts.hashes());
  if (!any) read_set(*parts_.reader, paths(Split::train), title_of(Split::train));  // says that it is empty
  if (data_.split.empty()) return;
  require_none_empty(counts);
  for (const Split split : {Split::dev, Split::test})
    if (has(split) && !held_out[index(split)]) held_out[index(split)] = joined(kept[index(split)]);
}

void TaskSets::visit_train(const Visit& visit) {
  const auto prepared = [&](Records& records) {
    if (!prepared_) with_file(files_text(Split::train), [&] { parts_.task->prepare(records); });
    prepared_ = true;
    visit(records);
  };
  if (in_parts_) return visit_parts(records_, prepared);
  require_read(Split::train);
  prepared(*records_[index(Split::train)]);
}

const Records& TaskSets::require_read(Split split) {
  read_into(split, records_);
  return *records_[index(split)];
}

void TaskSets::read() {
  if (!prepared_) visit_train([](Records&) {});
  if (extended_) return;
  for (const Split split : {Split::dev, Split::test}) {
    if (!has(split)) continue;
    const Records& other = require_read(split);
    with_file(files_text(split), [&] { parts_.task->extend(other); });
  }
  extended_ = true;
}

TextCounts TaskSets::text_counts() {
  TextCounts counts;
  visit_train([&](Records& records) {
    TextCounts part = task().text_counts(records);
    if (!in_parts_) {
      counts = std::move(part);
      return;
    }
    for (const auto& [text, count] : part) counts[text] += count;
    drop_rarest(counts, limits_.most_words);
  });
  return counts;
}

// --- encoding ---

/// Counts the lengths of sequences that nothing is cut from, then goes on with the task of the length.
void TaskSets::decide_max_length(const Tokenizer& tokenizer, int threads) {
  if (data_.max_length != 0) return;
  LengthCounts lengths;
  visit_train([&](const Records& records) {
    with_file(files_text(Split::train), [&] {
      lengths.add(encode_records(task(), records, tokenizer, longest_sequence, threads).arrays().lengths);
    });
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
  std::size_t left_out = 0;
  visit_train([&](Records& records) {
    with_file(files_text(Split::train),
              [&] { to.add(encode_records(task(), records, tokenizer, data_.max_length, threads)); });
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
  for (const Split split : {Split::dev, Split::test}) {
    if (!has(split)) continue;
    const Records& records = require_read(split);
    with_file(files_text(split), [&] {
      sets_[split].emplace(encode_records(task(), records, tokenizer, data_.max_length, threads),
                           records.notes);
    });
  }
  sets_.knowledge = task().knowledge();
  descriptions_ = {};
}

void TaskSets::encode(const Tokenizer& tokenizer, int threads) {
  decide_max_length(tokenizer, threads);
  if (in_parts_) {
    const auto parts = std::make_shared<EncodedParts>(fs::path());
    std::vector<std::string> notes;
    encode_train(*parts, notes, tokenizer, threads);
    sets_[Split::train].emplace(EncodedParts::set(parts, task().columns()), std::move(notes));
    read();
  } else {
    read();
    const Records& records = require_read(Split::train);
    with_file(files_text(Split::train), [&] {
      sets_[Split::train].emplace(encode_records(task(), records, tokenizer, data_.max_length, threads),
                                  records.notes);
    });
    records_[index(Split::train)].reset();  // nobody asks for its text again, and it takes the most memory
  }
  encode_held_out(tokenizer, threads);
}

void TaskSets::encode(const Tokenizer& tokenizer, int threads, const TokenCache& cache,
                      const std::string& encoding) {
  if (load_encoded(cache, encoding)) return;
  if (!in_parts_ || planned_.empty() || !cache.keeps()) {
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
  std::vector<TensorSlice> tensors = parts.tensors(std::string(name_of(Split::train)) + ".");
  for (TensorSlice& tensor : tensors_of(sets_)) tensors.push_back(std::move(tensor));
  TensorMetadata metadata = metadata_of(sets_);
  metadata[name_of(Split::train)] = nlohmann::json(notes).dump();
  add_max_length(metadata);
  if (!cache.save(key(encoding), tensors, metadata, cache_notes_) || !load_encoded(cache, encoding))
    throw Error(files_text(Split::train) +
                ": a training set of this size is trained from the token cache, which cannot be used: " +
                (cache_notes_.empty() ? "its file is gone" : cache_notes_.back()));
}

std::string TaskSets::key(const std::string& encoding) const {
  nlohmann::json key = {{"format", cache_format},
                        {"byte_order", std::endian::native == std::endian::little ? "little" : "big"},
                        {"task", parts_.identity},
                        {"max_length", data_.max_length},
                        {"files", planned_},
                        {"encoding", encoding}};
  if (data_.max_length_percent > 0) key["max_length"] = percent_text(data_.max_length_percent);
  if (!data_.split.empty()) key["split"] = data_.split;
  return key.dump();
}

void TaskSets::add_max_length(TensorMetadata& metadata) const {
  if (data_.max_length_percent > 0) metadata[max_length_name] = std::to_string(data_.max_length);
}

bool TaskSets::load_encoded(const TokenCache& cache, const std::string& encoding) {
  if (planned_.empty()) return false;
  const std::shared_ptr<const Safetensors> file = cache.load(key(encoding), cache_notes_);
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
  } catch (const ConfigError&) {
    throw;  // of a task that this length does not fit
  } catch (const Error& error) {
    cache_notes_.push_back(std::string("a file of the token cache is made anew: ") + error.what());
    return false;
  }
}

void TaskSets::save_encoded(const TokenCache& cache, const std::string& encoding) {
  if (planned_.empty()) return;
  TensorMetadata metadata = metadata_of(sets_);
  add_max_length(metadata);
  cache.save(key(encoding), tensors_of(sets_), std::move(metadata), cache_notes_);
}

const EncodedSet& TaskSets::set(Split split) const {
  ENCORE_REQUIRE(sets_[split], std::string("the ") + title_of(split) + " is encoded");
  return *sets_[split];
}

// --- what is reported ---

Notes TaskSets::notes() const {
  Notes notes = cache_notes_;
  for (const Split split : all_splits) {
    if (!has(split)) continue;
    const std::string prefix = std::string(name_of(split)) + ": ";
    if (split == Split::train && data_.max_length_percent > 0)
      notes.push_back("data.max_length = \"" + percent_text(data_.max_length_percent) + "\" is " +
                      std::to_string(data_.max_length) +
                      ": so many percent of the training sequences have no more pieces");
    const SetDescription& description = describe(split);
    notes.push_back(prefix + counts_note(set(split), description));
    for (const std::string& note : description.notes) notes.push_back(prefix + note);
    for (const std::string& note : set(split).reader_notes) notes.push_back(prefix + note);
  }
  return notes;
}

const SetDescription& TaskSets::describe(Split split) const {
  std::optional<SetDescription>& description = descriptions_[index(split)];
  if (!description) description = task().describe(set(split).set);
  return *description;
}

Statistics TaskSets::measure(Split split, const Outputs& outputs) const {
  return measured(task(), set(split).set, outputs, title_of(split));
}

std::string TaskSets::tune(const Outputs& dev) {
  std::string tuned = task().tune(set(Split::dev).set, dev);
  use(tuned);
  return tuned;
}

Records TaskSets::save_predictions(Split split, const Outputs& outputs, const Statistics& statistics,
                                   const std::filesystem::path& path) const {
  Sets read_again;
  if (!records_[index(split)]) read_into(split, read_again);
  const Records& records = records_[index(split)] ? *records_[index(split)] : *read_again[index(split)];
  Records predicted = task().label(records, set(split).set, outputs);
  write_predictions(path, parts_.fields, records, predicted, statistics);
  return predicted;
}

}  // namespace encore

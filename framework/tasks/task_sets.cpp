// Every set is read, encoded and scored on its own; only the labels come from all of them.
#include "tasks/task_sets.hpp"

#include <bit>

#include <nlohmann/json.hpp>

#include "config/nearest.hpp"
#include "data/encode.hpp"
#include "data/file.hpp"
#include "data/hash.hpp"
#include "record/specification.hpp"
#include "tasks/prediction_file.hpp"

namespace encore {

namespace {

/// Raised whenever the cache's file gets another form.
constexpr int cache_format = 4;

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

}  // namespace

ReadSet read_set(const Reader& reader, const std::filesystem::path& path, const std::string& what) {
  const std::string text = load_text(path, what);
  const InputText file{path.string(), text};
  return {reader.read({&file, 1}, what), sha256(text)};
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

TaskSets::TaskSets(TaskParts parts, const DataTable& data, ContentHashes planned)
    : parts_(std::move(parts)), data_(data), planned_(std::move(planned)) {}

// --- reading ---

const std::string& TaskSets::path(Split split) const {
  return split == Split::train ? data_.train : split == Split::dev ? data_.dev : data_.test;
}

Records TaskSets::read(Split split) const {
  ReadSet set = read_set(*parts_.reader, path(split), title_of(split));
  if (const auto planned = planned_.find(name_of(split)); planned != planned_.end())
    require_planned({path(split), planned->second}, name_of(split), set.sha256);
  with_file(path(split), [&] { require_fields(set.records, parts_.fields); });
  return std::move(set.records);
}

const Records& TaskSets::require_read(Split split) {
  std::optional<Records>& records = records_[index(split)];
  if (!records) records = read(split);
  return *records;
}

void TaskSets::read() {
  for (const Split split : all_splits)
    if (has(split)) require_read(split);
  if (prepared_) return;
  const Records& train = require_read(Split::train);
  with_file(path(Split::train), [&] { parts_.task->prepare(train); });
  for (const Split split : {Split::dev, Split::test}) {
    if (!has(split)) continue;
    const Records& other = require_read(split);
    with_file(path(split), [&] { parts_.task->extend(other); });
  }
  prepared_ = true;
}

TextCounts TaskSets::text_counts() {
  return task().text_counts(require_read(Split::train));
}

// --- encoding ---

void TaskSets::encode(const Tokenizer& tokenizer, int threads) {
  read();
  for (const Split split : all_splits) {
    if (!has(split)) continue;
    const Records& records = require_read(split);
    with_file(path(split), [&] {
      sets_[split].emplace(encode_records(task(), records, tokenizer, data_.max_length, threads),
                           records.notes);
    });
  }
  sets_.knowledge = task().knowledge();
  descriptions_ = {};
  records_[index(Split::train)].reset();  // nobody asks for its text again, and it takes the most memory
}

std::string TaskSets::key(const std::string& encoding) const {
  const nlohmann::json key = {{"format", cache_format},
                              {"byte_order", std::endian::native == std::endian::little ? "little" : "big"},
                              {"task", parts_.identity},
                              {"max_length", data_.max_length},
                              {"files", planned_},
                              {"encoding", encoding}};
  return key.dump();
}

bool TaskSets::load_encoded(const TokenCache& cache, const std::string& encoding) {
  if (planned_.empty()) return false;
  const std::shared_ptr<const Safetensors> file = cache.load(key(encoding), cache_notes_);
  if (!file) return false;
  try {
    parts_.task->restore(knowledge_in(*file));
    sets_ = encoded_sets_in(file, task().columns());
    descriptions_ = {};
    prepared_ = true;
    return true;
  } catch (const Error& error) {
    cache_notes_.push_back(std::string("a file of the token cache is made anew: ") + error.what());
    return false;
  }
}

void TaskSets::save_encoded(const TokenCache& cache, const std::string& encoding) {
  if (!planned_.empty()) cache.save(key(encoding), tensors_of(sets_), metadata_of(sets_), cache_notes_);
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

void TaskSets::save_predictions(Split split, const Outputs& outputs, const Statistics& statistics,
                                const std::filesystem::path& path) const {
  const std::optional<Records>& known = records_[index(split)];
  const Records read_again = known ? Records() : read(split);
  const Records& records = known ? *known : read_again;
  write_predictions(path, parts_.fields, records, task().label(records, set(split).set, outputs), statistics);
}

}  // namespace encore

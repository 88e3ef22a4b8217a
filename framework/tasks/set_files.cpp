// SPDX-License-Identifier: BSD-3-Clause
// SetFiles: finds the files of each set, reads them into records, and compares their hashes with the planned
// ones. Shares of the training files (data.split) and records of data.more depend on other sets, so they are
// read together. task_sets.cpp calls it. Read set_files.hpp first.
#include "tasks/set_files.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "record/specification.hpp"
#include "tasks/data_split.hpp"
#include "tasks/new_examples.hpp"

namespace encore::tasks {

namespace {

namespace fs = std::filesystem;

/// The name that messages use for the examples of data.more.
constexpr const char* added_title = "set of added examples";

}  // namespace

SetFiles::SetFiles(const Reader& reader, TaskFields fields, FieldRemedy remedy, const config::DataTable& data,
                   ContentHashes planned, CorpusLimits limits, bool takes_parts)
    : reader_(&reader),
      fields_(std::move(fields)),
      remedy_(std::move(remedy)),
      data_(data),
      planned_(std::move(planned)),
      limits_(limits) {
  if (reader_->cut() == Cut::nowhere || !takes_parts || data_.stratify) return;
  std::uintmax_t bytes = 0;
  std::error_code failure;  // ignored: reading the file reports it
  for (const std::vector<std::string>* files : {&data_.train, &data_.more})
    for (const std::string& path : *files)
      if (const std::uintmax_t size = fs::file_size(path, failure); !failure) bytes += size;
  in_parts_ = bytes > limits_.part_bytes;
}

// --- files ---

bool SetFiles::has(data::Split split) const {
  return !paths(split).empty();
}

const std::vector<std::string>& SetFiles::paths(data::Split split) const {
  return split == data::Split::train || is_share(split) ? data_.train
         : split == data::Split::dev                    ? data_.dev
                                                        : data_.test;
}

/// Returns "train.txt" or "a.txt and 2 more files".
std::string SetFiles::text(data::Split split) const {
  const std::vector<std::string>& files = paths(split);
  const std::size_t more = files.size() - 1;
  return files.front() + (more == 0   ? ""
                          : more == 1 ? " and 1 more file"
                                      : " and " + std::to_string(more) + " more files");
}

void SetFiles::require_as_planned(const char* role, const std::vector<std::string>& paths,
                                  const std::vector<std::string>& hashes) const {
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (const auto planned = planned_.find(record::numbered_file(role, i)); planned != planned_.end())
      record::require_planned({paths[i], planned->second}, role, hashes[i]);
}

// --- reading ---

ReadSet SetFiles::read_whole(data::Split files) const {
  ReadSet set = read_set(*reader_, paths(files), data::title_of(files));
  require_as_planned(data::name_of(files), paths(files), set.sha256);
  require_fields(set.records, fields_, paths(files), remedy_);
  return set;
}

void SetFiles::require_none_empty(const std::array<std::size_t, data::all_splits.size()>& counts,
                                  const Records* stratified) const {
  std::string counted;
  bool empty = false;
  for (const data::Split split : data::all_splits) {
    if (!is_share(split)) continue;
    empty = empty || counts[index_of(split)] == 0;
    counted += (counted.empty() ? "" : ", ") + std::to_string(counts[index_of(split)]) + " for the " +
               data::title_of(split);
  }
  if (!empty) return;
  std::string remedy = "give it more examples, or the set a larger share";
  if (stratified != nullptr) {
    const std::size_t labels = count_labels(*stratified, fields_);
    remedy = "data.stratify cuts the examples of each label on their own, and there are " +
             std::to_string(labels) + (labels == 1 ? " label" : " labels") +
             ": check that the labels are read from the right place, or leave data.stratify out";
  }
  throw Error(text(data::Split::train) + ": data.split leaves a set without examples: " + counted + "; " +
              remedy);
}

void SetFiles::read_into(data::Split split, RecordSets& to) const {
  if (to[index_of(split)]) return;
  if (!is_share(split)) {
    Records records = read_whole(split).records;
    if (split == data::Split::train && !data_.more.empty()) {
      for (const data::Split held : held_out_splits)
        if (has(held)) read_into(held, to);
      add_more(records, to);
    }
    to[index_of(split)] = std::move(records);
    return;
  }
  if (in_parts_) return visit_parts(to, {});
  const Records records = read_whole(data::Split::train).records;
  std::array<Records, data::all_splits.size()> sets = data_.stratify
                                                          ? split_each_label(records, fields_, data_.split)
                                                          : split_records(records, fields_, data_.split);
  require_none_empty({sets[0].size(), sets[1].size(), sets[2].size()}, data_.stratify ? &records : nullptr);
  const bool train_is_read = to[index_of(data::Split::train)].has_value();
  for (const data::Split one : data::all_splits)
    if (is_share(one) && !to[index_of(one)]) to[index_of(one)] = std::move(sets[index_of(one)]);
  if (train_is_read || data_.more.empty()) return;
  if (has(data::Split::test)) read_into(data::Split::test, to);
  add_more(*to[index_of(data::Split::train)], to);
}

void SetFiles::add_more(Records& train, const RecordSets& held) const {
  NewExamples examples(fields_, data_.held_out);
  for (const data::Split split : held_out_splits)
    if (held[index_of(split)]) examples.score(*held[index_of(split)]);
  ReadSet added = read_set(*reader_, data_.more, added_title);
  require_as_planned(record::added_role, data_.more, added.sha256);
  require_fields(added.records, fields_, data_.more, remedy_);
  with_file(data_.more.front(), [&] {
    Records learned = examples.learned(added.records, &train);
    if (learned.size() == 0) throw Error("nothing is left to learn from: " + learned.notes.back());
    require_same_fields(train, learned);
    std::erase_if(learned.notes, [&](const std::string& note) {
      return std::ranges::find(train.notes, note) != train.notes.end();  // a note such as "tags in IOB2"
    });
    std::vector<Records> sets;
    sets.push_back(std::move(train));
    sets.push_back(std::move(learned));
    train = joined(sets);
  });
}

void SetFiles::visit_more(const RecordSets& held, const VisitRecords& visit) const {
  NewExamples examples(fields_, data_.held_out);
  for (const data::Split split : held_out_splits)
    if (held[index_of(split)]) examples.score(*held[index_of(split)]);
  FileParts parts(data_.more, reader_->cut(), limits_.part_bytes, added_title);
  while (const std::optional<FileParts::Part> part = parts.next()) {
    Records records = examples.learned(read_part(*part, data_.more, added_title), nullptr);
    if (records.size() > 0) visit(records);
  }
  require_as_planned(record::added_role, data_.more, parts.hashes());
}

Records SetFiles::read_part(const FileParts::Part& part, const std::vector<std::string>& files,
                            const char* what) const {
  const std::string& path = files[part.file];
  const InputText input = {.name = path, .text = part.text, .first_line = part.first_line};
  Records records = reader_->read({&input, 1}, what);
  require_fields(records, fields_, {path}, remedy_);
  for (std::string& note : records.notes)
    note = fs::path(path).filename().string() + ", lines " + std::to_string(part.first_line) + " to " +
           std::to_string(part.last_line) + ": " + note;
  return records;
}

void SetFiles::visit_parts(RecordSets& held_out, const VisitRecords& visit) const {
  FileParts parts(paths(data::Split::train), reader_->cut(), limits_.part_bytes,
                  data::title_of(data::Split::train));
  std::array<std::size_t, data::all_splits.size()> counts = {};
  std::array<std::vector<Records>, data::all_splits.size()> kept;
  bool any = false;
  while (const std::optional<FileParts::Part> part = parts.next()) {
    any = true;
    Records records = read_part(*part, paths(data::Split::train), data::title_of(data::Split::train));
    if (!data_.split.empty()) {
      std::array<Records, data::all_splits.size()> sets = split_records(records, fields_, data_.split);
      for (const data::Split split : held_out_splits) {
        counts[index_of(split)] += sets[index_of(split)].size();
        if (is_share(split) && !held_out[index_of(split)])
          kept[index_of(split)].push_back(std::move(sets[index_of(split)]));
      }
      records = std::move(sets[index_of(data::Split::train)]);
    }
    counts[index_of(data::Split::train)] += records.size();
    if (visit && records.size() > 0) visit(records);
  }
  require_as_planned(data::name_of(data::Split::train), paths(data::Split::train), parts.hashes());
  if (!any)
    read_set(*reader_, paths(data::Split::train),
             data::title_of(data::Split::train));  // throws: the set is empty
  if (!data_.split.empty()) {
    require_none_empty(counts);
    for (const data::Split split : held_out_splits)
      if (is_share(split) && !held_out[index_of(split)])
        held_out[index_of(split)] = joined(kept[index_of(split)]);
  }
  if (!visit || data_.more.empty()) return;
  for (const data::Split split : held_out_splits)
    if (has(split) && !is_share(split)) read_into(split, held_out);
  visit_more(held_out, visit);
}

}  // namespace encore::tasks

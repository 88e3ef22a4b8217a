// SPDX-License-Identifier: BSD-3-Clause
// SetFiles reads the files of a run's sets into records, whole or, for a large corpus, part by part. It knows
// which files hold a set, the shares of the training files (data.split) and further examples (data.more), and
// checks that the files are those that were planned. task_sets.cpp uses it. The order of the records decides
// the bits of a run, so it stays. Read next: read_set.hpp, file_parts.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <encore/reader.hpp>
#include <encore/task.hpp>

#include "config/experiment.hpp"
#include "data/split.hpp"
#include "tasks/file_parts.hpp"
#include "tasks/read_set.hpp"

namespace encore::tasks {

/// The planned SHA-256 of each file of a run, by role ("train", "dev", "test", "vocab").
using ContentHashes = std::map<std::string, std::string>;

/// If the training files together exceed `part_bytes`, they are read in parts of about that size, provided
/// that reader and task allow it (Reader::cut, Task::takes_parts).
struct CorpusLimits {
  std::size_t part_bytes = std::size_t{8} << 20;
  /// The most words in the table from which a vocabulary is trained; beyond it the rarest are dropped.
  std::size_t most_words = std::size_t{2} << 20;
};

/// Returns the index of a set in arrays with one element per set.
constexpr std::size_t index_of(data::Split split) {
  return static_cast<std::size_t>(split);
}
inline constexpr std::array held_out_splits = {data::Split::dev, data::Split::test};

/// The records of each set, by index_of(); empty for sets that were not read.
using RecordSets = std::array<std::optional<Records>, data::all_splits.size()>;
using VisitRecords = std::function<void(Records&)>;

class SetFiles {
 public:
  /// Reads nothing yet; `reader` must outlive this object. `takes_parts`: the result of Task::takes_parts.
  /// `remedy` may be empty.
  SetFiles(const Reader& reader, TaskFields fields, FieldRemedy remedy, const config::DataTable& data,
           ContentHashes planned, CorpusLimits limits, bool takes_parts);

  bool has(data::Split split) const;
  /// Returns whether the set is a share of the training files (data.split).
  bool is_share(data::Split split) const { return index_of(split) < data_.split.size(); }
  /// Returns the files of a set for messages: "train.txt", "a.txt and 2 more files".
  std::string text(data::Split split) const;
  const ContentHashes& planned() const { return planned_; }
  /// Returns whether the training set is read in parts and never held whole.
  bool in_parts() const { return in_parts_; }

  /// Reads a set into `to`, and other sets that the same files hold. Does nothing if the set is there. Throws
  /// an Error that names file and line, or the file that differs from the planned one.
  void read_into(data::Split split, RecordSets& to) const;
  /// Calls `visit` for each part of the training set; only if in_parts(). Shares that are held out go into
  /// `held_out`. Without `visit` only these are read. Throws as read_into.
  void visit_parts(RecordSets& held_out, const VisitRecords& visit) const;

 private:
  /// Returns the files of a set; for a share, those of the training set.
  const std::vector<std::string>& paths(data::Split split) const;
  ReadSet read_whole(data::Split files) const;
  Records read_part(const FileParts::Part& part, const std::vector<std::string>& files,
                    const char* what) const;
  /// Appends the records of data.more to the training set, except those held out. `held`: the development and
  /// the test set, which are read here if they are missing.
  void add_more(Records& train, const RecordSets& held) const;
  void visit_more(const RecordSets& held, const VisitRecords& visit) const;
  void require_as_planned(const char* role, const std::vector<std::string>& paths,
                          const std::vector<std::string>& hashes) const;
  /// `stratified`: the records, if those of each label were split on their own; for the message.
  void require_none_empty(const std::array<std::size_t, data::all_splits.size()>& counts,
                          const Records* stratified = nullptr) const;

  const Reader* reader_;
  TaskFields fields_;
  FieldRemedy remedy_;
  config::DataTable data_;
  ContentHashes planned_;
  CorpusLimits limits_;
  bool in_parts_ = false;
};

}  // namespace encore::tasks

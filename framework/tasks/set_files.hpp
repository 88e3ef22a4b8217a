// SetFiles: the files of a run's sets and the records in them, whole or, for a large corpus, part by part:
// which files hold a set, shares of the training files (data.split), further examples (data.more), and
// whether the files are those that were planned. Place in the flow: task_sets.hpp asks for records. Read
// next: read_set.hpp, file_parts.hpp.
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

namespace encore {

/// The SHA-256 of each file of a run by role ("train", "dev", "test", "vocab"), as it was planned.
using ContentHashes = std::map<std::string, std::string>;

/// Training files that are larger than `part_bytes` together are read in parts of about that size, where
/// reader and task allow it (Reader::cut, Task::takes_parts).
struct CorpusLimits {
  std::size_t part_bytes = std::size_t{8} << 20;
  /// Words of the table from which a vocabulary is trained; above this number the rarest are dropped.
  std::size_t most_words = std::size_t{2} << 20;
};

/// The place of a set in arrays by set.
constexpr std::size_t index_of(Split split) {
  return static_cast<std::size_t>(split);
}
inline constexpr std::array held_out_splits = {Split::dev, Split::test};

/// The records of each set that was read, by index_of.
using RecordSets = std::array<std::optional<Records>, all_splits.size()>;
using VisitRecords = std::function<void(Records&)>;

class SetFiles {
 public:
  /// Reads nothing yet; `reader` must outlive this. `takes_parts`: Task::takes_parts. `remedy` may be empty.
  SetFiles(const Reader& reader, TaskFields fields, FieldRemedy remedy, const DataTable& data,
           ContentHashes planned, CorpusLimits limits, bool takes_parts);

  bool has(Split split) const;
  /// Whether the set is a share of the training files (data.split).
  bool is_share(Split split) const { return index_of(split) < data_.split.size(); }
  /// The files of a set that exists, for messages: "train.txt", "a.txt and 2 more files".
  std::string text(Split split) const;
  const ContentHashes& planned() const { return planned_; }
  /// Whether the training set is never held whole.
  bool in_parts() const { return in_parts_; }

  /// Reads the files that hold a set into `to`, also the other sets that they hold, unless they are there.
  /// Throws Error naming file and line of an error, or the file that differs from the planned one.
  void read_into(Split split, RecordSets& to) const;
  /// The training set part by part, where in_parts(); shares of its files that are held out go into
  /// `held_out`. Without `visit` only these. Throws as read_into.
  void visit_parts(RecordSets& held_out, const VisitRecords& visit) const;

 private:
  /// The files of a set; of a share those of the training set.
  const std::vector<std::string>& paths(Split split) const;
  ReadSet read_whole(Split files) const;
  Records read_part(const FileParts::Part& part, const std::vector<std::string>& files,
                    const char* what) const;
  /// Appends the records to learn from of data.more to the training set. `held`: the development and the test
  /// set, read into here.
  void add_more(Records& train, const RecordSets& held) const;
  void visit_more(const RecordSets& held, const VisitRecords& visit) const;
  void require_as_planned(const char* role, const std::vector<std::string>& paths,
                          const std::vector<std::string>& hashes) const;
  void require_none_empty(const std::array<std::size_t, all_splits.size()>& counts) const;

  const Reader* reader_;
  TaskFields fields_;
  FieldRemedy remedy_;
  DataTable data_;
  ContentHashes planned_;
  CorpusLimits limits_;
  bool in_parts_ = false;
};

}  // namespace encore

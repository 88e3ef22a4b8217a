// TaskSets: the sets of a run on their way through reader and task: files, records, encoded sets, measures,
// predictions. What is read or encoded once is kept only as long as it is needed.
// Place in the flow: infer/setup.hpp makes one from an experiment; session, evaluator and trainer use it.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <encore/reader.hpp>
#include <encore/task.hpp>

#include "config/experiment.hpp"
#include "tasks/encoded_sets.hpp"
#include "tasks/token_cache.hpp"

namespace encore {

/// The SHA-256 of each file of a run by role ("train", "dev", "test", "vocab"), as it was planned.
using ContentHashes = std::map<std::string, std::string>;

/// A task and the reader it gets its records from.
struct TaskParts {
  std::unique_ptr<Task> task;
  std::unique_ptr<Reader> reader;
  TaskFields fields;              ///< what the task reads
  std::vector<Measure> measures;  ///< what it reports
  std::string identity;           ///< the text of everything about both that decides what is encoded
};

/// The records of one file with its hash. `what` names the set in messages. Throws Error that names file and
/// line.
struct ReadSet {
  Records records;
  std::string sha256;
};
ReadSet read_set(const Reader& reader, const std::filesystem::path& path, const std::string& what);

/// Throws Error where the records lack a field that the task needs: a reader's options may leave some out.
void require_fields(const Records& records, const TaskFields& needs);

/// What `work` gives, which is done on the content of a file: an Error of it gets the file's name in front.
template <class Work>
auto with_file(const std::filesystem::path& path, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

/// What each example of a set adds to the measures. Throws Error when the task leaves one out.
Statistics measured(const Task& task, const ExampleSet& set, const Outputs& outputs, const std::string& what);

class TaskSets {
 public:
  /// Reads nothing yet. Without `planned` hashes nothing is compared with them, and nothing is cached.
  TaskSets(TaskParts parts, const DataTable& data, ContentHashes planned = {});

  const Task& task() const { return *parts_.task; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  bool has(Split split) const { return !path(split).empty(); }

  /// Reads every set that is not read yet; then the task knows its labels. Throws Error naming file and line
  /// of what cannot be read, or the file that is no longer the one that was planned.
  void read();
  /// Of the training set; reads it when it is not read yet.
  TextCounts text_counts();

  /// Turns all sets into examples, reading what is not read yet. The number of threads changes no bit.
  void encode(const Tokenizer& tokenizer, int threads);
  /// The same from what save_encoded left there for these files and the same `encoding`, the text of
  /// everything about the tokenizer that decides its pieces; false when there is nothing. No set is read.
  bool load_encoded(const TokenCache& cache, const std::string& encoding);
  void save_encoded(const TokenCache& cache, const std::string& encoding);

  // --- after encode or load_encoded ---
  const EncodedSet& set(Split split) const;
  /// What a user should know about the data: sequences that were cut, labels that training lacks.
  Notes notes() const;
  /// Made once: the task walks through the whole set for it.
  const SetDescription& describe(Split split) const;
  Statistics measure(Split split, const Outputs& outputs) const;
  /// Writes the predictions example by example, one JSON object a line. Reads the set's records again when
  /// the examples came from the cache.
  void save_predictions(Split split, const Outputs& outputs, const Statistics& statistics,
                        const std::filesystem::path& path) const;

 private:
  const std::string& path(Split split) const;
  Records read(Split split) const;
  const Records& require_read(Split split);
  std::string key(const std::string& encoding) const;

  TaskParts parts_;
  DataTable data_;
  ContentHashes planned_;
  std::array<std::optional<Records>, all_splits.size()> records_;  ///< as far as they were needed
  bool prepared_ = false;
  EncodedSets sets_;
  mutable std::array<std::optional<SetDescription>, all_splits.size()> descriptions_;
  Notes cache_notes_;
};

}  // namespace encore

// TaskSets: the sets of a run on their way through reader and task: files, records, encoded sets, measures,
// predictions. Data that were read or encoded are kept only as long as they are needed, and a large corpus is
// never held whole (set_files.hpp).
// Place in the flow: infer/setup.hpp makes one from an experiment; session, evaluator and trainer use it.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <encore/reader.hpp>
#include <encore/task.hpp>

#include "config/experiment.hpp"
#include "tasks/encoded_sets.hpp"
#include "tasks/read_set.hpp"
#include "tasks/set_files.hpp"
#include "tasks/token_cache.hpp"

namespace encore {

/// A task and the reader it gets its records from.
struct TaskParts {
  /// The task with this data.max_length. Throws ConfigError if its options do not fit that.
  std::function<std::unique_ptr<Task>(std::int64_t max_length)> make_task;
  std::unique_ptr<Task> task;  ///< with longest_sequence as long as data.max_length is not known
  std::unique_ptr<Reader> reader;
  TaskFields fields;              ///< what the task reads
  std::vector<Measure> measures;  ///< what it reports
  std::string identity;           ///< the text of everything about both that decides the encoding
  FieldRemedy remedy = {};        ///< of a reader that leaves out fields; empty: its name is not known
};

/// What each example of a set adds to the measures. Throws Error when the task leaves one out.
Statistics measured(const Task& task, const ExampleSet& set, const Outputs& outputs, const std::string& what);

class EncodedParts;

/// data.max_length of a task that cuts nothing.
inline constexpr std::int64_t longest_sequence = std::int64_t{1} << 20;

class TaskSets {
 public:
  /// Reads nothing yet. Without `planned` hashes nothing is compared with them, and nothing is cached.
  TaskSets(TaskParts parts, const DataTable& data, ContentHashes planned = {}, CorpusLimits limits = {});

  const Task& task() const { return *parts_.task; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  bool has(Split split) const { return files_.has(split); }
  /// data.max_length; 0 where it is a share of the training set that is not encoded yet.
  std::int64_t max_length() const { return data_.max_length; }
  /// Whether it follows from the lengths of the training set.
  bool max_length_follows() const { return data_.max_length_percent > 0; }

  /// Reads every set that is not read yet; then the task knows its labels. Throws Error naming file and line
  /// of an error, or the file that differs from the planned one.
  void read();
  /// The text counts of the training set, with which the task is prepared; reads it if it is not read yet.
  TextCounts text_counts();

  /// Turns all sets into examples, reading what is not read yet; then max_length() is known. The number of
  /// threads changes no bit.
  void encode(const Tokenizer& tokenizer, int threads);
  /// The same through the cache: sets that it lacks are encoded and stored there. A training set that is read
  /// in parts goes there part by part and is mapped. Throws Error when such a set cannot be written.
  void encode(const Tokenizer& tokenizer, int threads, const TokenCache& cache, const std::string& encoding);
  /// The same from the file that save_encoded stored for these files and the same `encoding`, the text of
  /// everything about the tokenizer that decides its tokens; false when there is nothing. No set is read.
  bool load_encoded(const TokenCache& cache, const std::string& encoding);
  void save_encoded(const TokenCache& cache, const std::string& encoding);

  // --- after encode or load_encoded ---
  const EncodedSet& set(Split split) const;
  /// What a user should know about the data: sequences that were cut, labels that training lacks.
  Notes notes() const;
  /// Computed once: the task walks through the whole set for it.
  const SetDescription& describe(Split split) const;
  Statistics measure(Split split, const Outputs& outputs) const;
  /// The choice of the task by these outputs of the development set (Task::tune), which it uses from now
  /// on; returns it as text. use() sets such a text again.
  std::string tune(const Outputs& dev);
  void use(const std::string& tuned) { parts_.task->use(tuned); }
  /// Writes the predictions example by example, one JSON object a line, and returns them (Task::label). Reads
  /// the set's records again when the examples came from the cache.
  Records save_predictions(Split split, const Outputs& outputs, const Statistics& statistics,
                           const std::filesystem::path& path) const;

 private:
  /// The training set, whole or part by part; held-out shares of its files are kept on the way.
  void visit_train(const VisitRecords& visit);
  const Records& require_read(Split split);
  ExampleSet encoded(Split split, const Records& records, const Tokenizer& tokenizer, std::int64_t max_length,
                     int threads, std::size_t earlier = 0) const;
  void decide_max_length(const Tokenizer& tokenizer, int threads);
  void remake_task();
  void encode_train(EncodedParts& to, std::vector<std::string>& notes, const Tokenizer& tokenizer,
                    int threads);
  void encode_held_out(const Tokenizer& tokenizer, int threads);
  void add_max_length(TensorMetadata& metadata) const;
  std::string key(const std::string& encoding) const;

  TaskParts parts_;
  DataTable data_;
  std::size_t most_words_;
  SetFiles files_;
  RecordSets records_;  ///< as far as they were needed
  bool prepared_ = false, extended_ = false;
  EncodedSets sets_;
  mutable std::array<std::optional<SetDescription>, all_splits.size()> descriptions_;
  Notes cache_notes_;
};

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// TaskSets takes the sets of a run through all stages: files, records, encoded sets, measures, predictions.
// It keeps what it has read or encoded only as long as needed, and never holds a large corpus whole
// (set_files.hpp). infer/setup.hpp makes one from an experiment; session, evaluator and trainer use it.
// Encoded sets must be the same with and without the cache, whole or in parts, for any number of threads.
#pragma once

#include <array>
#include <cstdint>
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

namespace encore::tasks {

/// A task, and the reader that makes its records.
struct TaskParts {
  /// Makes the task for this data.max_length. Throws ConfigError if its options do not fit that length.
  std::function<std::unique_ptr<Task>(std::int64_t max_length)> make_task;
  std::unique_ptr<Task> task;  ///< made with longest_sequence until data.max_length is known
  std::unique_ptr<Reader> reader;
  TaskFields fields;              ///< what the task reads
  std::vector<Measure> measures;  ///< what it reports
  std::string identity;           ///< the text of everything about both that decides the encoding
  FieldRemedy remedy = {};        ///< of a reader that leaves out fields; empty: its name is not known
};

/// Returns what each example of a set adds to the measures. Throws Error if the task leaves out an example.
Statistics measured(const Task& task, const ExampleSet& set, const Outputs& outputs, const std::string& what);

/// Of which inputs a vocabulary is trained: of all, or of those that the task reads, or of those that it is
/// to generate (its truth).
enum class TextSide : std::uint8_t { both, sources, targets };

class EncodedParts;

/// The data.max_length for which a task cuts no sequence.
inline constexpr std::int64_t longest_sequence = std::int64_t{1} << 20;

class TaskSets {
 public:
  /// The constructor reads no file. Without `planned` hashes, files are not compared with the plan and
  /// nothing is cached.
  TaskSets(TaskParts parts, const config::DataTable& data, ContentHashes planned = {},
           CorpusLimits limits = {});

  const Task& task() const { return *parts_.task; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  bool has(data::Split split) const { return files_.has(split); }
  /// Returns data.max_length; 0 if it is a percentage and the training set is not encoded yet.
  std::int64_t max_length() const { return data_.max_length; }
  /// Returns whether data.max_length is a percentage, so that the lengths of the training set decide it.
  bool max_length_follows() const { return data_.max_length_percent > 0; }

  /// Reads all sets that are not read yet; then the task knows its labels. Throws an Error that names file
  /// and line, or the file that differs from the planned one.
  void read();
  /// Returns how often each word occurs in the training set, or in one side of it (Task::text_counts), from
  /// which a vocabulary is trained. Reads the set, and prepares the task with it, if needed.
  TextCounts text_counts(TextSide side = TextSide::both);

  /// Encodes all sets, and reads them if needed; then max_length() is known. The result does not depend on
  /// the number of threads.
  void encode(const Tokenizer& tokenizer, int threads);
  /// Encodes like encode() above, but sets that the cache lacks are stored there. A training set that is read
  /// in parts is stored part by part, and then mapped. Throws Error if such a set cannot be written.
  void encode(const Tokenizer& tokenizer, int threads, const TokenCache& cache, const std::string& encoding);
  /// Loads the sets from the file that save_encoded() stored for these files and the same `encoding`, the
  /// text of everything about the tokenizer that decides its tokens. Reads no set. Returns false if there is
  /// no such file.
  bool load_encoded(const TokenCache& cache, const std::string& encoding);
  /// Stores the encoded sets in the cache.
  void save_encoded(const TokenCache& cache, const std::string& encoding);

  // --- after encode or load_encoded ---
  const EncodedSet& set(data::Split split) const;
  /// Returns what the user should know about the data: sequences that were cut, labels that the training set
  /// lacks.
  Notes notes() const;
  /// Returns counts of a set. They are computed once, because the task walks through the whole set.
  const SetDescription& describe(data::Split split) const;
  /// Returns what each example of the set adds to the measures.
  Statistics measure(data::Split split, const Outputs& outputs) const;
  /// Lets the task choose a setting, such as thresholds, by these outputs of the development set
  /// (Task::tune), and use it from now on. Returns the choice as text; use() sets such a text again.
  std::string tune(const Outputs& dev);
  void use(const std::string& tuned) { parts_.task->use(tuned); }
  /// Writes the predictions, one JSON object per example and line, and returns them (Task::label). Reads the
  /// set's records again if the examples came from the cache.
  Records save_predictions(data::Split split, const Outputs& outputs, const Statistics& statistics,
                           const std::filesystem::path& path) const;

 private:
  /// Calls `visit` for the training set, whole or part by part; keeps held-out shares of its files.
  void visit_train(const VisitRecords& visit);
  const Records& require_read(data::Split split);
  ExampleSet encoded(data::Split split, const Records& records, const Tokenizer& tokenizer,
                     std::int64_t max_length, int threads, std::size_t earlier = 0) const;
  void decide_max_length(const Tokenizer& tokenizer, int threads);
  void remake_task();
  void encode_train(EncodedParts& to, std::vector<std::string>& notes, const Tokenizer& tokenizer,
                    int threads);
  void encode_held_out(const Tokenizer& tokenizer, int threads);
  void add_max_length(record::TensorMetadata& metadata) const;
  std::string key(const std::string& encoding) const;

  TaskParts parts_;
  config::DataTable data_;
  std::size_t most_words_;
  SetFiles files_;
  RecordSets records_;  ///< sets that were needed so far
  bool prepared_ = false, extended_ = false;
  EncodedSets sets_;
  mutable std::array<std::optional<SetDescription>, data::all_splits.size()> descriptions_;
  Notes cache_notes_;
};

}  // namespace encore::tasks

// SPDX-License-Identifier: BSD-3-Clause
// Task: the plugin that defines what is learned (entity recognition, classification, translation): which
// fields of a record matter, how they become ids and targets, and how outputs are scored and shown. The code
// runs on the host, in the worker. A task gets Records from a reader, learns labels from them (prepare) and
// makes an ExampleSet (encode). From the Outputs of the model it makes measures and answers (measure, label,
// answer). The header is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
// Read next, in the source tree: plugins/tasks/ner/ner.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/examples.hpp>
#include <encore/measure.hpp>
#include <encore/options.hpp>
#include <encore/outputs.hpp>
#include <encore/records.hpp>
#include <encore/statistics.hpp>
#include <encore/tokenizer.hpp>

namespace encore {

struct TaskContext {
  std::int64_t max_length = 0;  ///< rows of the longest sequence, data.max_length
};

/// The fields of records that a task reads: those that are there at prediction too, those that hold the
/// truth, and those of structure that it does without where the training set has none (the second text of
/// pairs).
struct TaskFields {
  std::vector<std::string> structure;
  std::vector<std::string> truth;
  std::vector<std::string> optional = {};

  friend bool operator==(const TaskFields&, const TaskFields&) = default;
};

/// What redraw() may depend on, in addition to the example.
struct ExampleDraw {
  std::uint64_t seed = 0;   ///< of the run
  std::int64_t epoch = 0;   ///< from 0
  std::size_t example = 0;  ///< its number in the set
};

/// The counts and remarks about an encoded set that users see.
struct SetDescription {
  /// {"words", 1287}, {"cut words", 41}: in reports, and in logs where not 0.
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::vector<std::string> notes;  ///< lines for the run's log, without the counts
};

/// A kind of pretrained model that a task takes over without training (`exp import`).
struct AdoptedModel {
  /// The class of transformers without its family, followed by a / and its problem if that is not the
  /// default: "ForTokenClassification", "ForSequenceClassification/multi_label_classification".
  std::string architecture;
  std::vector<std::string> task_options = {};  ///< of the task itself: {"next_sentence=true"}
  std::string head;                            ///< the type of head that computes the same
  std::vector<std::string> head_options = {};  ///< {"pooler=true"}
  std::string reader;                          ///< of the files that the model is scored on and predicts into

  friend bool operator==(const AdoptedModel&, const AdoptedModel&) = default;
};

/// T also needs `static TaskFields fields()`, `static std::vector<Measure> measures()` and `static constexpr
/// const char* select`, the default of train.select ("max dev/f1"). `static std::vector<AdoptedModel>
/// adopted()` is optional and goes with `adopt`. All calls but `encode` come from one thread at a time.
class Task {
 public:
  virtual ~Task() = default;

  // --- what the training set decides ---
  /// Learns from the training set what the model needs, such as the names of the classes. Throws Error when
  /// nothing can be learned from it, or for a value that the task does not take; name its record as "record
  /// 3: ...", counted from 1. The host puts the file in front.
  virtual void prepare(const Records& train) = 0;
  /// Learns from another data set, before it is encoded, the names that only this data set has. `prepare` or
  /// `restore` came first. Throws Error as prepare does, so that `exp plan` finds a value that the task does
  /// not take.
  virtual void extend(const Records& other) { static_cast<void>(other); }
  /// Writes what prepare and extend have learned as UTF-8 text, and reads it back. The text is kept with
  /// encoded sets and in the run's folder (labels.txt). restore throws Error if knowledge() did not write the
  /// text.
  virtual std::string knowledge() const = 0;
  virtual void restore(std::string_view knowledge) = 0;
  /// Returns the names of the classes that the head distinguishes, by number; empty if there are none.
  virtual std::vector<std::string> labels() const { return {}; }
  /// Returns the words or sentences of the training set, from which a tokenizer is trained. The host calls it
  /// after `prepare`.
  virtual TextCounts text_counts(const Records& train) const = 0;

  // --- records to numbers ---
  /// Returns the rules of the columns that encode fills beside the ids. The host calls it after prepare or
  /// restore, so widths may depend on the labels.
  virtual std::vector<ColumnRule> columns() const = 0;
  /// Encodes one record (a number below records.size()) as an example of one or several sequences. A sequence
  /// has from 1 to TaskContext::max_length ids, all of the vocabulary. Truth fields may be missing
  /// (prediction). Several threads call it at once, each with its own `to`. The host puts the name of the
  /// file and the number of the record in front of an Error: "dev.tsv: record 3: ...".
  virtual void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
                      EncodedExample& to) const = 0;
  /// Returns whether each epoch of training sees other numbers, such as other masks, which redraw() makes.
  /// Dev and test are scored as encode left them.
  virtual bool draws() const { return false; }
  /// `to` holds an example of the training set as encode left it; ids and values may change, their numbers
  /// may not, so that batches and memory are known beforehand. A pure function of the example and `draw`:
  /// numbers hashed from `draw`, as in plugins/tasks/mlm/masking.cpp of the source tree (random.hpp is for
  /// kernels). May come from several threads.
  virtual void redraw(const ExampleDraw& draw, EncodedExample& to) const {
    static_cast<void>(draw), static_cast<void>(to);
  }
  /// Returns whether the sequences of an example are learned and scored one by one, so that they may be in
  /// different batches (the windows of a long document); train.batch_size then counts sequences. A task that
  /// returns true must not draw.
  virtual bool separates_sequences() const { return false; }
  virtual SetDescription describe(const ExampleSet& set) const = 0;

  // --- outputs to what is reported ---
  /// Returns the outputs that measure, label and answer read. The head must give them.
  virtual std::vector<OutputRule> outputs() const = 0;
  /// Adds to `statistics` what each example contributes to the measures, in the order of the set:
  /// begin_example once for each.
  virtual void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const = 0;
  /// Returns the truth fields as the model predicts them, one value per record. `records` are those of `set`.
  virtual Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const = 0;

  // --- generation ---
  /// Returns how outputs are generated for measure, label and answer, which find them in Outputs::texts;
  /// empty if the task generates none. An output of a model with a decoder begins with the first row of its
  /// target, that of a causal stack alone with all rows of its sequence.
  virtual std::optional<Decoding> decoding() const { return {}; }

  // --- what the development set decides ---
  /// Returns a choice that follows from the outputs on the development set, such as a threshold, as lines of
  /// UTF-8 text; "" if there is none. The host calls it before each evaluation; the text is kept with the
  /// parameters.
  virtual std::string tune(const ExampleSet& dev, const Outputs& outputs) const {
    static_cast<void>(dev), static_cast<void>(outputs);
    return {};
  }
  /// Makes measure, label and answer use this text of tune(); "" means the options. Throws Error if tune()
  /// did not write the text.
  virtual void use(std::string_view tuned) {
    if (!tuned.empty()) throw Error("this task tunes nothing");
  }

  // --- text that a user types ---
  /// Returns one record per line, without truth and without its line end. Lines are as the user typed them:
  /// bytes that are not UTF-8 are possible. Throws Error if the task does not take lines.
  virtual Records from_text(std::span<const std::string> lines) const {
    static_cast<void>(lines);
    throw Error("this task does not take a line of text as input");
  }
  /// Returns what the model answers to records of from_text: fields for programs (JSON), and in the field
  /// `shown` a line for people.
  virtual Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
    static_cast<void>(records), static_cast<void>(set), static_cast<void>(outputs);
    throw Error("this task does not take a line of text as input");
  }
  /// Returns a text about the part of a record that was ignored because the record is too long ("entities are
  /// not looked for in its last 3 words"), or "".
  virtual std::string left_out(const ExampleSet& set, std::size_t example) const {
    static_cast<void>(set), static_cast<void>(example);
    return {};
  }

  // --- probabilities of answers ---
  /// Returns why answers have no probabilities with a head that gives these outputs, those on request among
  /// them; "" if scored_answer has them. No capital at the beginning and no full stop at the end.
  virtual std::string no_scores(std::span<const OutputRule> given) const {
    static_cast<void>(given);
    return "its answers have no probabilities";
  }
  /// Returns the fields of `answer` and their probabilities, which are also in `shown`. `outputs` has all
  /// that the head gives, also on request. By what an answer is:
  ///   one label           score: Numbers, of that label;  scores: NumberMaps, of every label, which exclude
  ///                       each other and sum to 1
  ///   a list of labels    score: NumberLists, of each;    scores: NumberMaps, each label by itself
  ///   a label per word    score: NumberLists, by word;    scores: NumberMapLists, by word; none of a word
  ///                       that was cut
  ///   spans of its text   TextSpan::score of each
  virtual Records scored_answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const {
    static_cast<void>(records), static_cast<void>(set), static_cast<void>(outputs);
    throw Error("this task has no probabilities of its answers");
  }

  // --- corpora that are never held at once ---
  /// Returns whether a training set may come in parts: prepare sees the first of them and learns nothing that
  /// the others could change, text_counts is called for each, and encode depends on its record alone.
  virtual bool takes_parts() const { return false; }

  // --- pretrained models ---
  /// The host calls it instead of prepare for a pretrained model, with the names of the classes that it
  /// distinguishes, by number; empty if it has none. Throws Error if a run of this task could not have these
  /// classes.
  virtual void adopt(const std::vector<std::string>& classes) {
    static_cast<void>(classes);
    throw Error("this task cannot take over a model that it has not trained");
  }
};

}  // namespace encore

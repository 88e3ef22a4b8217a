// SPDX-License-Identifier: BSD-3-Clause
// AppStep: the plugin that does one part of an application ([app] in an experiment file): it asks a model,
// decides, or searches. A step reads fields of records and gives new fields to the steps after it. The code
// runs on the host, in the worker. The records come from a reader or from lines of a user and pass through
// the steps in the order of app.steps; their fields are the answers. The header is part of the ABI of
// plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp). Read next, in the source tree:
// plugins/steps/predict.cpp (asks a model) and plugins/steps/decide (is fitted).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <encore/measure.hpp>
#include <encore/options.hpp>
#include <encore/records.hpp>
#include <encore/statistics.hpp>
#include <encore/task.hpp>

namespace encore {

/// The name of a field of vectors (Records::NumberLists) that reaches later steps but is left out of answers.
inline constexpr const char* vector_field = "vector";

/// The name of a text field by which a step says who answers a request: "answer" and "refuse" are automatic,
/// "review" is left to a person. The review queue of an application reads the last field with this name. It
/// proposes the step's field "label" or, if that is empty, the first field OTHER.label that the step reads,
/// and shows the numbers "confidence" and "scope" of the step (docs/guides/review.md).
inline constexpr const char* band_field = "band";

/// A trained model that a step asks: the run of its option `model`. Its answer to a record does not depend on
/// the records beside it. Calls come from one thread at a time.
class StepModel {
 public:
  virtual ~StepModel() = default;
  /// Returns the fields that the model's task reads.
  virtual const TaskFields& fields() const = 0;
  /// Returns the classes that the model distinguishes; empty if it has none.
  virtual std::vector<std::string> labels() const = 0;
  /// Return why answers have no probabilities, or inputs no vectors; "" if they have.
  virtual std::string no_scores() const = 0;
  virtual std::string no_vectors() const = 0;
  /// Returns the task's answers (Task::scored_answer, or Task::answer without probabilities), one per record.
  /// The model sees only the fields that its task reads and no truth.
  virtual Records answer(const Records& questions) = 0;
  /// Returns the vector of each input, as `exp embed` prints it. Throws Error if no_vectors() is not empty.
  virtual Records::NumberLists vectors(const Records::Texts& texts) = 0;
};

/// The values that a step receives in addition to its options.
struct StepContext {
  std::string name;            ///< its name in app.steps, in front of the fields and measures that it gives
  std::string before = {};     ///< the step before it; "": it is the first
  std::uint64_t seed = 0;      ///< of the run
  StepModel* model = nullptr;  ///< for a step with `asks_model`; null while a file is only checked
  /// The folder for files that fit() makes, such as an index. It is made by the step and named in
  /// knowledge(), with a digest of each file. Empty while a file is only checked.
  std::filesystem::path folder = {};
};

/// The fields of records that a step works with. A field of the reader has its own name ("text"), that of an
/// earlier step the step's name in front ("intent.label").
struct StepFields {
  std::vector<std::string> reads;       ///< there in every request
  std::vector<std::string> truth = {};  ///< what a perfect application would answer: only in data sets
  /// The fields of apply(), without the step's name; empty if they are known only when the model is.
  std::vector<std::string> gives = {};
};

/// The data that steps are fitted on. The test set is never among them.
struct StepSets {
  const Records* train = nullptr;  ///< of data.train; null if the experiment has none or learns() is false
  const Records& dev;              ///< the share of data.dev that app.fit names; it has the truth
};

/// T also needs `static Schema options()` and a constructor T(const Options&, const StepContext&). Optional:
/// `static std::vector<Measure> measures()`, with `static constexpr const char* select` (`"max
/// dev/automation"`) if a sweep may select by one of them; `static constexpr bool asks_model = true` for a
/// step whose table has the option `model`. All calls come from one thread at a time.
class AppStep {
 public:
  virtual ~AppStep() = default;
  /// The host calls it before anything is fitted, and also if the file is only checked.
  virtual StepFields fields() const = 0;

  // --- what the data decide ---
  /// Returns whether fit() reads the training set; it then passes through the steps before this one.
  virtual bool learns() const { return false; }
  /// Returns whether the step has anything to fit. If it has, fit() or restore() comes before apply().
  virtual bool is_fitted() const { return false; }
  /// Chooses what the step needs to know: a pure function of the records in their order, the options and the
  /// seed. The records have the fields of the reader and of the steps before. Throws Error if they do not
  /// suffice, and says what is missing.
  virtual void fit(const StepSets& sets) { static_cast<void>(sets); }
  /// Writes what fit() found as UTF-8 text, and reads it back; equal knowledge gives equal text. restore()
  /// throws Error if knowledge() did not write the text.
  virtual std::string knowledge() const { return {}; }
  virtual void restore(std::string_view knowledge) {
    if (!knowledge.empty()) throw Error("this step is not fitted");
  }
  /// Returns lines for the log of the run about what fit() found.
  virtual std::vector<std::string> notes() const { return {}; }

  // --- answers ---
  /// Returns the fields that the step gives, one value per record, in order. The field `shown` is a line for
  /// people; it does not reach later steps. The answer to a record depends only on this record. There is at
  /// least one record.
  virtual Records apply(const Records& records) = 0;

  // --- measures ---
  /// Adds to `statistics` what each record contributes to the measures: begin_example once for each. `given`
  /// is what apply() returned for `records`, which have the truth.
  virtual void measure(const Records& records, const Records& given, Statistics& statistics) const {
    static_cast<void>(given);
    for (std::size_t i = 0; i < records.size(); ++i) statistics.begin_example();
  }
};

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// StepTrial: the data of the checks of steps: records with the fields that a step reads, a model that it can
// ask, and a folder for the files of its fit. step_checks.cpp compares what the step makes of them. The
// records follow from the shared names of fields, so a new shared field needs a case in sample_records.cpp,
// and a new field of the steps that ship needs one in step_samples.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <encore/generates_text.hpp>
#include <encore/step.hpp>

#include "contract/suite.hpp"

namespace encore::contract {

/// A folder for temporary files, removed with its content by the destructor.
class TrialFolder {
 public:
  TrialFolder();
  ~TrialFolder();
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What a SampleModel reads and answers. A step gets the first model that it takes.
enum class SampleTask : std::uint8_t {
  classify,        ///< the field "text"; gives label, score and scores
  classify_pairs,  ///< the same for "text" and "text2", both of which it needs
  answer,          ///< "question" and "context"; gives answers and score
  summarize,       ///< "source"; gives summary: text, as the task summarize
  translate,       ///< "source"; gives translation and score, and generates strings (GeneratesText)
};

/// A model whose answers and vectors (of width 8) follow from a hash of its input, so the answer to a record
/// depends on this record alone.
class SampleModel final : public StepModel, public GeneratesText {
 public:
  SampleModel(SampleTask task, std::vector<std::string> labels);
  const TaskFields& fields() const override { return fields_; }
  std::vector<std::string> labels() const override { return labels_; }
  std::string no_scores() const override { return {}; }
  std::string no_vectors() const override { return {}; }
  Records answer(const Records& questions) override;
  Records::NumberLists vectors(const Records::Texts& texts) override;
  std::string no_writing() const override;
  std::vector<std::vector<WrittenText>> write(const Records& questions,
                                              const std::vector<WriteRequest>& requests) override;
  std::vector<TextAlignment> align(const Records::Texts& sources, const Records::Texts& targets) override;

 private:
  Records classes_of(const Records::Texts& inputs) const;
  static Records summaries_of(const Records::Texts& sources);

  SampleTask task_;
  TaskFields fields_;
  std::vector<std::string> labels_;
};

/// Which fields the records of a trial have beside those that the step reads.
enum class OtherFields : std::uint8_t {
  none,
  all,  ///< everything that a classifier in the step before may give: label, score, scores, vector
};

/// A step with one variant of its options, and records for it.
class StepTrial {
 public:
  /// Throws what the constructor and fields() of the step throw, NotChecked if no record can be made for a
  /// field of another step, Error if no reader gives the fields of `data`.
  StepTrial(const Offer& offer, const CheckData& data, const Options& options, OtherFields others);

  /// Returns a new step that is not fitted. `folder` names the folder of its files, in that of the trial.
  std::unique_ptr<AppStep> make(const std::string& folder = "files") const;
  /// Returns a new step that is fitted if it has anything to fit.
  std::unique_ptr<AppStep> fitted(const std::string& folder = "files") const;
  /// Fits the step on train() and dev().
  void fit(AppStep& step) const;
  std::filesystem::path folder(const std::string& name = "files") const { return folder_.path() / name; }

  const StepFields& fields() const { return fields_; }  ///< with the model
  /// Return records with the truth: of the training set, the development set, and those that are asked.
  /// `asked` has a label that the others lack.
  const Records& train() const { return train_; }
  const Records& dev() const { return dev_; }
  const Records& asked() const { return asked_; }

 private:
  StepFields fields_with_model(const std::vector<std::string>& labels);

  const Offer& offer_;
  Options options_;
  TrialFolder folder_;
  std::unique_ptr<SampleModel> model_;
  StepFields fields_;
  Records train_, dev_, asked_;
};

/// Makes the step as it is made where an experiment file is only checked: without a model and a folder.
std::unique_ptr<AppStep> make_only_checked(const Offer& offer, const Options& options);

/// Returns the variants of the options, as option_variants() does. If the constructor refuses one because an
/// option without a default has no value, as in a step that needs one of several options, that option gets
/// the middle of its range.
std::vector<OptionsVariant> step_variants(const Offer& offer);

/// Returns why a step is not checked that takes none of the sample models. `why` is its message.
std::string refused_models(const std::string& why);

/// Returns the records with these numbers, in this order.
Records records_at(const Records& records, const std::vector<std::size_t>& numbers);

}  // namespace encore::contract

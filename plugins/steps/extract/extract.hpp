// SPDX-License-Identifier: BSD-3-Clause
// The step "extract": makes typed fields and groups of a document from the labelled words of the step before
// it, a model of the task `ner` or `tag`; the type of the document may decide which fields it has. It checks
// the values, and leaves a document to a person if a check fails or if a value is less probable than a
// threshold, which the development set may choose for a stated error. extract_plugin.cpp registers it; the
// worker calls it through AppStep (encore/step.hpp). Experiment files have the names of the options and
// stored runs the knowledge, so these never change. Read next: extract.cpp, document.hpp,
// decide/thresholds.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/step.hpp>

#include "document.hpp"
#include "document_types.hpp"

namespace encore::extract {

class Extract final : public AppStep {
 public:
  static constexpr const char* summary =
      "makes typed fields and groups (JSON) of the words that a model labels, checks them, and leaves "
      "doubtful documents to a person";
  static constexpr const char* select = "max dev/f1";
  static Schema options();
  static std::vector<Measure> measures();

  /// Throws OptionError if no step stands before it, or for an invalid rule.
  Extract(const Options& options, const StepContext& context);

  StepFields fields() const override;
  bool is_fitted() const override { return error_.has_value(); }
  /// Chooses the lowest threshold that keeps the promise `error`, by the rules of the step `decide`.
  void fit(const StepSets& sets) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }
  Records apply(const Records& records) override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override;

 private:
  /// Returns the spans that the steps before found in each record.
  Records::SpanLists spans_in(const Records& records) const;
  /// Returns the spans of the step `from`.
  Records::SpanLists spans_of_model(const Records& records) const;
  /// Returns the type of each document as type_from gives it; none if the options name no types.
  std::vector<std::optional<DocumentType>> types_in(const Records& records) const;
  /// Returns the documents that the spans and types describe.
  std::vector<Document> documents_in(const Records& records) const;
  /// Returns the documents that the labels of the records describe, without a model.
  std::vector<Document> truths_in(const Records& records) const;
  /// Adds remarks about labels of the data that are not fields, and about fields without a label in the data.
  void note_labels(const Records& dev);
  const Rules& rules_of(const Document& document) const { return rules_.of(document.type); }
  /// Returns whether a step gives the type, so that the data have the true one as the field `label`.
  bool has_true_types() const { return type_from_.find('.') != std::string::npos; }
  bool may_approve(const Document& document, const std::vector<Failure>& failures) const {
    return failures.empty() && threshold_ && document.confidence() >= *threshold_;
  }

  std::string name_, from_;
  std::vector<std::string> also_from_;  ///< other steps whose entities are read
  bool reads_tags_;  ///< of a model of the task tag; false: the entities of a model of the task ner
  std::string type_from_, type_confidence_;  ///< fields with the type and its probability; "": none
  TypedRules rules_;
  std::optional<double> error_;      ///< promise: at most this share of the approved documents is wrong
  double level_;                     ///< the probability with which the promise holds
  std::optional<double> threshold_;  ///< none: no document is approved
  bool is_ready_;
  std::vector<std::string> notes_;
};

}  // namespace encore::extract

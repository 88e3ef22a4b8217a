// SPDX-License-Identifier: BSD-3-Clause
// The step "answer": answers a question from the documents that a search found. It asks a model of the task
// `qa` about each of the best documents, takes the answer with the highest probability, and leaves the
// question to a person if this probability is below a threshold. answer_plugin.cpp registers it; the worker
// calls it through AppStep (encore/step.hpp). Experiment files have the names of the options and stored runs
// the knowledge, so these never change. Answers of stored runs have sentences of sentence_of(), so a change
// of its rule needs a new version of the step. Read next: answer.cpp, qa/threshold.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <encore/step.hpp>

namespace encore::answer {

class AnswerStep final : public AppStep {
 public:
  static constexpr const char* summary =
      "answers a question by a part of the documents that a search found, or leaves it to a person";
  static constexpr const char* select = "max dev/f1";
  static constexpr bool asks_model = true;
  static Schema options();
  static std::vector<Measure> measures();

  /// Throws OptionError if no step stands before it, or if the model does not read a question and a context.
  AnswerStep(const Options& options, const StepContext& context);

  StepFields fields() const override;
  bool is_fitted() const override { return chooses_; }
  /// Chooses the threshold with the best mean F1 on the development set, in which an empty answer to a
  /// question without an answer counts as right.
  void fit(const StepSets& sets) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }
  Records apply(const Records& records) override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override;

 private:
  /// The best answer in the documents of one record.
  struct Found {
    std::string text, document, sentence;
    double confidence = 0.0;  ///< in [0, 1]
    bool is_there = false;    ///< false: the model finds no answer in any document
  };

  std::vector<Found> find_all(const Records& records);
  /// Returns what the probability of an answer is multiplied by. Throws Error if the score of the hit is not
  /// a probability.
  double weight_of(const Records& records, std::size_t record, std::size_t hit) const;
  bool may_answer(const Found& found) const { return found.is_there && found.confidence >= threshold_; }

  std::string name_, from_;
  std::size_t passages_;
  bool weighs_hits_;  ///< by model_scores of the step before
  StepModel* model_;
  bool chooses_;  ///< fit() chooses the threshold
  double threshold_;
  bool is_ready_;
  std::vector<std::string> notes_;
};

/// Returns, for the field `sentence`, the sentence that holds the bytes [begin, end) of a document, without
/// white space at its ends. A sentence ends at a line end, or behind a ".", "!" or "?" with closing quotation
/// marks and brackets, where white space follows. An end within the bytes does not count. The rule knows no
/// abbreviations, so "Mr." ends a sentence too.
std::string sentence_of(std::string_view document, std::size_t begin, std::size_t end);

}  // namespace encore::answer

// SPDX-License-Identifier: BSD-3-Clause
// The task "mlm": masked language modelling (Devlin et al. 2019): some tokens of a text are hidden, drawn
// again in every epoch, and predicted from the others; scored by perplexity. With next_sentence a window
// holds a text pair, and the model also predicts whether the second follows the first. Needs a head that
// gives the best tokens of each picked row, and its loss, as "language_model" does. Place in the flow:
// records with `text` -> windows of ids, picked rows and their targets -> the head's guesses -> counts per
// text, guesses for what a user masks. Trainer and inference call it through Task. Results depend on every
// draw and on the order of the columns, so these must not change. Read next: masking.hpp, next_text.hpp.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "masking.hpp"

namespace encore::mlm {

class Mlm final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "masked language modelling: the model predicts tokens that are drawn again in every epoch; 80 % of "
      "them are replaced by [MASK], 10 % by another token, and 10 % stay (Devlin et al. 2019)";
  static constexpr const char* select = "min dev/perplexity";
  static Schema options();
  static TaskFields fields() { return {{"text"}, {}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "ForMaskedLM", .head = "language_model", .reader = "text_file"},
            {.architecture = "ForPreTraining",
             .task_options = {"next_sentence = true"},
             .head = "language_model",
             .reader = "text_file"}};
  }

  /// The columns of an example, in the order of columns(); change both together.
  enum Column : std::size_t { picked, targets, specials, words };
  static constexpr const char* candidates_output = "candidates";
  static constexpr const char* probabilities_output = "probabilities";
  static constexpr const char* losses_output = "losses";
  static constexpr const char* next_output = "next";
  /// A field that marks records typed by a user, with masks in them.
  static constexpr const char* typed_field = "typed";

  Mlm(const Options& options, const TaskContext& context);

  /// Throws Error if the training set has no text.
  void prepare(const Records& train) override;
  void adopt(const std::vector<std::string>&) override {}  // there are no classes
  /// Returns a constant, because nothing is learned from the training set.
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  /// Counts words, which white space separates.
  TextCounts text_counts(const Records& train) const override;
  /// Each text is masked on its own, and there are no labels; but the second text comes from another record.
  bool takes_parts() const override { return !next_sentence_; }

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  /// Windows [CLS] tokens [SEP] of at most max_length rows, a sequence each; no token is left out. With
  /// next_sentence [CLS] tokens [SEP] tokens [SEP], where there are two tokens. The masks follow from the
  /// tokens, not from the place of the record. Records of from_text are masked where the user wrote the mask
  /// token, and nowhere else. Throws Error if the vocabulary has no mask token.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  bool draws() const override { return true; }
  void redraw(const ExampleDraw& draw, EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// The records have no truth; "correct" is the share of a text's masked tokens that were guessed right.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  /// With next_sentence a line may be a text pair with a tab between.
  Records from_text(std::span<const std::string> lines) const override;
  /// `masks`: the best token for each mask; `candidates`: for each mask the best tokens, each followed by its
  /// probability, separated by blanks; `follows`, with next_sentence: "yes" or "no", "" for a single text.
  /// Call it after encode() of these records, which records how tokens are written.
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers already have the probability of each candidate";
  }

 private:
  /// The tokens of a text, and with whole words the number of the word of each token. Without whole words,
  /// `words` is empty.
  struct Text {
    std::vector<std::int32_t> tokens, words;
  };
  /// A part of a text.
  struct Part {
    std::span<const std::int32_t> tokens, words;
  };
  static Part part_of(const Text& text, std::size_t begin, std::size_t end);
  Text text_of(const std::string& text, const Tokenizer& tokenizer) const;
  void encode_pairs(const Text& text, const Records& records, std::size_t record, const Tokenizer& tokenizer,
                    const Tokens& tokens, EncodedExample& to) const;
  /// Adds a window of one text or two, masked. next: the value for the column of that name.
  void append_window(std::span<const Part> texts, std::int32_t next, const Tokenizer& tokenizer,
                     const Tokens& tokens, bool typed, EncodedExample& to) const;
  std::size_t next_column() const { return whole_word_ ? 4 : 3; }
  void measure_pairs(const ExampleSet& set, const Outputs& outputs, std::size_t example,
                     Statistics& statistics) const;
  void mask_window(std::size_t first_row, const Tokens& tokens, EncodedExample& to) const;
  static void pick_masks(std::size_t first_row, const Tokens& tokens, EncodedExample& to);
  void remember_names(const Tokenizer& tokenizer) const;
  std::string name(std::int32_t token) const;

  std::size_t max_length_;
  double probability_;
  bool whole_word_;
  bool next_sentence_;
  /// How tokens are written in answers. encode sets it when a user asks, on several threads.
  mutable std::mutex mutex_;
  mutable std::vector<std::string> names_;
  mutable std::string mask_name_;
};

}  // namespace encore::mlm

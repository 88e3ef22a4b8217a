// SPDX-License-Identifier: BSD-3-Clause
// The list of cases that promises_test.cpp trains, and the functions that write line i of their data. Lines
// follow patterns that a tiny model learns within a few epochs; `at_least` is the score that shows it. Read
// promise_cases.hpp first.
#include "unit/train/promise_cases.hpp"

namespace encore::train {
namespace {

const char* const words[] = {"good", "great", "bad", "dull"};
const char* const things[] = {"film", "plot", "cast", "scene", "end"};

std::string review(int i) {
  return std::string("a ") + words[i % 4] + " " + things[i % 5];
}
std::string one_label(int i) {
  return review(i) + "\t" + (i % 4 < 2 ? "positive" : "negative");
}
/// Returns a label that depends on the second segment alone, so that a model has to read it.
std::string pair_label(int i) {
  return review(i) + "\t" + words[i / 4 % 4] + "\t" + (i / 4 % 4 < 2 ? "praised" : "panned");
}
std::string several_labels(int i) {
  return review(i) + "\t" + (i % 4 < 2 ? "positive" : "") +
         (i % 4 == 1   ? ",strong"
          : i % 4 == 3 ? "strong"
                       : "");
}
/// Returns a text, and the same words in another order.
std::string two_texts(int i) {
  return review(i) + "\t" + things[i % 5] + " , " + words[i % 4];
}
/// Returns two inputs whose similarity depends on the first word alone.
std::string alike(int i) {
  return review(i) + "\t" + words[i / 4 % 4] + "\t" + std::to_string(i % 4 / 2 == i / 4 % 4 / 2 ? 5 : 0);
}
std::string number(int i) {
  return review(i) + "\t" + std::to_string(3 - i % 4) + ".5";
}

/// Returns a text with words around it that say nothing, so that it is longer than max_length: 20 of them in
/// front of it, or behind it, or none.
std::string among_others(const std::string& text, int i) {
  std::string others;
  for (int k = 0; k < 5; ++k) others += " it was very long";
  return i % 3 == 0 ? "yes" + others + " " + text : i % 3 == 1 ? text + others + " yes" : text;
}
std::string long_label(int i) {
  return among_others(review(i), i) + "\t" + (i % 4 < 2 ? "positive" : "negative");
}
std::string long_labels(int i) {
  const std::string line = several_labels(i);
  return among_others(line.substr(0, line.find('\t')), i) + line.substr(line.find('\t'));
}
/// Returns a text that says the same in each window, so that each can learn the number.
std::string long_number(int i) {
  std::string text = review(i);
  for (int k = 0; k < (i % 3 == 2 ? 0 : 7); ++k) text += " " + review(i);
  return text + "\t" + std::to_string(3 - i % 4) + ".5";
}
std::string long_texts(int i) {
  return among_others(review(i), i) + "\t" + things[i % 5] + " , " + words[i % 4];
}

/// Returns a case with a task that any encoder learns and a model with this attention.
PromiseCase case_with_attention(const std::string& name, const std::string& attention,
                                const std::vector<std::string>& overrides = {}) {
  return {.name = name,
          .task = "classify",
          .data = "type = \"tsv\"",
          .head = "linear",
          .line = one_label,
          .measure = "test/accuracy",
          .at_least = 0.9,
          .attention = attention,
          .overrides = overrides};
}

/// Returns a sentence of three words in which the label of a thing depends on the word before it.
std::string tagged_words(int i) {
  const std::string word = words[i % 4];
  return "a\tDET\n" + word + "\tADJ\n" + things[i % 5] + (i % 4 < 2 ? "\tPRAISED\n" : "\tPANNED\n");
}
/// Returns a text with two spans, whose order decides the label.
std::string relation(int i) {
  const std::string one = "<e1>" + std::string(words[i % 4]) + "</e1>",
                    other = "<e2>" + std::string(things[i % 5]) + "</e2>";
  return "a " + (i % 3 == 0 ? one + " " + other : other + " is " + one) +
         (i % 3 == 0 ? "\tquality" : "\tstate");
}

/// Returns a line in which each word determines the next one; some lines are longer than max_length.
std::string counting(int i) {
  static const char* const numbers[] = {"one", "two", "three", "four", "five", "six", "seven"};
  std::string line;
  for (int k = 0; k < (i % 8 == 0 ? 40 : 5 + i % 7); ++k) line += std::string(numbers[(i + k) % 7]) + " ";
  return line;
}

constexpr const char* windows_of_16 =
    R"(train = "train.tsv", dev = "dev.tsv", test = "test.tsv", max_length = 16)";

/// Returns a case with a model that predicts the next word.
PromiseCase language_case(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return {.name = name,
          .task = "lm",
          .data = "type = \"text_file\"",
          .head = "language_model",
          .head_options = "causal = true\nhead.transform = false",
          .line = counting,
          .measure = "test/accuracy",
          .at_least = 0.8,
          .overrides = overrides};
}

/// Returns a line of words of one kind, so that a second segment from another line can be recognized.
std::string of_one_thing(int i) {
  const std::string thing = things[i % 5];
  std::string line;
  for (int k = 0; k < (i % 16 == 15 ? 1 : 4 + i % 3); ++k)
    line += (k > 0 ? " " : "") + (k % 3 == 2 ? std::string(words[(i + k) % 4]) : thing);
  return line;
}

/// Returns a case with a model that predicts masked words.
PromiseCase masked_language_case(const std::string& name, const std::string& task_options,
                                 std::string (*line)(int i), const std::string& measure, double at_least) {
  return {.name = name,
          .task = "mlm",
          .task_options = task_options,
          .data = "type = \"text_file\"",
          .head = "language_model",
          .line = line,
          .measure = measure,
          .at_least = at_least,
          .overrides = {"tokenizer.type=\"wordpiece\"", "tokenizer.vocab_size=100", "model.segments=2",
                        "model.norm_position=\"pre\""},
          .epochs = 60};
}

/// Returns a sentence, and the same in another language with another word order.
std::string translation(int i) {
  const char* const adjectives[] = {"gut", "gross", "schlecht", "fad"};
  const char* const nouns[] = {"Film", "Stoff", "Rolle", "Szene", "Ende"};
  return review(i) + "\t" + nouns[i % 5] + " ist " + adjectives[i % 4] + " !";
}
/// Returns an input, and its important words.
std::string summary(int i) {
  return review(i) + " , so is the " + things[(i + 1) % 5] + "\t" + words[i % 4] + " " + things[i % 5];
}

/// Returns a case with a task of an encoder and a decoder. Checkpoints are selected by a metric of tokens,
/// which improves before generated outputs do.
PromiseCase two_stack_case(const std::string& task, std::string (*line)(int i)) {
  return {.name = task,
          .task = task,
          .task_options = ", beam = 2",
          .data = "type = \"tsv\", source_column = \"1\", target_column = \"2\"",
          .head = "language_model",
          .head_options = "head.transform = false",
          .line = line,
          .measure = "test/accuracy",
          .at_least = 0.9,
          .overrides = {"model.layer.cross={ type = \"cross_attention\", heads = 2 }",
                        "model.decoder={ layers = 1, block = [\"attention\", \"cross\", \"feed_forward\"] }",
                        "train.select=\"max dev/accuracy\""}};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const PromiseCase& one) {
  return out << one.name;
}

const std::vector<PromiseCase>& promise_cases() {
  static const std::vector<PromiseCase> all = {
      {.name = "classify",
       .task = "classify",
       .data = "type = \"tsv\"",
       .head = "linear",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "classify_pairs",
       .task = "classify",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"3\"",
       .head = "linear",
       .line = pair_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "classify_weighed",
       .task = "classify",
       .task_options = ", class_weights = \"balanced\", label_weights = [\"positive=2\"]",
       .data = "type = \"tsv\"",
       .head = "linear",
       .head_options = "head.dropout = 0.2\nhead.pooler = true",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "multilabel_tuned",
       .task = "multilabel",
       .task_options = ", threshold = 0.9, tune_thresholds = true",
       .data = "type = \"tsv\", label_type = \"list\"",
       .head = "sigmoid",
       .line = several_labels,
       .measure = "test/micro_f1",
       .at_least = 0.9},
      {.name = "tag",
       .task = "tag",
       .data = "type = \"conll\", label_type = \"word\"",
       .head = "linear",
       .head_options = "head.dropout = 0.1",
       .line = tagged_words,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "tag_weighed",
       .task = "tag",
       .task_options = ", class_weights = \"balanced\"",
       .data = "type = \"conll\", label_type = \"word\"",
       .head = "linear",
       .line = tagged_words,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "relation",
       .task = "relation",
       .task_options = ", class_weights = \"balanced\"",
       .data = "type = \"tsv\", marked_spans = true",
       .head = "span_pair",
       .head_options = "head.dropout = 0.1",
       .line = relation,
       .measure = "test/f1_macro",
       .at_least = 0.9},
      {.name = "multilabel",
       .task = "multilabel",
       .data = "type = \"tsv\", label_type = \"list\"",
       .head = "sigmoid",
       .line = several_labels,
       .measure = "test/micro_f1",
       .at_least = 0.9},
      {.name = "regress",
       .task = "regress",
       .data = "type = \"tsv\", label_type = \"number\"",
       .head = "regression",
       .line = number,
       .measure = "test/spearman",
       .at_least = 0.9},
      two_stack_case("translate", translation),
      two_stack_case("summarize", summary),
      case_with_attention("linear_attention", "type = \"linear_attention\""),
      case_with_attention("sparse_attention", "type = \"sparse_attention\", window = 1, stride = 2"),
      case_with_attention("disentangled_attention", "type = \"disentangled_attention\", max_distance = 3"),
      case_with_attention("factorised_embedding", "type = \"self_attention\", head_size = 5",
                          {"model.embedding_width=6", "model.final_norm=true",
                           "model.layer.feed_forward.activation=\"silu\""}),
      // This case splits one list of files into its sets, and takes max_length from the training set.
      {.name = "classify_split",
       .task = "classify",
       .data = "type = \"tsv\"",
       .head = "linear",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9,
       .sets =
           R"(train = ["train.tsv", "dev.tsv", "test.tsv"], split = [0.6, 0.2, 0.2], max_length = "95%")"},
      {.name = "embed",
       .task = "embed",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"\"",
       .head = "embedding",
       .line = two_texts,
       .measure = "test/accuracy",
       .at_least = 0.8,
       .couples_batches = true},
      {.name = "embed_numbers",
       .task = "embed",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"3\", label_type = \"number\"",
       .head = "embedding",
       .line = alike,
       .measure = "test/spearman",
       .at_least = 0.8,
       .overrides = {"train.select=\"max dev/spearman\""}},
      // Long inputs are read in windows of at most 14 tokens.
      {.name = "classify_windows",
       .task = "classify",
       .task_options = ", stride = 3",
       .data = "type = \"tsv\"",
       .head = "linear",
       .line = long_label,
       .measure = "test/accuracy",
       .at_least = 0.9,
       .sets = windows_of_16},
      {.name = "multilabel_windows",
       .task = "multilabel",
       .task_options = ", stride = 3, tune_thresholds = true",
       .data = "type = \"tsv\", label_type = \"list\"",
       .head = "sigmoid",
       .line = long_labels,
       .measure = "test/micro_f1",
       .at_least = 0.9,
       .sets = windows_of_16},
      {.name = "regress_windows",
       .task = "regress",
       .task_options = ", stride = 3",
       .data = "type = \"tsv\", label_type = \"number\"",
       .head = "regression",
       .line = long_number,
       .measure = "test/spearman",
       .at_least = 0.9,
       .sets = windows_of_16},
      {.name = "embed_windows",
       .task = "embed",
       .task_options = ", stride = 3",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"\"",
       .head = "embedding",
       .line = long_texts,
       .measure = "test/accuracy",
       .at_least = 0.8,
       .sets = windows_of_16,
       .couples_batches = true},
      language_case("lm"),
      masked_language_case("mlm", ", whole_word = true", counting, "test/accuracy", 0.8),
      masked_language_case("mlm_pairs", ", next_sentence = true", of_one_thing, "test/next_accuracy", 0.7),
      language_case("lm_by_tokens", {"train.batch_tokens=100"}),
  };
  return all;
}

}  // namespace encore::train

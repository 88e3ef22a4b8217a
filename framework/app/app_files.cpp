// SPDX-License-Identifier: BSD-3-Clause
// Writes model.toml and app.toml for a user's own data. app_from_file.cpp calls it. Both files cut the data
// by the same shares, without `stratify`, so no record of the fit or of the test set is known to the model.
// Sizes of the model follow from the length and number of the records; they were chosen for minutes on two
// cores, and may change. Read app_files.hpp first.
#include "app/app_files.hpp"

#include <algorithm>
#include <cmath>

#include "app/toml_text.hpp"
#include "base/readable_text.hpp"

namespace encore::app {

namespace {

std::string share_text(double share) {
  return coordinate_text(share, 3);
}

/// Returns the table [data] up to the shares, which both files have in common but for the shares.
std::string data_table(const AppFilesPlan& plan, const std::string& split, const std::string& remark) {
  const record::SurveyAnswer& survey = plan.survey;
  const bool is_json = survey.reader == "jsonl";
  std::string text =
      "[data]\ntype = " + toml_text(survey.reader) + "\ntrain = " + toml_text(plan.file) + "\n";
  text += "split = [" + split + "]  # " + remark + "\n";
  if (!is_json) {
    text += "delimiter = " + toml_text(survey.delimiter) + "\n";
    text += std::string("header = ") + (survey.header ? "true" : "false") + "\n";
  }
  text += (is_json ? "text_key = " : "text_column = ") + toml_text(survey.text.name) + "\n";
  text += (is_json ? "label_key = " : "label_column = ") + toml_text(survey.label.name) + "\n";
  const bool skips = survey.found->invalid > 0 || (survey.test && survey.test->found.invalid > 0);
  if (skips)
    text += "bad_rows = \"skip\"  # leave out rows without a text or a label; \"error\": refuse the file\n";
  return text;
}

std::int64_t training_records(const AppFilesPlan& plan) {
  return std::llround(plan.shares.train * static_cast<double>(plan.survey.found->records));
}

/// Returns the longest sequence, in tokens: about two for each word.
std::int64_t max_length_of(const AppFilesPlan& plan) {
  constexpr std::int64_t step = 16, most = 256;
  const auto tokens = static_cast<std::int64_t>(2.0 * plan.survey.found->long_words) + 2;
  return std::clamp((tokens + step - 1) / step * step, step, most);
}

std::int64_t vocabulary_of(const AppFilesPlan& plan) {
  constexpr std::int64_t small_text = 300'000, large_text = 3'000'000;  // characters
  const std::int64_t characters = plan.survey.found->characters;
  return characters < small_text ? 1000 : characters < large_text ? 4000 : 8000;
}

/// Returns the number of passes over the training set: many over a small one.
std::int64_t epochs_of(const AppFilesPlan& plan, double examples, double most) {
  const double epochs = examples / std::max<double>(1.0, static_cast<double>(training_records(plan)));
  return std::llround(std::clamp(epochs, 2.0, most));
}

std::string heading(const std::string& what) {
  return "# Written by exp app new: " + what +
         "\n# Every value may be changed; exp run then trains and fits " + "what the change concerns.\n";
}

std::string model_from_scratch(const AppFilesPlan& plan) {
  return "[tokenizer]\ntype = \"wordpiece\"  # exp plugin ls --kind tokenizer lists others\nvocab_size = " +
         std::to_string(vocabulary_of(plan)) + "\n\n" +
         R"([model]
width = 128
layers = 2
block = ["attention", "feed_forward"]

[model.layer.attention]
type = "self_attention"
heads = 4

[model.layer.feed_forward]
type = "feed_forward"
hidden = 256

[model.head]
type = "linear"
pooling = "mean"

[optimizer]
type = "adamw"
learning_rate = 1e-3
weight_decay = 0.01

[schedule]
type = "linear"
warmup_ratio = 0.1

[train]
batch_size = 32
epochs = )" +
         std::to_string(epochs_of(plan, 60'000.0, 30.0)) +
         "  # more may help a small file, fewer save time\nselect = \"max dev/accuracy\"\n";
}

std::string model_from_base(const AppFilesPlan& plan) {
  const std::string from =
      plan.base->run.empty() ? toml_text(plan.base->folder) : "{ run = " + toml_text(plan.base->run) + " }";
  return "[model]\nfrom = " + from + "  # its tokenizer and weights\n" + R"(
[model.head]
type = "linear"
pooling = "mean"

[optimizer]
type = "adamw"
learning_rate = 2e-4
weight_decay = 0.01

[schedule]
type = "linear"
warmup_ratio = 0.1

[train]
batch_size = 32
epochs = )" +
         std::to_string(epochs_of(plan, 20'000.0, 10.0)) +
         "\nclip_norm = 1.0\nselect = \"max dev/accuracy\"\n";
}

}  // namespace

std::string model_name(const std::string& application) {
  return application + "-model";
}

std::string model_file_text(const AppFilesPlan& plan) {
  const AppShares& shares = plan.shares;
  const std::string split = share_text(shares.train) + ", " + share_text(shares.checkpoint) + ", " +
                            share_text(1.0 - shares.model());
  return heading("the model of " + std::string(app_file_name) + ".") +
         "name = " + toml_text(model_name(plan.name)) + "\n\n[task]\ntype = \"classify\"\n\n" +
         data_table(plan, split, "train, choose the checkpoint; the rest is left to app.toml") +
         "max_length = " + std::to_string(max_length_of(plan)) + "  # tokens; a longer text is cut\n\n" +
         (plan.base ? model_from_base(plan) : model_from_scratch(plan));
}

std::string app_file_text(const AppFilesPlan& plan) {
  const AppShares& shares = plan.shares;
  std::string split = share_text(shares.model()) + ", " + share_text(shares.fit);
  if (shares.test > 0.0) split += ", " + share_text(shares.test);
  std::string text = heading("an application that answers, reviews or refuses requests.") +
                     "name = " + toml_text(plan.name) +
                     R"(

[app]
steps = ["model", "decide"]
fit = )" + coordinate_text(fitted_share) +
                     R"(  # share of the second set that decide is fitted on; the rest is measured as dev

[app.step.model]
type = "predict"  # asks the model of this file, which is trained first
model = { experiment = ")" +
                     model_file_name + "\" }\nvectors = true" +
                     R"(    # for the distance of a text to the classes

[app.step.decide]
type = "decide"
error = )" + exact_text(plan.error) +
                     "  # at most this share of the automatic answers is wrong, with 95 % confidence\n";
  if (plan.out_of_scope)
    text += "out_of_scope = " + toml_text(*plan.out_of_scope) +
            "  # the label of requests that belong to no class\n" +
            "missed = 0.2  # at most this share of the refused requests belongs to a class\n";
  else
    text += "# out_of_scope = " +
            toml_text(plan.likely_out_of_scope.empty() ? "other" : plan.likely_out_of_scope) +
            "  # the label of requests that belong to no class, if the file has one\n";
  text += "\n" + data_table(plan, split,
                            shares.test > 0.0 ? "the model knows the first share; fit; test"
                                              : "the model knows the first share; fit");
  if (!plan.test.empty()) text += "test = " + toml_text(plan.test) + "\n";
  return text;
}

}  // namespace encore::app

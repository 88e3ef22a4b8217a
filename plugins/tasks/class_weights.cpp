// SPDX-License-Identifier: BSD-3-Clause
// ClassWeights: computes the weight of each class from the training set, and writes the weights as text that
// reads back with equal bits. sequence_class.cpp and word_labels.cpp call it. Runs store that text at the
// beginning of the task's knowledge, so its form must not change. Read class_weights.hpp first.
#include "class_weights.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <encore/error.hpp>

#include "line_text.hpp"

namespace encore::tasks {
namespace {

constexpr std::string_view mark = "weights";

/// Returns the number in the text if float32 holds it and it is above 0, otherwise 0.
float positive_number(std::string_view text) {
  float number = 0.0F;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && std::isfinite(number) && number > 0.0F ? number : 0.0F;
}

std::string written(float number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

}  // namespace

Schema ClassWeights::with_options(Schema schema) {
  return std::move(
      schema
          .choice("class_weights", "none", {"none", "balanced"},
                  {.help = "weights of the classes in the loss. none: all 1; balanced: n / (K c) for a class "
                           "that c of the n training targets have (examples, or words in ner and tag), where "
                           "K is the number of classes, so that rare classes weigh as much as frequent ones"})
          .text_list("label_weights", {},
                     {.help = "weights of single classes in the loss, as LABEL=WEIGHT, such as [\"spam=5\"] "
                              "(for ner with the tag: [\"B-PER=5\", \"I-PER=5\"]); they override "
                              "class_weights"}));
}

ClassWeights::ClassWeights(const Options& options) : balanced_(options.text("class_weights") == "balanced") {
  for (const std::string& entry : options.text_list("label_weights")) {
    const std::size_t parting = entry.rfind('=');
    const float weight =
        parting == std::string::npos ? 0.0F : positive_number(std::string_view(entry).substr(parting + 1));
    const std::string label = entry.substr(0, std::min(parting, entry.size()));
    if (label.empty() || weight == 0.0F)
      throw OptionError("label_weights", "invalid label_weights \"" + entry +
                                             "\": expected LABEL=WEIGHT with a number above 0, such as \"" +
                                             (label.empty() ? "LABEL" : label) + "=2.5\"");
    if (std::ranges::find(given_, label, &Given::label) != given_.end())
      throw OptionError("label_weights", "label_weights names \"" + label + "\" twice");
    given_.push_back({label, weight});
  }
}

void ClassWeights::prepare(const std::vector<std::string>& labels, std::span<const std::int64_t> counts) {
  ENCORE_REQUIRE(labels.size() == counts.size(), "every class has a count");
  if (!on()) return;
  double examples = 0.0, classes = 0.0;
  for (const std::int64_t count : counts) {
    examples += static_cast<double>(count);
    classes += count > 0 ? 1.0 : 0.0;
  }
  weights_.clear();
  for (const std::int64_t count : counts)
    weights_.push_back(balanced_ && count > 0
                           ? static_cast<float>(examples / (classes * static_cast<double>(count)))
                           : 1.0F);
  for (const Given& given : given_) {
    const auto label = std::ranges::find(labels, given.label);
    if (label == labels.end()) {
      std::string all;
      for (const std::string& name : labels) all += (all.empty() ? "\"" : ", \"") + name + "\"";
      throw Error("unknown label \"" + given.label + "\" in task.label_weights: the training set has " + all);
    }
    weights_[static_cast<std::size_t>(label - labels.begin())] = given.weight;
  }
}

std::string ClassWeights::marked(const std::string& knowledge) const {
  if (!on()) return knowledge;
  std::string line(mark);
  for (const float weight : weights_) line += " " + written(weight);
  return line + "\n" + knowledge;
}

std::string_view ClassWeights::take_mark(std::string_view knowledge) {
  if (!on()) return knowledge;
  const std::size_t end = std::min(knowledge.find('\n'), knowledge.size());
  std::string_view line = knowledge.substr(0, end);
  if (!line.starts_with(mark)) throw Error("its first line does not hold weights of classes");
  line.remove_prefix(mark.size());
  weights_.clear();
  while (!line.empty()) {
    line.remove_prefix(1);
    const std::size_t length = std::min(line.find(' '), line.size());
    weights_.push_back(positive_number(line.substr(0, length)));
    if (weights_.back() == 0.0F) throw Error("its first line holds an invalid weight of a class");
    line.remove_prefix(length);
  }
  return knowledge.substr(std::min(end + 1, knowledge.size()));
}

void ClassWeights::require_classes(std::size_t count) const {
  if (on() && weights_.size() != count)
    throw Error("there are weights of " + counted(std::ssize(weights_), "class", "classes") + ", and " +
                counted(static_cast<std::int64_t>(count), "label", "labels"));
}

void ClassWeights::add_column(std::vector<ColumnRule>& columns, Space space) const {
  if (on())
    columns.push_back({.name = weights_column, .space = space, .type = ColumnType::numbers, .truth = true});
}

}  // namespace encore::tasks

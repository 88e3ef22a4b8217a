// SPDX-License-Identifier: BSD-3-Clause
// Describes options, measures and fields in words, for tables of help: markdown.cpp and `exp plugin info`
// call it. The generated pages in docs/reference show these words, so a change here changes the pages. Read
// option_text.hpp first.
#include "config/option_text.hpp"

#include <algorithm>
#include <functional>

#include "base/measure_json.hpp"
#include "base/nearest.hpp"
#include "base/readable_text.hpp"
#include "config/check_value.hpp"
#include "config/manifest.hpp"
#include "config/schema_json.hpp"
#include "config/value.hpp"

namespace encore::config {

namespace {

struct Written {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const {
    const std::string text = shortest(number);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string& text) const { return "\"" + text + "\""; }
  std::string operator()(const std::vector<std::string>& list) const { return "[" + quoted_list(list) + "]"; }
  std::string operator()(const std::vector<double>& list) const {
    std::string text;
    for (const double number : list) text += (text.empty() ? "" : ", ") + (*this)(number);
    return "[" + text + "]";
  }
};

/// Returns `"text"` or `"words" and "tags"`.
std::string joined(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(quoted_list({name}));
  return listed(quoted);
}

/// Returns `field "text"` or `fields "words" and "tags"`.
std::string fields_of(const std::vector<std::string>& names) {
  return (names.size() == 1 ? "field " : "fields ") + joined(names);
}

/// Returns the words for one row of a set.
std::string row_of(Space space) {
  switch (space) {
    case Space::tokens:
      return "token";
    case Space::target:
      return "token of the second text";
    case Space::sequences:
      return "sequence";
    case Space::picked:
      return "picked row";
    case Space::ragged:
      return "entry of a sequence";
  }
  return "";
}

/// Returns `vector of 4 integers` or, for the name of a size, `vector of numbers, length = classes`.
std::string vector_text(const std::string& length, const std::string& number) {
  if (length.find_first_not_of("0123456789") == std::string::npos)
    return "vector of " + length + " " + number + "s";
  return "vector of " + number + "s, length = " + length;
}

std::string targets_text(const std::vector<Space>& targets) {
  std::string text;
  for (std::size_t i = 0; i < targets.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 == targets.size() ? " or " : ", ") + row_of(targets[i]);
  return text;
}

std::vector<HeadRow> rows_of(const HeadForm& form) {
  std::vector<HeadRow> rows;
  const auto add = [&](const char* what, const HeadValue& value) {
    const std::string number = value.type == ColumnType::integers ? "integer" : "number";
    std::string values = value.width == "1" ? number : vector_text(value.width, number);
    if (!value.below.empty()) values += ", 0 to " + value.below + " - 1, or -1 for none";
    if (value.on_request) values += ", computed on request";
    rows.push_back({what, value.name, row_of(value.space), values});
  };
  for (const Space space : form.reads)
    rows.push_back({"states of the model", "", row_of(space), vector_text("model.width", "number")});
  for (const HeadValue& value : form.columns) add("column of the task", value);
  for (const HeadValue& value : form.optional_columns) add("optional column", value);
  for (const HeadValue& value : form.outputs) add("output", value);
  for (const std::string& path : form.ties)
    rows.push_back({"parameter", path, "", "shared with the parameter of this name"});
  return rows;
}

/// Whether there are several forms, each for one kind of target, that differ in nothing else.
bool differ_in_targets_alone(std::vector<HeadForm> forms) {
  if (forms.size() < 2) return false;
  for (HeadForm& form : forms) {
    if (form.targets.size() != 1) return false;
    const Space space = form.targets.front();
    form.targets.clear();
    const auto blank = [&](Space& of) {
      if (of != space) return false;
      of = Space::tokens;
      return true;
    };
    bool all = std::ranges::all_of(form.reads, blank);
    for (std::vector<HeadValue>* values : {&form.columns, &form.optional_columns, &form.outputs})
      for (HeadValue& value : *values) all = blank(value.space) && all;
    if (!all) return false;
  }
  return std::ranges::adjacent_find(forms, std::not_equal_to<>()) == forms.end();
}

}  // namespace

std::string type_text(const Option& option) {
  return name_of(option.type) + (option.rule.unit.empty() ? "" : ", " + option.rule.unit);
}

std::string default_text(const Option& option) {
  return option.fallback ? std::visit(Written{}, *option.fallback) : "";
}

std::string limits_text(const Option& option) {
  if (!option.choices.empty()) return quoted_list(option.choices);
  return option.rule.min || option.rule.max ? range_text(option) : "";
}

std::string fields_text(const ManifestOffer& offer) {
  if (offer.kind == Kind::reader)
    return (offer.may_give.empty() ? "Each record has the " : "By default each record has the ") +
           fields_of(offer.gives) +
           (offer.may_give.empty() ? ""
                                   : ". Options can replace or remove these fields, or add others: " +
                                         joined(optional_names(offer)));
  if (offer.kind == Kind::step && offer.asks_model)
    return "It asks the model of a run. The option `model` names the run: { run = \"RUN\" } for a completed "
           "run, { experiment = \"FILE.toml\" } for a run that is trained first, or { folder = \"DIR\" } for "
           "a model of Hugging Face";
  if (offer.kind != Kind::task) return "";
  return "It reads the " + fields_of(offer.needs.structure) + " of each record" +
         (offer.needs.truth.empty()
              ? ""
              : ". Records for training and scoring also need the " + fields_of(offer.needs.truth)) +
         (offer.needs.optional.empty() ? ""
                                       : ". It also reads the optional " + fields_of(offer.needs.optional));
}

std::vector<HeadInterface> head_interfaces(const ManifestOffer& offer) {
  const std::string coupled = " The loss of a sequence depends on the other sequences of its batch.";
  const bool has_options = !offer.options.options().empty();  // the forms are those of the defaults
  if (differ_in_targets_alone(offer.forms)) {
    std::vector<HeadRow> rows = rows_of(offer.forms.front());
    for (HeadRow& row : rows)
      if (!row.space.empty()) row.space = "target";
    return {
        {std::string("The task decides what has a target: each token, each sequence (a whole text) or each "
                     "picked row (a position that the task chooses). ") +
             (has_options ? "With the default options, the head reads for each target the "
                          : "For each target, the head reads the ") +
             "states and columns below and writes the outputs" +
             (offer.forms.front().couples_sequences ? "." + coupled : ":"),
         std::move(rows)}};
  }
  std::vector<HeadInterface> tables;
  for (const HeadForm& form : offer.forms) {
    const bool any = offer.forms.size() == 1 && form.targets.size() == 3;
    tables.push_back({(any ? std::string("With every task") + (has_options ? " and the default options" : "")
                           : "If the task has a target for each " + targets_text(form.targets) +
                                 (has_options ? " and the options have their defaults" : "")) +
                          ", the head reads the states and columns below and writes the outputs" +
                          (form.couples_sequences ? "." + coupled : ":"),
                      rows_of(form)});
  }
  return tables;
}

std::string select_option(const ManifestOffer& offer) {
  return offer.kind == Kind::step ? "app.select" : "train.select";
}

std::string select_text(const ManifestOffer& offer) {
  const auto slash = offer.select.find('/');
  const std::string best = slash == std::string::npos
                               ? offer.select
                               : std::string(offer.select.starts_with("min") ? "lowest " : "highest ") +
                                     offer.select.substr(slash + 1) + " on the development set";
  if (offer.kind == Kind::step)
    return "applications are compared by the " + best + ", if this is the last step with such a measure";
  return "the best checkpoint is chosen by " + offer.select +
         (slash == std::string::npos ? "" : " (the " + best + ")");
}

std::string better_text(const Measure& measure) {
  if (measure.better == Better::neither || measure.reducer == Reducer::matrix) return "-";
  return std::string(encore::name_of(measure.better));
}

std::string meaning_text(const Measure& measure) {
  return measure.help + (measure.always ? "" : "; not every run has it");
}

}  // namespace encore::config

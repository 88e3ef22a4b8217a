// SPDX-License-Identifier: BSD-3-Clause
// Words options, measures and fields for tables of help. The generated pages in docs/reference show these
// words, so a change here changes the pages. Read option_text.hpp first.
#include "config/option_text.hpp"

#include "base/measure_json.hpp"
#include "base/nearest.hpp"
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
    return "It gives the fields " + quoted_list(offer.gives) +
           (offer.may_give.empty() ? ""
                                   : "; where its options ask for them also " + quoted_list(offer.may_give));
  if (offer.kind != Kind::task) return "";
  return "It reads the fields " + quoted_list(offer.needs.structure) +
         (offer.needs.truth.empty() ? ""
                                    : ", to learn and to be scored also " + quoted_list(offer.needs.truth)) +
         (offer.needs.optional.empty() ? ""
                                       : "; where there are any also " + quoted_list(offer.needs.optional));
}

std::vector<HeadRow> head_rows(const HeadForm& form) {
  std::vector<HeadRow> rows;
  const auto add = [&](const char* what, const HeadValue& value) {
    std::string values = value.type == ColumnType::integers ? "integers" : "numbers";
    if (value.width != "1") values += ", " + value.width + " for each row";
    if (!value.below.empty()) values += ", 0 to " + value.below + " - 1, or -1 for none";
    if (value.on_request) values += ", computed on request";
    rows.push_back({what, value.name, encore::name_of(value.space), values});
  };
  for (const Space space : form.reads)
    rows.push_back({"states", "", encore::name_of(space), "width for each row"});
  for (const HeadValue& value : form.columns) add("column", value);
  for (const HeadValue& value : form.optional_columns) add("column, where there is one", value);
  for (const HeadValue& value : form.outputs) add("output", value);
  for (const std::string& path : form.ties) rows.push_back({"parameter", path, "", "shared with that part"});
  return rows;
}

std::string head_form_text(const ManifestOffer& offer, const HeadForm& form) {
  std::string spaces;
  for (std::size_t i = 0; i < form.targets.size(); ++i)
    spaces += std::string(i == 0                         ? ""
                          : i + 1 == form.targets.size() ? " or "
                                                         : ", ") +
              encore::name_of(form.targets[i]) + (form.targets[i] == Space::picked ? " rows" : "");
  const bool any = offer.forms.size() == 1 && form.targets.size() == 3;
  return "With a task " + (any ? std::string("of any kind") : "whose targets lie over " + spaces) +
         ", the head reads and gives" +
         (form.couples_sequences ? " (the loss of a sequence depends on the others of its batch)" : "") + ":";
}

std::string better_text(const Measure& measure) {
  if (measure.better == Better::neither || measure.reducer == Reducer::matrix) return "-";
  return std::string(encore::name_of(measure.better));
}

std::string meaning_text(const Measure& measure) {
  return measure.help + (measure.always ? "" : " (not in all data)");
}

}  // namespace encore::config

#include "config/markdown.hpp"

#include <map>
#include <sstream>

#include "config/core_schema.hpp"
#include "config/schema_json.hpp"
#include "config/validate.hpp"
#include "config/value.hpp"

namespace encore {

namespace {

std::string code(const std::string& text) {
  return "`" + text + "`";
}

std::string type_cell(const Option& option) {
  const std::string unit = option.rule.unit.empty() ? "" : ", " + option.rule.unit;
  return name_of(option.type) + unit;
}

std::string default_cell(const Option& option) {
  if (option.required) return "**required**";
  if (!option.fallback) return "-";
  struct Written {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return describe_number(number); }
    std::string operator()(const std::string& text) const { return "\"" + text + "\""; }
    std::string operator()(const std::vector<std::string>& list) const {
      std::string text;
      for (const std::string& element : list) text += (text.empty() ? "\"" : ", \"") + element + "\"";
      return "[" + text + "]";
    }
    static std::string describe_number(double number) {
      const std::string text = shortest(number);
      return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
  };
  return code(std::visit(Written{}, *option.fallback));
}

std::string range_cell(const Option& option) {
  std::string text;
  for (const std::string& choice : option.choices)
    text += (text.empty() ? "" : ", ") + code("\"" + choice + "\"");
  if (!text.empty()) return text;
  return option.rule.min || option.rule.max ? range_text(option) : "";
}

const Schema& core_schema(const std::string& name) {
  static const std::map<std::string, const Schema& (*)()> schemas = {
      {"experiment", top_schema}, {"task", task_schema},   {"data", data_schema},
      {"model", model_schema},    {"train", train_schema}, {"sweep", sweep_schema}};
  const auto found = schemas.find(name);
  if (found == schemas.end()) throw Error("there is no core schema \"" + name + "\"");
  return found->second();
}

}  // namespace

std::string markdown_options(const Schema& schema) {
  std::string text = "| option | type | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const Option& option : schema.options())
    text += "| " + code(option.name) + " | " + type_cell(option) + " | " + default_cell(option) + " | " +
            range_cell(option) + " | " + option.rule.help + " |\n";
  return text;
}

std::string with_option_tables(const std::string& document) {
  static const std::string mark = "<!-- options of ";
  std::istringstream lines(document);
  std::string out, line;
  while (std::getline(lines, line)) {
    out += line + "\n";
    if (!line.starts_with(mark)) continue;
    const std::string name = line.substr(mark.size(), line.find(' ', mark.size()) - mark.size());
    out += markdown_options(core_schema(name));
    while (line != "<!-- end -->")
      if (!std::getline(lines, line)) throw Error("the options of " + name + " have no line <!-- end -->");
    out += line + "\n";
  }
  return out;
}

}  // namespace encore

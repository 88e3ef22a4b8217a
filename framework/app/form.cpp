// SPDX-License-Identifier: BSD-3-Clause
// The rules of a Form and check(), which applies them to a request. cli/binder.cpp calls check() after it has
// read the command line, and before the verb starts; only the first violated rule is reported, so the order
// of rules decides the message. Read next: form.hpp.
#include "app/form.hpp"

#include <algorithm>

#include "config/value.hpp"

namespace encore::app {

namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

/// Returns the value of a member that is a number and has a value, else nothing.
std::optional<double> number_in(const FieldSlot& slot) {
  return std::visit(Overloaded{[](const auto*) { return std::optional<double>(); },
                               [](const int* value) { return std::optional<double>(*value); },
                               [](const std::int64_t* value) { return std::optional<double>(*value); },
                               [](const double* value) { return std::optional<double>(*value); },
                               [](const std::optional<int>* value) {
                                 return *value ? std::optional<double>(**value) : std::nullopt;
                               },
                               [](const std::optional<std::int64_t>* value) {
                                 return *value ? std::optional<double>(**value) : std::nullopt;
                               },
                               [](const std::optional<double>* value) { return *value; }},
                    slot);
}

std::string with_value(std::string message, double value) {
  const std::size_t at = message.find("{}");
  if (at != std::string::npos) message.replace(at, 2, config::shortest(value));
  return message;
}

}  // namespace

FormField& FormFields::add(const std::string& names, const std::string& value, const std::string& help,
                           FieldPlace place) {
  const std::size_t comma = std::min(names.find(','), names.size());
  const std::string letter = comma < names.size() ? names.substr(comma + 1) : "";
  fields_.push_back(
      {.name = names.substr(0, comma), .letter = letter, .value = value, .help = help, .place = place});
  return fields_.back();
}

void FormFields::add(Rule rule) {
  for (const std::string& name : {rule.one, rule.other})
    if (!name.empty()) field(name);
  rules_.push_back(std::move(rule));
}

void FormFields::include(const FormFields& part, std::size_t offset) {
  for (FormField included : part.fields_) {
    if (included.place) included.place->offset += offset;
    fields_.push_back(std::move(included));
  }
  for (Rule rule : part.rules_) {
    if (rule.refuse)
      rule.refuse = [refuse = rule.refuse, offset](const void* request) {
        return refuse(static_cast<const char*>(request) + offset);
      };
    rules_.push_back(std::move(rule));
  }
  if (!part.help_.purpose.empty()) help_.purpose += "\n" + part.help_.purpose;
}

const FormField& FormFields::field(const std::string& name) const {
  const auto found = std::ranges::find(fields_, name, &FormField::name);
  ENCORE_REQUIRE(found != fields_.end(), "the form of " + verb_ + " has no field " + name);
  return *found;
}

bool FormFields::repeats(const FormField& field) const {
  if (!field.place) return false;
  const FieldSlot slot = usual(field);
  return std::holds_alternative<std::vector<std::string>*>(slot) ||
         std::holds_alternative<std::vector<std::int64_t>*>(slot);
}

bool FormFields::is_given(const std::string& name, const void* request) const {
  const FormField& one = field(name);
  const FieldSlot other = usual(one);
  return std::visit([&](auto* value) { return *value != *std::get<decltype(value)>(other); },
                    one.place.value().in(const_cast<void*>(request)));
}

std::string FormFields::refusal(const Rule& rule, const void* request) const {
  switch (rule.kind) {
    case Rule::Kind::range: {
      const std::optional<double> value =
          number_in(field(rule.one).place.value().in(const_cast<void*>(request)));
      const bool fits = !value || (*value >= rule.smallest && *value <= rule.largest);
      return fits ? "" : with_value(rule.message, *value);
    }
    case Rule::Kind::exclusion: {
      if (!is_given(rule.one, request) || !is_given(rule.other, request)) return "";
      const std::string plain = "--" + rule.one + " and --" + rule.other + " exclude each other";
      return rule.message.empty() ? plain : rule.message;
    }
    case Rule::Kind::need:
      return is_given(rule.one, request) && !is_given(rule.other, request) ? rule.message : "";
    case Rule::Kind::other:
      return rule.refuse(request);
  }
  return "";
}

void FormFields::check(const void* request) const {
  for (const FormField& one : fields_)
    if (!one.required.empty() && !is_given(one.name, request))
      throw UsageError("exp " + verb_ + " needs " + one.required + " (exp " + verb_ +
                       " -h shows an example)");
  for (const Rule& rule : rules_)
    if (const std::string wrong = refusal(rule, request); !wrong.empty()) throw UsageError(wrong);
}

}  // namespace encore::app

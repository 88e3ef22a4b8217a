// SPDX-License-Identifier: BSD-3-Clause
// Checks the options of one table against its schema: unknown names, wrong values, missing options.
// resolve.cpp calls it for every table of an experiment. Which tables are accepted must not change for
// existing files; the words of messages may. Read validate.hpp first.
#include "config/validate.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "base/nearest.hpp"
#include "config/check_value.hpp"
#include "config/origin.hpp"

namespace encore::config {

namespace {

std::vector<std::string> names_of(const Schema& schema, const std::vector<std::string>& others) {
  std::vector<std::string> names;
  for (const Option& option : schema.options()) names.push_back(option.name);
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

/// Returns all names to choose from, for a message about a name that resembles none of them.
std::string known_options(const std::vector<std::string>& names) {
  if (names.empty()) return "; it takes no options";
  return "; it takes " + quoted_list(names);
}

class TableCheck {
 public:
  TableCheck(const Schema& schema, const TableName& name, Problems& problems,
             const std::optional<std::string>& root, const OptionPlaces& places)
      : schema_(schema), name_(name), problems_(problems), root_(root), places_(places) {}

  void member(const Value::Member& member, const std::vector<std::string>& ignored) {
    const Option* option = schema_.find(member.key);
    if (option == nullptr) {
      problems_.add(member.key_origin.place, name_.dotted(member.key),
                    "unknown option \"" + shortened(member.key) + "\" of " + name_.owner +
                        what_is_meant(member.key, names_of(schema_, ignored)));
      return;
    }
    OptionValue value;
    if (const auto wrong = check_value(member.value, *option, value)) {
      refuse(*option, member.value.origin.place, *wrong);
      return;
    }
    if (is_path(*option) && !expand(*option, member.value.origin, value)) return;
    put(*option, std::move(value), member.value.origin);
  }

  void absent(const Option& option, const Place& table) {
    if (option.fallback) {
      put(option, *option.fallback, {Source::fallback, table});
    } else if (option.required) {
      const std::string help = option.rule.help.empty() ? "" : " (" + option.rule.help + ")";
      problems_.add(table, name_.dotted(option.name),
                    "option \"" + option.name + "\" of " + name_.owner + " is missing; it must be " +
                        wanted_text(option) + help);
    }
  }

  ValidTable take() { return std::move(valid_); }

 private:
  /// Prefers the same name in another table of the experiment, then a near name in this table.
  std::string what_is_meant(const std::string& name, const std::vector<std::string>& names) const {
    const std::string near = did_you_mean(name, names);
    if (const std::string used = places_.used(name); !used.empty())
      return near.empty() ? used : used + "; or" + near.substr(1);
    if (!near.empty()) return near;
    const std::string other = places_.other(name);
    return other.empty() ? known_options(names) : other;
  }

  void refuse(const Option& option, const Place& place, const std::string& wrong) {
    problems_.add(place, name_.dotted(option.name),
                  "option \"" + option.name + "\" of " + name_.owner + " " + wrong);
  }

  bool expand(const Option& option, const Origin& origin, OptionValue& value) {
    try {
      if (auto* list = std::get_if<std::vector<std::string>>(&value))
        for (std::string& path : *list) path = resolve_path(path, origin, root_);
      else
        value = resolve_path(std::get<std::string>(value), origin, root_);
      return true;
    } catch (const Error& error) {
      refuse(option, origin.place, error.what());
      return false;
    }
  }

  void put(const Option& option, OptionValue value, const Origin& origin) {
    if (origin.source == Source::fallback)
      valid_.options.set_default(option.name, std::move(value));
    else
      valid_.options.set(option.name, std::move(value));
    valid_.origin[name_.dotted(option.name)] = origin;
  }

  const Schema& schema_;
  const TableName& name_;
  Problems& problems_;
  const std::optional<std::string>& root_;
  const OptionPlaces& places_;
  ValidTable valid_;
};

}  // namespace

std::string TableName::dotted(std::string_view option) const {
  return key.empty() ? std::string(option) : key + "." + std::string(option);
}

ValidTable validate(const Value& table, const Schema& schema, const TableName& name, Problems& problems,
                    const std::vector<std::string>& ignored, const std::optional<std::string>& root,
                    const OptionPlaces& places) {
  ENCORE_REQUIRE(table.is_table(), "validate reads tables, not " + describe(table));
  TableCheck check(schema, name, problems, root, places);
  for (const Value::Member& member : table.table()) {
    if (problems.all().size() >= most_problems) break;
    if (std::find(ignored.begin(), ignored.end(), member.key) == ignored.end()) check.member(member, ignored);
  }
  for (const Option& option : schema.options())
    if (table.find(option.name) == nullptr) check.absent(option, table.origin.place);
  return check.take();
}

}  // namespace encore::config

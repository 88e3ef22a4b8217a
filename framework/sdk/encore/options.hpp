// SPDX-License-Identifier: BSD-3-Clause
// Schema: the declaration of a table of options; Options: its values after validation. A plugin returns a
// Schema from options() and gets Options in its constructor; config/validate.hpp makes the one from the
// other. The same Schema gives the manifest, "did you mean", help lines and pages, for core tables and
// command lines too. A released default never changes: runs are identified without values that equal their
// default.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <encore/error.hpp>

namespace encore {

/// path_list: one path or a list of them, held as text where it is one. integer_or_percentage: an integer, held as
/// such, or a text like "95%".
enum class OptionType : std::uint8_t {
  boolean,
  integer,
  number,
  text,
  path,
  text_list,
  path_list,
  number_list,
  integer_or_percentage
};

using OptionValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, std::vector<double>>;

/// The limits and the explanation of an option. Bounds are inclusive unless `exclusive_min`/`exclusive_max`
/// is set.
struct OptionRule {
  std::string help;  ///< one line, no final stop
  std::string unit = {};
  std::optional<double> min = {};
  std::optional<double> max = {};
  bool exclusive_min = false;
  bool exclusive_max = false;
};

struct Option {
  std::string name;
  OptionType type = OptionType::text;
  std::optional<OptionValue> fallback = {};  ///< the default; without one and with `required` the file must name it
  bool required = false;
  std::vector<std::string> choices = {};
  OptionRule rule = {};
};

/// An ordered list of options, built by chaining. A default is never changed later, only a new option added:
/// values equal to their default do not count in a run's identity.
class Schema {
 public:
  Schema& boolean(std::string name, bool fallback, OptionRule rule) {
    return add({std::move(name), OptionType::boolean, OptionValue(fallback), false, {}, std::move(rule)});
  }
  Schema& integer(std::string name, std::int64_t fallback, OptionRule rule) {
    return add({std::move(name), OptionType::integer, OptionValue(fallback), false, {}, std::move(rule)});
  }
  Schema& number(std::string name, double fallback, OptionRule rule) {
    return add({std::move(name), OptionType::number, OptionValue(fallback), false, {}, std::move(rule)});
  }
  Schema& text(std::string name, std::string fallback, OptionRule rule) {
    return add({std::move(name), OptionType::text, OptionValue(std::move(fallback)), false, {}, std::move(rule)});
  }
  Schema& choice(std::string name, std::string fallback, std::vector<std::string> choices, OptionRule rule) {
    return add({std::move(name), OptionType::text, OptionValue(std::move(fallback)), false, std::move(choices),
                std::move(rule)});
  }
  Schema& text_list(std::string name, std::vector<std::string> fallback, OptionRule rule) {
    return add({std::move(name), OptionType::text_list, OptionValue(std::move(fallback)), false, {}, std::move(rule)});
  }
  /// An option without a default that must be given.
  Schema& required(std::string name, OptionType type, OptionRule rule) {
    return add({std::move(name), type, std::nullopt, true, {}, std::move(rule)});
  }
  /// An option that may be absent; Options::has() returns whether it is there.
  Schema& optional(std::string name, OptionType type, OptionRule rule) {
    return add({std::move(name), type, std::nullopt, false, {}, std::move(rule)});
  }
  Schema& add(Option option) {
    ENCORE_REQUIRE(find(option.name) == nullptr, "option \"" + option.name + "\" is declared twice");
    options_.push_back(std::move(option));
    return *this;
  }

  const std::vector<Option>& options() const { return options_; }
  const Option* find(std::string_view name) const {
    for (const Option& option : options_)
      if (option.name == name) return &option;
    return nullptr;
  }

 private:
  std::vector<Option> options_;
};

/// Thrown where the code of a plugin asks for an option that its options() does not declare, or as another type. Where
/// the object is built the host adds its owner and the nearest declared name.
class OptionMisuse : public std::logic_error {
 public:
  explicit OptionMisuse(std::string option)
      : logic_error("option \"" + option +
                    "\" has no value of the requested type; does options() declare it? In a test, default_options<T>() "
                    "(encore/testing.hpp) has the defaults"),
        option_(std::move(option)) {}
  const std::string& option() const { return option_; }

 private:
  std::string option_;
};

/// The validated values of one table: every option of its schema that has a value, nothing else.
class Options {
 public:
  /// Sets a value that was chosen in the experiment file, on the command line or by a sweep.
  void set(std::string name, OptionValue value) {
    given_.insert(name);
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  /// Sets the schema's default, if no value was chosen.
  void set_default(std::string name, OptionValue value) {
    given_.erase(name);
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  /// Returns whether the value was written down, even if it equals the default. Use it only for options of
  /// which at most one may be given: results must not depend on it, because a run's identity does not.
  bool given(const std::string& name) const { return given_.contains(name); }

  bool flag(const std::string& name) const { return get<bool>(name); }
  std::int64_t integer(const std::string& name) const { return get<std::int64_t>(name); }
  double number(const std::string& name) const { return get<double>(name); }
  const std::string& text(const std::string& name) const { return get<std::string>(name); }
  const std::vector<std::string>& text_list(const std::string& name) const {
    return get<std::vector<std::string>>(name);
  }
  const std::vector<double>& number_list(const std::string& name) const { return get<std::vector<double>>(name); }
  /// Returns the paths of a path_list, one or several; an empty list if its value is "".
  std::vector<std::string> paths(const std::string& name) const {
    const auto found = values_.find(name);
    if (found != values_.end())
      if (const auto* one = std::get_if<std::string>(&found->second))
        return one->empty() ? std::vector<std::string>() : std::vector<std::string>{*one};
    return text_list(name);
  }
  const std::map<std::string, OptionValue>& values() const { return values_; }

 private:
  template <class T>
  const T& get(const std::string& name) const {
    const auto found = values_.find(name);
    const T* value = found == values_.end() ? nullptr : std::get_if<T>(&found->second);
    if (value == nullptr) throw OptionMisuse(name);
    return *value;
  }
  std::map<std::string, OptionValue> values_;
  std::set<std::string> given_;
};

/// Thrown by a plugin's constructor or `declare` when an option cannot be right for this model (for example `heads`
/// that does not divide the width). The host puts the table and the place in the file in front.
class OptionError : public Error {
 public:
  OptionError(std::string option, const std::string& message) : Error(message), option_(std::move(option)) {}
  const std::string& option() const { return option_; }

 private:
  std::string option_;
};

}  // namespace encore

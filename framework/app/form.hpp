// SPDX-License-Identifier: BSD-3-Clause
// Form: the description of a verb's request, which is a plain struct. For each field, named by a pointer to
// its member, it has the name, the name of the value, the help, the range, and the fields that it excludes or
// needs. cli/binder.cpp makes parser, help and completion from it; check() applies the same rules to a struct
// that a test fills. A new type of field is added to FieldSlot here and to the binder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <encore/error.hpp>

namespace encore::app {

/// An invalid request. Nothing has started.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A member of a request. Optional members and lists are empty if the user gave no value.
using FieldSlot =
    std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::optional<int>*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*,
                 std::vector<std::string>*, std::vector<std::int64_t>*>;

/// The offset of a member within its request, and its type.
struct FieldPlace {
  FieldSlot type;  ///< a null pointer
  std::size_t offset = 0;

  /// Returns the member at this place in a request.
  FieldSlot in(void* request) const {
    char* const member = static_cast<char*>(request) + offset;
    return std::visit(
        [&](auto* null) -> FieldSlot { return static_cast<decltype(null)>(static_cast<void*>(member)); },
        type);
  }
};

struct FormField {
  std::string name;    ///< "jobs", written --jobs; of an argument "run"
  std::string letter;  ///< "j", written -j, or empty
  std::string value;   ///< "N"; empty for a flag
  std::string help;
  std::string usual = {};     ///< the default in the help, if the member does not hold it
  std::string alone = {};     ///< the value of an option that is given without one
  std::string required = {};  ///< description of a required argument: "an experiment file"
  bool several = false;       ///< one option takes several words, up to the next one
  bool is_argument = false;   ///< written without a dash, in the order of declaration
  /// The place within the whole request. --help and --db belong to no request and have none.
  std::optional<FieldPlace> place = {};
};

struct FormExample {
  std::string command;  ///< "exp ls --state completed"
  std::string meaning;
};

/// The help of a verb without its options.
struct FormHelp {
  std::string synopsis;  ///< "run FILE [-S key=value]... [options]"
  std::string purpose;   ///< a few sentences
  std::vector<FormExample> examples;
};

/// The part of a Form that does not depend on the type of the request.
class FormFields {
 public:
  /// Throws UsageError for the first violated rule: a missing argument, a value out of its range, two fields
  /// that exclude each other.
  void check(const void* request) const;
  /// Returns whether the field differs from its default. Throws Error for a name that no field has.
  bool is_given(const std::string& name, const void* request) const;

  const std::string& verb() const { return verb_; }
  const FormHelp& help() const { return help_; }
  const std::vector<FormField>& fields() const { return fields_; }
  /// Returns the member of a default request.
  FieldSlot usual(const FormField& field) const { return field.place.value().in(defaults_.get()); }
  /// Returns whether the field is a list, which may be written several times.
  bool repeats(const FormField& field) const;

 protected:
  struct Rule {
    enum class Kind { range, exclusion, need, other } kind;
    std::string one, other = {};  ///< names of fields
    double smallest = 0.0, largest = 0.0;
    std::string message = {};
    std::function<std::string(const void*)> refuse = {};
  };

  FormFields(std::string verb, FormHelp help, std::shared_ptr<void> defaults)
      : verb_(std::move(verb)), help_(std::move(help)), defaults_(std::move(defaults)) {}
  FormField& add(const std::string& names, const std::string& value, const std::string& help,
                 FieldPlace place);
  void add(Rule rule);
  /// Adds the fields and rules of a part, whose request is the member at this offset.
  void include(const FormFields& part, std::size_t offset);
  std::string refusal(const Rule& rule, const void* request) const;
  const FormField& field(const std::string& name) const;

  std::string verb_;
  FormHelp help_;
  std::shared_ptr<void> defaults_;  ///< a default request
  std::vector<FormField> fields_;
  std::vector<Rule> rules_;
};

template <class R>
class Form : public FormFields {
 public:
  using Request = R;

  explicit Form(std::string verb = {}, FormHelp help = {})
      : FormFields(std::move(verb), std::move(help), std::make_shared<R>()) {}

  /// Declares an option --name VALUE; `names` is "jobs,j" or "jobs".
  template <class Member>
  Form& option(const std::string& names, Member R::*member, const std::string& value,
               const std::string& help) {
    add(names, value, help, place_of(member));
    return *this;
  }
  /// Declares a flag --name, for a bool that is false by default.
  Form& flag(const std::string& names, bool R::*member, const std::string& help) {
    add(names, "", help, place_of(member));
    return *this;
  }
  /// Declares a word without a dash, or all remaining words if the member is a list. `required` describes the
  /// argument if it is missing.
  template <class Member>
  Form& argument(const std::string& name, Member R::*member, const std::string& required = {}) {
    FormField& field = add(name, "", "", place_of(member));
    field.is_argument = true;
    field.required = required;
    return *this;
  }
  /// Adds all fields and rules of a part that several requests share, and its paragraph of help.
  template <class Part>
  Form& include(Part R::*member, const Form<Part>& part) {
    FormFields::include(part, offset_of(member));
    return *this;
  }
  /// Sets the default that the help of the field declared last shows.
  Form& usual(const std::string& text) {
    fields_.back().usual = text;
    return *this;
  }
  /// Allows the field declared last without a value; it then has this one.
  Form& alone(const std::string& text) {
    fields_.back().alone = text;
    return *this;
  }
  /// Allows several words after one option of the field declared last.
  Form& several() {
    fields_.back().several = true;
    return *this;
  }
  /// Refuses a value outside of [smallest, largest]; "{}" in the message stands for it.
  Form& range(const std::string& name, double smallest, double largest, const std::string& message) {
    add({.kind = Rule::Kind::range,
         .one = name,
         .smallest = smallest,
         .largest = largest,
         .message = message});
    return *this;
  }
  Form& least(const std::string& name, double smallest, const std::string& message) {
    return range(name, smallest, std::numeric_limits<double>::infinity(), message);
  }
  /// Refuses both fields together. The default message is "--json and --csv exclude each other".
  Form& exclude(const std::string& one, const std::string& other, const std::string& message = {}) {
    add({.kind = Rule::Kind::exclusion, .one = one, .other = other, .message = message});
    return *this;
  }
  /// Refuses the first field without the second.
  Form& needs(const std::string& one, const std::string& other, const std::string& message) {
    add({.kind = Rule::Kind::need, .one = one, .other = other, .message = message});
    return *this;
  }
  /// Adds any other rule: `rule` returns the error message, or "".
  Form& refuse(std::function<std::string(const R&)> rule) {
    add({.kind = Rule::Kind::other, .one = {}, .refuse = [rule = std::move(rule)](const void* request) {
           return rule(*static_cast<const R*>(request));
         }});
    return *this;
  }

 private:
  template <class Member>
  std::size_t offset_of(Member R::*member) const {
    R* const request = static_cast<R*>(defaults_.get());
    return static_cast<std::size_t>(reinterpret_cast<char*>(&(request->*member)) -
                                    reinterpret_cast<char*>(request));
  }
  template <class Member>
  FieldPlace place_of(Member R::*member) const {
    return {static_cast<Member*>(nullptr), offset_of(member)};
  }
};

}  // namespace encore::app

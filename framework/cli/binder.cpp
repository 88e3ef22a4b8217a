// SPDX-License-Identifier: BSD-3-Clause
// Fills a verb's request from the words of a command line, and prints its help, by the verb's form.
// run_bound() in verbs.hpp calls read_request() for every verb. Only this file knows Boost.Program_options. A
// new type of member needs a line in Setter and one in usual_text(). Read next: binder.hpp, app/form.hpp.
#include "cli/binder.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ostream>
#include <sstream>

#include <boost/program_options.hpp>

#include "base/nearest.hpp"
#include "base/terminal_filter.hpp"
#include "cli/terminal.hpp"
#include "config/value.hpp"

namespace encore::cli {

namespace {

namespace po = boost::program_options;

using Words = std::vector<std::string>;

/// Returns the default value of a field as the help shows it; empty if there is none.
std::string usual_text(const app::FormField& field, const app::FormFields& form) {
  if (!field.usual.empty() || !field.place) return field.usual;
  const app::FieldSlot usual = form.usual(field);
  if (const auto* text = std::get_if<std::string*>(&usual)) return **text;
  if (const auto* number = std::get_if<int*>(&usual)) return std::to_string(**number);
  if (const auto* whole = std::get_if<std::int64_t*>(&usual)) return std::to_string(**whole);
  if (const auto* real = std::get_if<double*>(&usual)) return config::shortest(**real);
  return "";
}

/// Declares every value as text to Boost; Setter converts it to the member's type and reports an invalid
/// value.
const po::value_semantic* semantic_of(const app::FormField& field, const app::FormFields& form) {
  if (field.value.empty() && !field.is_argument) return po::bool_switch();
  const std::string usual = usual_text(field, form);
  const std::string name = field.value + (usual.empty() ? "" : " (=" + usual + ")");
  if (form.repeats(field)) {
    auto* const list = po::value<Words>()->value_name(name);
    return field.several ? list->multitoken() : list;
  }
  auto* const value = po::value<std::string>()->value_name(name);
  if (!field.alone.empty()) value->implicit_value(field.alone);
  return value;
}

void add_option(po::options_description& options, const app::FormField& field, const app::FormFields& form) {
  const std::string names = field.letter.empty() ? field.name : field.name + "," + field.letter;
  options.add_options()(names.c_str(), semantic_of(field, form), field.help.c_str());
}

po::options_description visible_options(const app::FormFields& form, int width) {
  po::options_description options("options", static_cast<unsigned>(width));
  for (const app::FormField& field : fields_of(form))
    if (!field.is_argument) add_option(options, field, form);
  return options;
}

/// Returns our own message for an unknown option and for too many arguments, and Boost's message for every
/// other error.
std::string message_of(const po::error& error, const app::FormFields& form) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    Words names;
    for (const app::FormField& field : fields_of(form))
      if (!field.is_argument) names.push_back("--" + field.name);
    const std::string name = unknown->get_option_name();
    return "unknown option " + name + did_you_mean(name, names);
  }
  if (dynamic_cast<const po::too_many_positional_options_error*>(&error) != nullptr)
    return "too many arguments";
  return error.what();
}

std::string hint(const app::FormFields& form) {
  return " (exp " + form.verb() + " -h shows the options)";
}

/// Returns the words of each field on the command line.
po::variables_map parsed(const app::FormFields& form, const Arguments& arguments) {
  po::options_description all;
  po::positional_options_description positional;
  for (const app::FormField& field : fields_of(form)) {
    add_option(all, field, form);
    if (field.is_argument) positional.add(field.name.c_str(), form.repeats(field) ? -1 : 1);
  }
  // Abbreviated options would change their meaning when a longer one is added.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
              values);
  } catch (const po::error& error) {
    throw app::UsageError(message_of(error, form) + hint(form));
  }
  return values;
}

/// Stores the words of one field in its member.
struct Setter {
  const app::FormFields& form;
  const app::FormField& field;
  const Words& words;

  template <class Number>
  Number number(const std::string& word) const {
    Number value{};
    const char* begin = word.c_str() + (word.starts_with('+') ? 1 : 0);
    const char* const end = word.c_str() + word.size();
    const auto [stop, failure] = std::from_chars(begin, end, value);
    if (failure == std::errc() && stop == end) return value;
    throw app::UsageError("the argument ('" + word + "') for option '--" + field.name + "' is invalid" +
                          hint(form));
  }

  void operator()(bool* member) const { *member = true; }
  void operator()(int* member) const { *member = number<int>(words.front()); }
  void operator()(std::int64_t* member) const { *member = number<std::int64_t>(words.front()); }
  void operator()(double* member) const { *member = number<double>(words.front()); }
  void operator()(std::string* member) const { *member = words.front(); }
  template <class Number>
  void operator()(std::optional<Number>* member) const {
    *member = number<Number>(words.front());
  }
  void operator()(std::optional<std::string>* member) const { *member = words.front(); }
  void operator()(Words* member) const { *member = words; }
  void operator()(std::vector<std::int64_t>* member) const {
    for (const std::string& word : words) member->push_back(number<std::int64_t>(word));
  }
};

/// Returns the words of a field; for a flag its name, if given.
Words words_of(const po::variables_map& values, const app::FormField& field) {
  const auto found = values.find(field.name);
  if (found == values.end()) return {};
  const boost::any& value = found->second.value();
  if (const auto* is_set = boost::any_cast<bool>(&value)) return *is_set ? Words{field.name} : Words{};
  if (const auto* word = boost::any_cast<std::string>(&value)) return {*word};
  return boost::any_cast<const Words&>(value);
}

}  // namespace

std::vector<app::FormField> fields_of(const app::FormFields& form) {
  std::vector<app::FormField> fields = {
      {.name = "db",
       .letter = "",
       .value = "PATH",
       .help = "the database (default: $ENCORE_DB, else encore.db in the working folder)"},
      {.name = "help", .letter = "h", .value = "", .help = "this help"}};
  fields.insert(fields.end(), form.fields().begin(), form.fields().end());
  return fields;
}

std::string help_text(const app::FormFields& form, int width) {
  std::ostringstream out;
  constexpr int hanging = 4;
  out << wrapped("exp " + form.help().synopsis, width, hanging) << "\n\n"
      << wrapped(form.help().purpose, width) << "\n\n"
      << visible_options(form, width) << '\n';
  for (const app::FormExample& example : form.help().examples)
    out << "example: " << example.command << '\n' << wrapped("         " + example.meaning, width) << '\n';
  return out.str();
}

bool read_request(const app::FormFields& form, const Arguments& arguments, void* request, Console& console) {
  const po::variables_map values = parsed(form, arguments);
  if (values["help"].as<bool>()) {
    console.out << help_text(form, help_width(console.terminal));
    return false;
  }
  if (values.count("db") > 0) console.db = values["db"].as<std::string>();
  for (const app::FormField& field : form.fields()) {
    const Words words = words_of(values, field);
    if (words.empty()) continue;
    std::visit(Setter{form, field, words}, field.place.value().in(request));
    // JSON and CSV are read by programs, so the filter for terminals must not change their bytes.
    if (field.name == "json" || field.name == "csv") pass_all(console.out);
  }
  form.check(request);
  return true;
}

std::filesystem::path database_of(const Console& console) {
  if (console.db) {
    if (console.db->empty()) throw app::UsageError("--db needs a path");
    return *console.db;
  }
  const char* path = std::getenv("ENCORE_DB");
  return path != nullptr && *path != '\0' ? path : "encore.db";
}

}  // namespace encore::cli

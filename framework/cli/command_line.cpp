// See command_line.hpp.
#include "cli/command_line.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "base/nearest.hpp"
#include "base/terminal_filter.hpp"
#include "cli/wrapped_text.hpp"

namespace encore {

namespace po = boost::program_options;

namespace {

std::vector<std::string> long_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

/// What Boost found wrong, in our words: its own texts show internal quoting.
std::string message_of(const po::error& error, const po::options_description& visible) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string name = unknown->get_option_name();
    return "unknown option " + name + did_you_mean(name, long_names(visible));
  }
  if (dynamic_cast<const po::too_many_positional_options_error*>(&error) != nullptr)
    return "there are more arguments than it takes";
  return error.what();
}

}  // namespace

CommandLine::CommandLine(std::string verb, VerbHelp help)
    : verb_(std::move(verb)),
      help_(std::move(help)),
      visible_("options", static_cast<unsigned>(help_width())) {
  visible_.add_options()("db", po::value<std::string>()->value_name("PATH"),
                         "the database (default: $ENCORE_DB, else encore.db in the working folder)");
  visible_.add_options()("help,h", po::bool_switch(), "this help");
}

void CommandLine::positional(const std::string& name, int count) {
  if (count == 1)
    hidden_.add_options()(name.c_str(), po::value<std::string>());
  else
    hidden_.add_options()(name.c_str(), po::value<std::vector<std::string>>());
  positional_.add(name.c_str(), count);
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments.front() == describe_request) throw describe();
  po::options_description all;
  all.add(visible_).add(hidden_);
  // Abbreviated options would change their meaning when a longer one is added.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional_).style(style).run(),
              values_);
    po::notify(values_);
  } catch (const po::error& error) {
    throw UsageError(message_of(error, visible_) + " (exp " + verb_ + " -h shows what there is)");
  }
  if (!flag("help")) {
    if (writes_for_programs()) pass_all(std::cout);
    return true;
  }
  std::cout << help_text();
  return false;
}

/// Whether an option asks for output whose bytes are data.
bool CommandLine::writes_for_programs() const {
  return std::ranges::any_of(std::array{"json", "csv"}, [&](const char* name) {
    const auto found = values_.find(name);
    const bool* const is_set =
        found == values_.end() ? nullptr : boost::any_cast<bool>(&found->second.value());
    return is_set != nullptr && *is_set;
  });
}

std::string CommandLine::text(const std::string& name) const {
  return has(name) ? values_[name].as<std::string>() : std::string();
}

std::vector<std::string> CommandLine::texts(const std::string& name) const {
  return has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

std::optional<std::int64_t> CommandLine::step(const std::string& name) const {
  return has(name) ? std::optional(values_[name].as<std::int64_t>()) : std::nullopt;
}

std::string CommandLine::required(const std::string& name, const std::string& what) const {
  if (text(name).empty()) fail_without(what);
  return text(name);
}

void CommandLine::require(const std::string& name, const std::string& what) const {
  if (!has(name)) fail_without(what);
}

void CommandLine::fail_without(const std::string& what) const {
  throw UsageError("exp " + verb_ + " needs " + what + " (exp " + verb_ + " -h shows an example)");
}

std::filesystem::path CommandLine::database() const {
  if (has("db")) {
    if (text("db").empty()) throw UsageError("--db needs a path");
    return text("db");
  }
  const char* path = std::getenv("ENCORE_DB");
  return path != nullptr && *path != '\0' ? path : "encore.db";
}

Description CommandLine::describe() const {
  Description description;
  for (const auto& option : visible_.options()) {
    OptionDescription described;
    described.names.push_back("--" + option->long_name());
    const std::string dashed = option->canonical_display_name(po::command_line_style::allow_dash_for_short);
    if (dashed.size() == 2) described.names.push_back(dashed);
    if (option->semantic()->max_tokens() > 0) described.value = option->semantic()->name();
    description.options.push_back(std::move(described));
  }
  constexpr unsigned most = 8;  // Boost answers for every position of an argument that may repeat
  for (unsigned at = 0; at < std::min(most, positional_.max_total_count()); ++at) {
    const std::string& name = positional_.name_for_position(at);
    description.repeats = !description.positionals.empty() && description.positionals.back() == name;
    if (description.repeats) break;
    description.positionals.push_back(name);
  }
  return description;
}

std::string CommandLine::help_text() const {
  std::ostringstream out;
  const int width = help_width();
  constexpr int hanging = 4;
  out << wrapped("exp " + help_.synopsis, width, hanging) << "\n\n"
      << wrapped(help_.purpose, width) << "\n\n"
      << visible_ << '\n';
  // A command stays on one line, so that it can be copied.
  for (const Example& example : help_.examples)
    out << "example: " << example.command << '\n' << wrapped("         " + example.meaning, width) << '\n';
  return out.str();
}

}  // namespace encore

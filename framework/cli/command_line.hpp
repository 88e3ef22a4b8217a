// CommandLine: the options of one verb on top of Boost.Program_options: what every verb has (--db, -h), its
// help with an example, and errors that name the help.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/exit_code.hpp"

namespace encore {

struct Example {
  std::string command;  ///< "exp ls --state completed"
  std::string meaning;
};

/// What the help of a verb says beside its options.
struct VerbHelp {
  std::string synopsis;  ///< "run FILE [-S key=value]... [options]"
  std::string purpose;   ///< a few sentences
  std::vector<Example> examples;
};

/// What completion asks instead of running a verb: parse() answers it by throwing a Description.
inline constexpr const char* describe_request = "\x01 describe";

struct OptionDescription {
  std::vector<std::string> names;  ///< "--seed", "-s"
  std::string value;               ///< "N"; empty for a switch
};

/// The options and arguments of a verb; no error.
struct Description {
  std::vector<OptionDescription> options;
  std::vector<std::string> positionals;  ///< "run", "file" ..., in order
  bool repeats = false;                  ///< the last of them may come again
};

class CommandLine {
 public:
  CommandLine(std::string verb, VerbHelp help);

  /// To add the verb's own options, as with boost::program_options::options_description.
  boost::program_options::options_description_easy_init options() { return visible_.add_options(); }
  /// Arguments without a dash, in this order; the last one may take several.
  void positional(const std::string& name, int count = 1);
  /// A paragraph of the help, behind the purpose.
  void explain(const std::string& paragraph) { help_.purpose += "\n" + paragraph; }

  /// False when the help was asked for and printed. Throws UsageError, and Description when asked for that.
  bool parse(const std::vector<std::string>& arguments);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  /// Nobody wrote it: it has its default.
  bool defaulted(const std::string& name) const { return values_[name].defaulted(); }
  bool flag(const std::string& name) const { return values_[name].as<bool>(); }
  /// The value, or empty.
  std::string text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  int integer(const std::string& name) const { return values_[name].as<int>(); }
  /// Of an option with a value of 64 bits.
  /// Of an option that may be repeated.
  std::vector<std::int64_t> wholes(const std::string& name) const {
    return values_[name].as<std::vector<std::int64_t>>();
  }
  std::int64_t whole(const std::string& name) const { return values_[name].as<std::int64_t>(); }
  std::optional<std::int64_t> step(const std::string& name) const;
  double number(const std::string& name) const { return values_[name].as<double>(); }
  /// The value of an argument that must be there; `what` is its name in the synopsis.
  std::string required(const std::string& name, const std::string& what) const;
  /// Throws UsageError when the argument is not there.
  void require(const std::string& name, const std::string& what) const;
  const std::string& verb() const { return verb_; }

  /// --db, else $ENCORE_DB, else encore.db in the working folder.
  std::filesystem::path database() const;

 private:
  [[noreturn]] void fail_without(const std::string& what) const;
  std::string help_text() const;
  bool writes_for_programs() const;
  Description describe() const;

  std::string verb_;
  VerbHelp help_;
  boost::program_options::options_description visible_;
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positional_;
  boost::program_options::variables_map values_;
};

}  // namespace encore

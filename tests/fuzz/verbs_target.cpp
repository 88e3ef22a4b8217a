// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "verbs", the only one of the program fuzz_verbs: what `exp` prints of databases of other
// people (cli/verbs.hpp), one verb in each case. It is a program of its own, because the verbs take long to
// compile with sanitizers. fuzz.cpp calls the target; read changed_database.hpp first.
#include <sstream>

#include "cli/components.hpp"
#include "cli/verbs.hpp"
#include "fuzz/changed_database.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {

namespace {

class VerbsTarget final : public Target {
 public:
  std::string name() const override { return "verbs"; }

  std::vector<std::string> corpus() override {
    database_ = std::make_unique<ChangedDatabase>();
    std::vector<std::string> inputs;
    for (const auto& [name, words] : command_lines()) inputs.push_back("-- " + name + "\n");
    return inputs;
  }

  void mutate(std::string& input, const std::vector<std::string>&, Random& random) override {
    input += database_->changes(random);
  }

  void take(const std::string& input) override {
    database_->write(input);
    const std::string wanted = input.substr(3, input.find('\n') - 3);
    for (const auto& [name, words] : command_lines()) {
      if (name != wanted) continue;
      cli::Arguments arguments(words.begin() + 1, words.end());
      arguments.insert(arguments.end(), {"--db", database_->path().string()});
      run(words.front(), arguments);
    }
  }

 private:
  /// Runs the verb in this process, also if a component (cli/components.hpp) has it.
  static void run(const std::string& verb, const cli::Arguments& arguments) {
    std::ostringstream out, err;
    cli::Console console(out, err);
    if (verb == "report")
      cli::report_of_component().run(arguments, console);
    else if (verb == "compare")
      cli::compare_of_component().run(arguments, console);
    else
      cli::find_verb(verb).run(arguments, console);
  }

  /// Returns the command lines that are tried, each with the name that inputs of this target begin with.
  static const std::vector<std::pair<std::string, cli::Arguments>>& command_lines() {
    static const std::vector<std::pair<std::string, cli::Arguments>> list = {
        {"ls", {"ls"}},
        {"ls json", {"ls", "--json"}},
        {"show", {"show", "net-dropout=0.1-s1"}},
        {"show json", {"show", "net-dropout=0.1-s1", "--json"}},
        {"status", {"status"}},
        {"logs", {"logs", "net-dropout=0.1-s1"}},
        {"diff", {"diff", "net-dropout=0.1-s1", "net-dropout=0.3-s1"}},
        {"explain", {"explain", "net-dropout=0.1-s1"}},
        {"compare", {"compare", "net"}},
        {"compare json", {"compare", "net", "--json"}},
        {"dump", {"dump", "all", "--json"}},
        {"query", {"query", "SELECT * FROM run_status"}},
        {"check", {"db", "check"}},
        {"report", {"report", "all", "--format", "json"}},
    };
    return list;
  }

  std::unique_ptr<ChangedDatabase> database_;  ///< made by corpus()
};

}  // namespace

std::vector<std::unique_ptr<Target>> make_targets() {
  std::vector<std::unique_ptr<Target>> targets;
  targets.push_back(std::make_unique<VerbsTarget>());
  return targets;
}

}  // namespace encore::fuzz

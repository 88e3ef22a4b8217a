// PlannedRuns: an experiment file held against the database: which of its runs are to be started, gone on
// with, or left alone. `exp plan` shows it, `exp run` does it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "plan/plan.hpp"
#include "store/store.hpp"

namespace encore {

enum class Action {
  start,      ///< nobody asked this before
  resume,     ///< it was interrupted, lost or stopped
  retry,      ///< it failed
  skip,       ///< it is complete
  elsewhere,  ///< another process works on it
};
const char* name_of(Action action);

struct PlannedRun {
  Specification specification;
  Action action = Action::start;
  std::optional<RunRow> before;  ///< what the database knows of it

  bool to_do() const {
    return action == Action::start || action == Action::resume || action == Action::retry;
  }
};

struct PlannedRuns {
  Plan plan;
  std::filesystem::path file;
  std::string backend;
  std::filesystem::path worker;
  std::vector<PlannedRun> runs;
  bool fresh = false;

  std::size_t count(Action action) const;
  std::size_t to_do() const;
};

/// FILE, -S, --seed, --name, --backend, --fresh: what `run` and `plan` have in common.
void add_plan_options(CommandLine& line);
/// Reads and checks the file, without the database. Throws ConfigErrors or UsageError with everything that is
/// wrong.
PlannedRuns read_plan(const CommandLine& line);
/// Fills in what the database knows.
void compare_with(Store& store, PlannedRuns& planned);
/// Asks the worker about everything that would be started. Throws ConfigErrors.
void require_startable(const PlannedRuns& planned);

}  // namespace encore

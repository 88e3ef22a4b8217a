// SPDX-License-Identifier: BSD-3-Clause
// Reads site.toml, the description of a cluster: its schema, and the checks of times, sizes and words that a
// schema cannot express. app/slurm_session.cpp calls it. Sites have files with these options, so an option
// keeps its name and default. Read site_file.hpp first.
#include "config/site_file.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/input_file.hpp"
#include "config/toml.hpp"
#include "config/validate.hpp"

namespace encore::config {

namespace {

constexpr std::size_t most_site_bytes = std::size_t{1} << 20;
constexpr const char* table_name = "slurm";

/// An option of a job that Encore sets itself, and the option of site.toml that decides it, if there is one.
struct OwnOption {
  const char* name;
  const char* by;
};
constexpr std::array own_options = {
    OwnOption{"--array", "`runs_per_job` of [slurm]"},
    OwnOption{"-a", "`runs_per_job` of [slurm]"},
    OwnOption{"--job-name", ""},
    OwnOption{"-J", ""},
    OwnOption{"--signal", "`checkpoint_seconds` of [slurm]"},
    OwnOption{"--output", ""},
    OwnOption{"-o", ""},
    OwnOption{"--parsable", ""},
    OwnOption{"--wrap", "`before` of [slurm]"},
    OwnOption{"--requeue", "`requeue` of [slurm]"},
    OwnOption{"--no-requeue", "`requeue` of [slurm]"},
    OwnOption{"--ntasks", "--ranks of exp run"},
    OwnOption{"-n", "--ranks of exp run"},
    OwnOption{"--wait", ""},
    OwnOption{"-W", ""},
};

Place place_in(const ValidTable& table, const std::string& option) {
  const auto found = table.origin.find(std::string(table_name) + "." + option);
  return found == table.origin.end() ? Place{} : found->second.place;
}

// --- forms of strings; std::regex needs a stack as deep as the string is long ---

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns true for numbers with a colon between them.
bool are_numbers(std::string_view text, std::size_t most) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return is_number(text);
  return most > 1 && is_number(text.substr(0, colon)) && are_numbers(text.substr(colon + 1), most - 1);
}

/// Returns true for "30", "4:00:00", "1-12", "1-12:30:00".
bool is_time(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return are_numbers(text, 3);
  return is_number(text.substr(0, dash)) && are_numbers(text.substr(dash + 1), 3);
}

/// Returns true for sizes such as "8G".
bool is_memory(std::string_view text) {
  if (!text.empty() && std::string_view("KMGT").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return is_number(text);
}

constexpr std::string_view white_space = " \t\n\v\f\r";

bool is_plain_word(std::string_view text) {
  return text.find_first_of(white_space) == std::string_view::npos &&
         text.find_first_of("\"'$`\\") == std::string_view::npos;
}

/// Returns true if every brace opens {ranks} or {cpus}.
bool is_rank_command(std::string_view text) {
  if (text.empty() || text.front() == '-' || white_space.find(text.front()) != std::string_view::npos ||
      text.front() == '{')
    return false;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (!rest.starts_with("{ranks}") && !rest.starts_with("{cpus}")) return false;
  }
  return true;
}

void check_form(const ValidTable& table, const char* option, bool (*fits)(std::string_view),
                const char* wanted, Problems& problems) {
  const std::string& text = table.options.text(option);
  if (text.empty() || fits(text)) return;
  problems.add(place_in(table, option), std::string("slurm.") + option,
               std::string("option \"") + option + "\" of [slurm] must be " + wanted + ", found \"" +
                   shortened(text) + "\"");
}

void check_options(const ValidTable& table, Problems& problems) {
  for (const std::string& option : table.options.text_list("options")) {
    const std::string name = option.substr(0, option.find_first_of("= "));
    std::string wrong;
    if (!option.starts_with('-'))
      wrong = "is not an option of sbatch: expected one option in each text, such as \"--qos=long\"";
    for (const OwnOption& own : own_options)
      if (name == own.name)
        wrong = std::string("is set by Encore itself") +
                (*own.by == '\0' ? "" : std::string("; ") + own.by + " decides it");
    if (!wrong.empty())
      problems.add(place_in(table, "options"), "slurm.options",
                   "\"" + option + "\" in option \"options\" of [slurm] " + wrong);
  }
}

void check_forms(const ValidTable& table, Problems& problems) {
  check_form(table, "time", is_time, "minutes, \"hours:minutes:seconds\" or \"days-hours\"", problems);
  check_form(table, "memory", is_memory, "a number with K, M, G or T, as \"8G\"", problems);
  for (const char* option : {"partition", "account", "gpus"})
    check_form(table, option, is_plain_word, "one word without quotes", problems);
  check_form(table, "mpi", is_rank_command, "a command, as \"srun --mpi=pmix -n {ranks} -c {cpus}\"",
             problems);
  check_options(table, problems);
}

}  // namespace

const Schema& slurm_schema() {
  static const Schema schema =
      Schema()
          .text("partition", "", {.help = "partition of the jobs; empty: Slurm's default"})
          .text("account", "", {.help = "account that the time is charged to"})
          .text("time", "",
                {.help = "time limit of a job, as `\"4:00:00\"`; before it a checkpoint is written"})
          .text("memory", "", {.help = "memory of a job, as `\"8G\"`"})
          .text("gpus", "", {.help = "GPUs of a job, as `\"1\"` or `\"a100:1\"`"})
          .integer("cpus", 0,
                   {.help = "CPUs of a job, or of each rank of it, and threads there unless `--threads` says "
                            "otherwise; 0: Slurm's default",
                    .min = 0,
                    .max = 4096})
          .text_list("modules", {}, {.help = "modules that are loaded before the work starts"})
          .text_list("before", {}, {.help = "lines of bash before the work starts, after the modules"})
          .text("container", "",
                {.help = "a command in front of `exp job`, as `\"apptainer exec /images/encore.sif\"`"})
          .text_list("options", {}, {.help = "further options of sbatch, as `\"--qos=long\"`"})
          .text("mpi", "",
                {.help = "command that starts the ranks of a run inside a job, as `\"srun --mpi=pmix -n "
                         "{ranks} -c {cpus}\"`"})
          .integer("max_submits_per_minute", 10,
                   {.help = "at most N calls of sbatch in a minute, by all processes on the database",
                    .min = 1,
                    .max = 10000})
          .integer(
              "runs_per_job", 1,
              {.help = "number of runs that each job trains one after the other", .min = 1, .max = 10000})
          .integer("max_array_size", 0,
                   {.help = "most jobs of one array; 0: as many as Slurm's MaxArraySize allows",
                    .min = 0,
                    .max = 1000000})
          .integer(
              "checkpoint_seconds", 120,
              {.help =
                   "time before the limit of a job at which it writes a checkpoint and returns to the queue",
               .unit = "s",
               .min = 1,
               .max = 65535})
          .boolean(
              "requeue", true,
              {.help = "whether a job returns to the queue before its time limit, and after a failed node"})
          .integer("queue_seconds", 10,
                   {.help = "shortest time between two queries of Slurm's queue",
                    .unit = "s",
                    .min = 1,
                    .max = 3600});
  return schema;
}

SlurmSite parse_site(const std::string& text, const std::string& name) {
  const Value root = parse_toml(text, name);
  Problems problems;
  const Value::Member* table = nullptr;
  for (const Value::Member& member : root.table()) {
    if (member.key == table_name)
      table = &member;
    else
      problems.add(member.key_origin.place, member.key,
                   "unknown table \"" + member.key + "\" of the site file; there is [slurm]");
  }
  if (table != nullptr && !table->value.is_table())
    problems.add(table->value.origin.place, table_name,
                 "\"slurm\" must be a table, [slurm], found " + describe(table->value));
  problems.require_none();
  const Value none{.data = Value::Table(), .origin = root.origin};
  const ValidTable valid =
      validate(table == nullptr ? none : table->value, slurm_schema(), {table_name, "[slurm]"}, problems);
  problems.require_none();
  check_forms(valid, problems);
  problems.require_none();
  const Options& options = valid.options;
  const auto integer = [&](const char* option) { return static_cast<int>(options.integer(option)); };
  return {.partition = options.text("partition"),
          .account = options.text("account"),
          .time = options.text("time"),
          .memory = options.text("memory"),
          .gpus = options.text("gpus"),
          .cpus = integer("cpus"),
          .modules = options.text_list("modules"),
          .before = options.text_list("before"),
          .container = options.text("container"),
          .options = options.text_list("options"),
          .mpi = options.text("mpi"),
          .max_submits_per_minute = integer("max_submits_per_minute"),
          .runs_per_job = integer("runs_per_job"),
          .max_array_size = integer("max_array_size"),
          .checkpoint_seconds = integer("checkpoint_seconds"),
          .requeue = options.flag("requeue"),
          .queue_seconds = integer("queue_seconds")};
}

SlurmSite load_site(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_file(file, most_site_bytes);
  } catch (const UnreadableFile& error) {
    throw ConfigErrors({{{}, "", error.what()}});
  }
  return parse_site(text, file.string());
}

std::filesystem::path default_site_file() {
  const auto named = [](const char* variable) {
    const char* text = std::getenv(variable);
    const std::filesystem::path folder = text == nullptr ? "" : text;
    return folder.is_absolute() ? folder : std::filesystem::path();
  };
  std::filesystem::path folder = named("XDG_CONFIG_HOME");
  if (folder.empty() && !named("HOME").empty()) folder = named("HOME") / ".config";
  return folder.empty() ? folder : folder / "encore" / "site.toml";
}

}  // namespace encore::config

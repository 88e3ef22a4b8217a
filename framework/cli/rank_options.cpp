// See rank_options.hpp.
#include "cli/rank_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

namespace encore {

namespace {

constexpr const char* count_word = "{ranks}";
constexpr auto answer_patience = std::chrono::seconds(10);

/// "mpirun" with what Open MPI wants to be told: that more ranks than cores and the user root are meant.
/// Threads are placed by OpenMP within the cores of the whole.
std::string default_launcher() {
  return std::string("mpirun --oversubscribe --bind-to none ") +
         (::geteuid() == 0 ? "--allow-run-as-root " : "") + "-n " + count_word;
}

std::vector<std::string> launcher_words(const CommandLine& line) {
  std::istringstream text(line.has("mpirun") ? line.text("mpirun") : default_launcher());
  std::vector<std::string> words;
  bool counts = false;
  for (std::string word; text >> word; words.push_back(word))
    if (const std::size_t at = word.find(count_word); at != std::string::npos) {
      word.replace(at, std::string_view(count_word).size(), std::to_string(line.integer("ranks")));
      counts = true;
    }
  if (!counts)
    throw UsageError("--mpirun \"" + line.text("mpirun") +
                     "\" does not say where the number of ranks goes; " + "write " + count_word +
                     " there, as in \"srun -n {ranks}\"");
  return words;
}

/// Whether a program answers at all.
bool answers(const std::string& program) {
  try {
    return run_program(program, {"--version"}, "", {.timeout = answer_patience}).end.success();
  } catch (const Error&) {
    return false;
  }
}

bool knows_mpi(const std::filesystem::path& worker) {
  const ProgramOutput version = run_program(worker, {"version"}, "", {.timeout = answer_patience});
  const nlohmann::json said = nlohmann::json::parse(version.output, nullptr, false);
  return said.is_object() && !said.value("mpi", "").empty();
}

}  // namespace

void add_rank_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()(
      "ranks", po::value<int>()->value_name("N")->default_value(1),
      "processes that train one run together over MPI, each a share of train.gradient_shards, which "
      "N divides (the bits of the result do not depend on it)");
  line.options()(
      "mpirun", po::value<std::string>()->value_name("COMMAND"),
      "what starts them, with {ranks} in it, as \"srun -n {ranks}\" (default: mpirun of Open MPI)");
}

void use_ranks(const CommandLine& line, const std::string& backend, std::vector<WorkerPlace>& places) {
  const int ranks = line.integer("ranks");
  if (ranks < 1)
    throw UsageError("--ranks " + std::to_string(ranks) + " would train nothing; give at least 1");
  if (ranks == 1) {
    if (line.has("mpirun")) throw UsageError("--mpirun starts the ranks of --ranks N, which is 1");
    return;
  }
  if (line.has("launcher"))
    throw UsageError("--ranks does not go with --launcher; have --mpirun find the machines");
  if (backend != "openmp")
    throw UsageError("--ranks computes on cores, and this is backend " + backend +
                     "; leave --ranks out, or choose --backend openmp");
  for (WorkerPlace& place : places) {
    place.ranks = ranks;
    place.rank_launcher = launcher_words(line);
    if (line.integer("threads") == 0) place.threads = std::max(1, place.threads / ranks);
    // Where the threads of one process would be pinned says nothing of those of several.
    place.variables = {{"OMP_NUM_THREADS", std::to_string(place.threads)}};
  }
}

void require_ranks(const CommandLine& line, const PlannedRuns& planned) {
  const int ranks = line.integer("ranks");
  if (ranks == 1) return;
  if (!knows_mpi(planned.worker))
    throw UsageError("--ranks " + std::to_string(ranks) +
                     ": this worker was built without MPI; install it (on Debian libopenmpi-dev and "
                     "openmpi-bin) and build "
                     "again with ./exp build");
  const std::string launcher = launcher_words(line).front();
  if (!answers(launcher))
    throw UsageError(
        "--ranks " + std::to_string(ranks) + ": no " + launcher +
        " on the path that answers; install it (on Debian openmpi-bin), load the site's module, or "
        "name another one with --mpirun");
  for (const PlannedRun& run : planned.runs) {
    const std::int64_t shards =
        run.specification.config.at("train").at("gradient_shards").get<std::int64_t>();
    if (shards % ranks != 0)
      throw UsageError("--ranks " + std::to_string(ranks) + " does not divide train.gradient_shards = " +
                       std::to_string(shards) + " of run " + run.specification.name +
                       "; set it to a multiple (it is part of what is trained), or choose other ranks");
  }
}

}  // namespace encore

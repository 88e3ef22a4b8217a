// SPDX-License-Identifier: BSD-3-Clause
// Checks --ranks and makes the command that starts the ranks of a run. run_session.cpp, slurm_session.cpp,
// verify.cpp and bench_cases.cpp call it. Ranks never change a run's bits, so they must divide the gradient
// shards (train.gradient_shards); the placeholders {ranks} and {cpus} are documented for users. Read next:
// run_ranks.hpp.
#include "app/run_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/json_text.hpp"
#include "base/shell_word.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"

namespace encore::app {

namespace {

constexpr const char* launcher_variable = "ENCORE_MPIRUN";

/// Returns the user's replacement for mpirun; empty: none.
std::string wanted_launcher(const RankRequest& request) {
  if (request.mpirun) return *request.mpirun;
  const char* variable = std::getenv(launcher_variable);
  return variable == nullptr ? "" : variable;
}

/// Open MPI needs options to allow root and more ranks than cores. Binding is off, because it would give each
/// rank one core for all its threads.
std::vector<std::string> open_mpi_launcher(const std::string& ranks) {
  std::vector<std::string> words = {"mpirun", "-n", ranks, "--quiet", "--bind-to", "none", "--oversubscribe"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  return words;
}

bool is_there(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

/// Returns the numbers of ranks that fit, for a message: "1, 2, 4".
std::string divisors_of(std::int64_t shards) {
  std::string list;
  for (std::int64_t ranks = 1; ranks <= shards; ++ranks)
    if (shards % ranks == 0) list += (list.empty() ? "" : ", ") + std::to_string(ranks);
  return list;
}

}  // namespace

Form<RankRequest> rank_options() {
  using R = RankRequest;
  return Form<R>()
      .option("ranks", &R::ranks, "N",
              "train each run with N processes over MPI; N must divide train.gradient_shards and does not "
              "change the bits of the result")
      .option("mpirun", &R::mpirun, "COMMAND", mpirun_help)
      .least("ranks", 1, "invalid --ranks {}: expected at least 1")
      .needs("mpirun", "ranks", "--mpirun needs --ranks N, the number of processes");
}

void require_rank_backend(int ranks, const std::string& backend) {
  if (ranks > 1 && !runner::computes_on_host(backend))
    throw UsageError("--ranks needs backend openmp or serial, but the backend is " + backend +
                     "; remove --ranks, or choose --backend openmp");
}

std::vector<std::string> rank_launcher(const RankRequest& request, int threads) {
  if (request.ranks == 1) return {};
  std::vector<std::string> words = launcher_words(wanted_launcher(request), request.ranks, threads);
  return words.empty() ? open_mpi_launcher(std::to_string(request.ranks)) : words;
}

std::vector<std::string> launcher_words(const std::string& command, int ranks, int cpus) {
  const std::string count = std::to_string(ranks);
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    replace_all(word, "{ranks}", count);
    replace_all(word, "{cpus}", std::to_string(cpus));
    words.push_back(word);
  }
  if (!words.empty() && command.find("{ranks}") == std::string::npos)
    words.insert(words.end(), {"-n", count});
  return words;
}

void require_ranks_divide(int ranks, const record::Specification& specification) {
  const nlohmann::json shards =
      specification.config.value(nlohmann::json::json_pointer("/train/gradient_shards"), nlohmann::json(1));
  const auto count = shards.get<std::int64_t>();
  if (count % ranks == 0) return;
  throw UsageError("--ranks " + std::to_string(ranks) +
                   " does not divide train.gradient_shards = " + std::to_string(count) +
                   ", the parts of a batch that ranks share: expected one of " + divisors_of(count) +
                   "; another number of shards (-S train.gradient_shards=" + std::to_string(ranks) +
                   ") rounds differently, so it makes another run");
}

void require_ranks(const RankRequest& request, bool elsewhere, const PlannedRuns& planned) {
  if (request.ranks == 1) return;
  for (const PlannedRun& run : planned.runs)
    if (run.to_do()) require_ranks_divide(request.ranks, run.specification);
  require_rank_programs(request, elsewhere, planned.worker);
}

void require_rank_programs(const RankRequest& request, bool elsewhere, const std::filesystem::path& worker) {
  const std::string ranks = std::to_string(request.ranks);
  const runner::ProgramOutput version = runner::run_program(worker, {"version"});
  const nlohmann::json answer = json_or_null(version.output);
  if (answer.is_object() && answer.value("mpi", std::string()).empty())
    throw UsageError("--ranks " + ranks + ": " + worker.string() + " was built without MPI; " +
                     build_with_mpi + ", or train without --ranks");
  if (elsewhere) return;  // the program starts on other machines
  const std::string program = rank_launcher(request, 1).front();
  if (!is_there(program))
    throw UsageError("--ranks " + ranks + " is started by " + program +
                     ", which was not found; install it (Debian's package is openmpi-bin), or choose another "
                     "command with --mpirun COMMAND");
}

}  // namespace encore::app

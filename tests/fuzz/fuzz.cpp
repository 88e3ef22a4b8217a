// SPDX-License-Identifier: BSD-3-Clause
// The main programs "fuzz" and "fuzz_verbs": they give mutated foreign files and values to the code that
// reads them, by the targets of target.hpp. Each case follows from the seed and its number alone, so that a
// finding can be repeated; the order of random draws is part of this. Cases run in a child process: a crash,
// a hang or the report of a sanitizer is noted, and the next case continues. CTest runs 200 cases of each
// target, .ci/run more. The input of a finding is kept in tests/fuzz/findings/TARGET/.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include <fcntl.h>

#include <encore/error.hpp>

#include "fuzz/target.hpp"
#include "support/places.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::fuzz {

namespace {

/// Lists the targets of this program.
std::string usage() {
  std::string names;
  for (const auto& target : make_targets()) names += (names.empty() ? "" : ", ") + target->name();
  return "usage: fuzz|fuzz_verbs TARGET|all [--mutations N] [--seed N] [--case N [--print]] [--seconds N]\n"
         "  TARGET        one of " +
         names +
         "\n"
         "  --mutations   how many cases of each target (default 1000)\n"
         "  --seed        which ones (default 1)\n"
         "  --case        only this one, in this process: for a debugger; --print writes its input instead\n"
         "  --seconds     a case that takes longer is a finding (default 60)\n";
}

struct Task {
  std::string target;
  std::uint64_t mutations = 1000, seed = 1, seconds = 60;
  std::uint64_t only = 0;
  bool one_case = false, print = false;
};

/// The report of the child: memory that both processes share, so that it survives any end.
struct Shared {
  std::uint64_t number, accepted, refused;
  char finding[2000];
};

std::string stored_folder(const Target& target) {
  return std::string(ENCORE_SOURCE_DIR) + "/tests/fuzz/findings/" + target.name();
}

/// The inputs of a target: those of earlier findings (stored_folder()), then the target's corpus.
struct Inputs {
  std::vector<std::string> stored, corpus;

  explicit Inputs(Target& target) : corpus(target.corpus()) {
    std::error_code none;
    std::map<std::string, std::string> sorted;
    for (const auto& file : std::filesystem::directory_iterator(stored_folder(target), none))
      sorted[file.path().filename().string()] = testing::read_bytes(file.path());
    for (auto& [name, bytes] : sorted) stored.push_back(std::move(bytes));
  }

  /// Whether the input with this number is one of the corpus as it is.
  bool is_correct(std::uint64_t number) const {
    return number >= stored.size() && number < stored.size() + corpus.size();
  }
  /// Returns the input of a case: first the stored inputs, then the corpus unchanged, then mutations of the
  /// corpus.
  std::string at(std::uint64_t number, std::uint64_t seed, Target& target) const {
    if (number < stored.size()) return stored[number];
    if (number < stored.size() + corpus.size()) return corpus[number - stored.size()];
    Random random(analysis::random_word(seed, number));
    std::string input = random.any_of(corpus);
    target.mutate(input, corpus, random);
    return input;
  }
};

/// Returns why the input is rejected, or nothing if it is accepted. Exceptions other than Error pass through.
std::optional<std::string> refusal_of(Target& target, const std::string& input) {
  try {
    target.take(input);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

[[noreturn]] void work(Target& target, const Inputs& inputs, const Task& task, Shared& shared) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  for (; shared.number < task.mutations; ++shared.number) try {
      const auto refusal = refusal_of(target, inputs.at(shared.number, task.seed, target));
      ++(refusal ? shared.refused : shared.accepted);
      if (refusal && inputs.is_correct(shared.number))
        throw std::logic_error("an input that the target starts from is refused: " + *refusal);
    } catch (const std::exception& error) {
      std::snprintf(shared.finding, sizeof shared.finding, "%s", error.what());
      ::_exit(1);
    }
  ::_exit(0);
}

/// Waits for the child; kills it if one case takes too long. Returns how it ended, or nothing if it
/// succeeded.
std::string wait_for(pid_t child, const Shared& shared, std::uint64_t seconds) {
  using Clock = std::chrono::steady_clock;
  std::uint64_t seen = shared.number;
  Clock::time_point since = Clock::now(), last = since;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const volatile std::uint64_t& number = shared.number;
    // This process slept for milliseconds: if a second has passed, the whole machine was stopped and
    // continues now.
    const bool was_stopped = Clock::now() - last > std::chrono::seconds(1);
    last = Clock::now();
    if (number != seen || was_stopped) {
      seen = number;
      since = Clock::now();
    } else if (Clock::now() - since > std::chrono::seconds(seconds)) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return "no end after " + std::to_string(seconds) + " s";
    }
  }
  if (WIFSIGNALED(status)) return std::string("ended by ") + ::strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return {};
  return shared.finding[0] != '\0' ? "threw: " + std::string(shared.finding)
                                   : "ended by a sanitizer, see above";
}

/// Returns the number of findings.
std::uint64_t run(Target& target, const Task& task, const std::string& program) {
  const auto start = std::chrono::steady_clock::now();
  const Inputs inputs(target);
  auto* shared = static_cast<Shared*>(
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  std::uint64_t findings = 0;
  while (shared->number < task.mutations) {
    shared->finding[0] = '\0';
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) work(target, inputs, task, *shared);
    const std::string end = wait_for(child, *shared, task.seconds);
    if (end.empty()) continue;
    ++findings;
    const std::string number = std::to_string(shared->number);
    std::cout << target.name() << ": case " << number << ": " << end << "\n  repeat with: " << program << ' '
              << target.name() << " --seed " << task.seed << " --case " << number << std::endl;
    ++shared->number;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s: %llu cases of seed %llu: %llu taken, %llu refused, %llu findings, %.1f s\n",
              target.name().c_str(), static_cast<unsigned long long>(task.mutations),
              static_cast<unsigned long long>(task.seed), static_cast<unsigned long long>(shared->accepted),
              static_cast<unsigned long long>(shared->refused), static_cast<unsigned long long>(findings),
              seconds.count());
  std::fflush(stdout);
  ::munmap(shared, sizeof(Shared));
  return findings;
}

int run_one(Target& target, const Task& task) {
  const std::string input = Inputs(target).at(task.only, task.seed, target);
  if (task.print) {
    std::cout << input;
    return 0;
  }
  const auto refusal = refusal_of(target, input);
  std::cerr << (refusal ? "refused: " + *refusal : "taken") << '\n';
  return 0;
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size())
    throw Error("\"" + text + "\" is not a number\n" + usage());
  return number;
}

Task task_of(int argc, char** argv) {
  if (argc < 2) throw Error(usage());
  Task task;
  task.target = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--print") {
      task.print = true;
      continue;
    }
    if (i + 1 == argc) throw Error(usage());
    const std::uint64_t number = number_of(argv[++i]);
    if (option == "--mutations")
      task.mutations = number;
    else if (option == "--seed")
      task.seed = number;
    else if (option == "--seconds")
      task.seconds = number;
    else if (option == "--case")
      task.only = number, task.one_case = true;
    else
      throw Error(usage());
  }
  return task;
}

int fuzz(int argc, char** argv) {
  const Task task = task_of(argc, argv);
  auto targets = make_targets();
  std::erase_if(targets,
                [&](const auto& target) { return task.target != "all" && task.target != target->name(); });
  if (targets.empty()) throw Error("unknown target \"" + task.target + "\"\n" + usage());
  if (task.one_case) return run_one(*targets.front(), task);
  std::uint64_t findings = 0;
  for (const auto& target : targets) findings += run(*target, task, argv[0]);
  return findings == 0 ? 0 : 1;
}

}  // namespace

}  // namespace encore::fuzz

int main(int argc, char** argv) {
  try {
    return encore::fuzz::fuzz(argc, argv);
  } catch (const encore::Error& error) {
    std::cerr << "fuzz: " << error.what() << '\n';
    return 2;
  }
}

// SPDX-License-Identifier: BSD-3-Clause
// Console: standard streams, progress line, questions to the user, and the handler of Ctrl-C. All verbs print
// through it. Answers go to standard output, everything else to standard error, so that scripts can read
// answers; this must stay. agrees() always asks: a caller first checks can_ask(), because a script has no
// terminal. Read next: console.hpp.
#include "cli/console.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "app/form.hpp"
#include "base/shell_word.hpp"
#include "cli/table.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

/// The progress line. It prints nothing in the first second; then one line that is replaced on a terminal, or
/// elsewhere a line with the time every ten seconds.
class ProgressLine {
 public:
  ProgressLine(std::ostream& stream, const Terminal& terminal)
      : lines_(stream, terminal), next_(std::chrono::steady_clock::now() + silent_at_first) {}

  void show(const std::string& text) {
    const auto time = std::chrono::steady_clock::now();
    if (time < next_) return;
    const bool live = lines_.terminal().live;
    next_ = time + (live ? live_interval : progress_interval);
    if (!live) return lines_.print(clock_text(world::now_seconds()) + " " + text);
    lines_.set(0, text);
    lines_.refresh();
  }

 private:
  static constexpr std::chrono::milliseconds silent_at_first{1000}, live_interval{200},
      progress_interval{10000};
  LiveLines lines_;
  std::chrono::steady_clock::time_point next_;
};

namespace {

/// The number of requests to stop. A signal handler raises it, so it cannot belong to an object.
std::atomic<int> stops{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may raise it");

}  // namespace

const std::atomic<int>& stop_requests() {
  return stops;
}

void listen_for_stop_requests() {
  struct sigaction action {};
  action.sa_handler = [](int) { stops.fetch_add(1); };
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART: a wait in progress is cut short, so that the request is passed on at once.
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

Console::Console(std::ostream& output, std::ostream& errors) : out(output), err(errors) {}

Console::Console() : out(std::cout), err(std::cerr), is_standard_(true) {
  terminal = terminal_of(stdout);
  error_terminal = terminal_of(stderr);
}

Console::~Console() = default;

void Console::print(const nlohmann::ordered_json& answer) {
  out << answer.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

std::string Console::input() const {
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

void flush_standard_output() {
  std::cout.flush();
}

std::string command_name() {
  const char* name = std::getenv("ENCORE_COMMAND");
  return name != nullptr && *name != '\0' ? name : "exp";
}

std::string Console::suggestion(std::vector<std::string> words) const {
  if (db) words.insert(words.end(), {"--db", *db});
  return command_name() + " " + shell_command(words);
}

void Console::progressed(const std::string& what, std::size_t done, std::size_t all,
                         const std::string& unit) {
  if (done >= all) return progress_.reset();
  if (!progress_) progress_ = std::make_unique<ProgressLine>(err, error_terminal);
  progress_->show(what + " " + std::to_string(done) + " of " + std::to_string(all) + " " + unit);
}

void Console::noticed(const std::string& text) {
  progress_.reset();
  out.flush();
  err << "exp: " << text << '\n' << std::flush;
}

void Console::relayed(const std::string& text) {
  progress_.reset();
  err << text << std::flush;
}

void Console::started() {
  if (is_standard_) listen_for_stop_requests();
}

bool Console::can_ask() const {
  return is_standard_ && ::isatty(STDIN_FILENO) != 0;
}

/// Prints the question to standard error, because the output may be data.
bool Console::agrees(const std::string& question) {
  progress_.reset();
  err << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace encore::cli

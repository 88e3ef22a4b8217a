// SPDX-License-Identifier: BSD-3-Clause
// Implements Sandbox (sandbox.hpp), with which all tests of this folder call `exp`: writes the corpus and the
// experiment, starts `exp` in a clean environment, and waits for states of runs. Variables of the user's
// environment must not reach `exp`, so a test gives every variable that it needs.
#include "system/control/sandbox.hpp"
#include "support/places.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <encore/error.hpp>

namespace encore::system_test {

namespace {

constexpr const char* program = ENCORE_BUILD_DIR "/bin/exp";

/// Variables for Encore, OpenMP or the terminal that the user of this machine may have set.
constexpr const char* foreign_variables[] = {
    "ENCORE_DB",        "ENCORE_BACKEND", "ENCORE_WORKER",     "ENCORE_PLUGIN_PATH",
    "OMP_THREAD_LIMIT", "OMP_PROC_BIND",  "OMP_PLACES",        "KMP_AFFINITY",
    "COLUMNS",          "LINES",          "GOMP_CPU_AFFINITY", "LC_ALL",
    "LC_CTYPE",         "ENCORE_SCRIPT",  "ENCORE_BUILT"};

std::string sentences(int begin, int end) {
  const char* names[] = {"Anna", "Berg", "Clara", "Dahl", "Erik"};
  const char* places[] = {"Lund", "Oslo", "Bergen"};
  std::string text;
  for (int i = begin; i < end; ++i)
    text += std::string(names[i % 5]) + "\tB-PER\nlives\tO\nin\tO\n" + places[i % 3] + "\tB-LOC\n.\tO\n\n";
  return text;
}

std::vector<std::string> with_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  return arguments;
}

/// Lets queries wait for other connections, which lock the database for short times.
void wait_for_locks(sqlite3* database) {
  sqlite3_busy_timeout(database, static_cast<int>(1000 * patience));
}

}  // namespace

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw Error("\"" + from + "\" is not in\n" + text);
  text.replace(at, from.size(), to);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) throw Error("\"" + from + "\" is not in\n" + text);
  for (; at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

std::filesystem::path built_in_plugins() {
  return ENCORE_BUILD_DIR "/lib/encore/plugins";
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

char state_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(in, line);
  // "123 (name) S ...", and the name may hold anything.
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? '\0' : line[name_end + 2];
}

bool has_ended(pid_t process) {
  const char state = state_of(process);
  return state == 0 || state == 'Z';
}

std::string tiny_experiment(const std::string& name) {
  return "name = \"" + name + R"("
seed = 1
[task]
type = "ner"
[data]
type = "conll"
train = "train.conll"
dev = "dev.conll"
test = "test.conll"
max_length = 32
[tokenizer]
type = "wordpiece"
vocab_size = 60
[model]
width = 16
layers = 1
dropout = 0.1
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 32
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 1e-2
[schedule]
type = "constant"
[train]
batch_size = 4
epochs = 4
)";
}

Sandbox::Sandbox(bool real_worker) {
  std::string pattern = (std::filesystem::temp_directory_path() / "encore-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error("cannot make " + pattern);
  folder_ = pattern;
  if (!real_worker) set("ENCORE_WORKER", ENCORE_BUILD_DIR "/bin/tests/fake-worker");
  set("LANG", "C.UTF-8");
  set("OMP_NUM_THREADS", "1");
  set("XDG_STATE_HOME", (folder_ / "state").string());
  set("ENCORE_CACHE", (folder_ / "cache").string());
  set("ENCORE_COMMAND", "");  // `./exp test` sets it, and commands would be suggested by that name
  write("train.conll", sentences(0, 20));
  write("dev.conll", sentences(20, 26));
  write("test.conll", sentences(26, 32));
  write("tiny.toml", tiny_experiment());
}

Sandbox::~Sandbox() {
  for (pid_t worker : workers()) ::kill(worker, SIGKILL);
  std::error_code ignored;
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(folder_, ignored);
}

void Sandbox::write(const std::string& name, const std::string& content) const {
  std::filesystem::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << content;
}

std::vector<std::string> Sandbox::command(const std::vector<std::string>& words) const {
  std::vector<std::string> all = {"-C", folder_.string()};
  for (const char* name : foreign_variables) all.insert(all.end(), {"-u", name});
  for (const auto& [name, value] : environment_) all.push_back(name + "=" + value);
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

runner::ProgramOutput Sandbox::exp(const std::vector<std::string>& arguments,
                                   const std::string& input) const {
  return runner::run_program("env", command(with_program(arguments)), input);
}

runner::ProgramOutput Sandbox::shell(const std::string& lines) const {
  return runner::run_program("env", command({"bash", "-c", lines}));
}

bool Sandbox::has(const std::string& program) {
  return runner::run_program("bash", {"-c", "command -v " + program}).end.success();
}

pid_t Sandbox::start(const std::vector<std::string>& arguments, const std::string& output) const {
  const std::vector<std::string> all = command(with_program(arguments));
  std::vector<char*> list;
  std::string name = "env";
  list.push_back(name.data());
  for (const std::string& argument : all) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  const std::string file = (folder_ / output).string();
  const pid_t process = ::fork();
  if (process != 0) {
    started_.push_back(process);
    return process;
  }
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::dup2(descriptor, STDOUT_FILENO);
  ::dup2(descriptor, STDERR_FILENO);
  ::execvp("env", list.data());
  ::_exit(127);
}

std::optional<runner::ProcessEnd> Sandbox::wait(pid_t process) {
  int status = 0;
  const bool ended = eventually([&] { return ::waitpid(process, &status, WNOHANG) != 0; });
  if (!ended) {
    ::kill(process, SIGKILL);
    ::waitpid(process, &status, 0);
    return std::nullopt;
  }
  if (WIFSIGNALED(status)) return runner::ProcessEnd{0, WTERMSIG(status)};
  return runner::ProcessEnd{WEXITSTATUS(status), 0};
}

std::vector<std::string> Sandbox::query(const std::string& sql) const {
  sqlite3* database = nullptr;
  std::vector<std::string> rows;
  if (sqlite3_open_v2((folder_ / "encore.db").c_str(), &database, SQLITE_OPEN_READONLY, nullptr) ==
      SQLITE_OK) {
    wait_for_locks(database);
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
    while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
      const unsigned char* text = sqlite3_column_text(statement, 0);
      rows.emplace_back(text == nullptr ? "" : reinterpret_cast<const char*>(text));
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  return rows;
}

std::string Sandbox::one(const std::string& sql) const {
  const std::vector<std::string> rows = query(sql);
  return rows.empty() ? "" : rows.front();
}

void Sandbox::change(const std::string& sql) const {
  sqlite3* database = nullptr;
  char* problem = nullptr;
  sqlite3_open_v2((folder_ / "encore.db").c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
  wait_for_locks(database);
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &problem) != SQLITE_OK)
    ADD_FAILURE() << sql << ": " << (problem == nullptr ? "cannot open the database" : problem);
  sqlite3_free(problem);
  sqlite3_close(database);
}

std::string Sandbox::read(const std::string& name) const {
  std::ifstream in(folder_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool Sandbox::wait_until(const std::function<bool()>& condition) const {
  bool holds = false;
  eventually([&] {
    // The condition is checked first, because what a process did before its end counts.
    const bool over = !started_.empty() && std::ranges::all_of(started_, has_ended);
    return (holds = condition()) || over;
  });
  return holds;
}

bool Sandbox::wait_until(const std::string& sql, const std::string& wanted) const {
  return wait_until([&] { return one(sql) == wanted; });
}

bool Sandbox::wait_for_text(const std::string& file, const std::string& text) const {
  return wait_until([&] { return read(file).find(text) != std::string::npos; });
}

bool Sandbox::wait_until_no_workers() const {
  return eventually([&] { return workers().empty(); });
}

std::vector<pid_t> Sandbox::workers() const {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    // A process that ends meanwhile has nothing to read, and an iterator would throw.
    std::string line;
    std::getline(in, line);
    if (line.find("worker") != std::string::npos &&
        line.find(folder_.string() + "/encore.db.runs/") != std::string::npos)
      found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace encore::system_test

// SPDX-License-Identifier: BSD-3-Clause
// install_crash_handlers(): installs the signal handlers that write the crash line; find_crash_line() finds
// it in a log. The worker's main calls the one, runner/attempt_end.cpp the other. A handler may call only
// write, sigaction, raise, pause and memory copies, and must not allocate. Read crash_line.hpp first.
#include "record/crash_line.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "record/signal_stack.hpp"

namespace encore::record {

namespace {

constexpr std::string_view prefix = "encore-worker: ";
constexpr std::string_view during = " during ";
constexpr std::string_view of_plugin = " of plugin ";
constexpr const char* no_plugin = "no call of a plugin";
constexpr std::size_t longest_line = 4096;

struct Caught {
  int signal;
  std::string_view name;
  struct sigaction before;
};
Caught caught[] = {{SIGSEGV, "SIGSEGV", {}}, {SIGBUS, "SIGBUS", {}},   {SIGFPE, "SIGFPE", {}},
                   {SIGILL, "SIGILL", {}},   {SIGABRT, "SIGABRT", {}}, {SIGQUIT, "SIGQUIT", {}}};
std::atomic_flag written = ATOMIC_FLAG_INIT;

/// Builds a line of bounded length without any allocation.
class LineBuffer {
 public:
  void add(std::string_view text) {
    const std::size_t room = longest_line - 1 - size_;
    const std::size_t count = text.size() < room ? text.size() : room;
    std::memcpy(bytes_ + size_, text.data(), count);
    size_ += count;
  }
  void write() {
    bytes_[size_++] = '\n';
    const char* next = bytes_;
    while (size_ > 0) {
      const ssize_t count = ::write(STDERR_FILENO, next, size_);
      if (count <= 0) return;
      next += count;
      size_ -= static_cast<std::size_t>(count);
    }
  }

 private:
  char bytes_[longest_line];
  std::size_t size_ = 0;
};

void write_crash_line(int signal, siginfo_t* info, void*) {
  // If two threads crash at once, the first one writes and ends the process.
  while (written.test_and_set()) ::pause();
  const char* work = detail::current_work.load(std::memory_order_relaxed);
  LineBuffer line;
  for (Caught& each : caught) {
    if (each.signal != signal) continue;
    line.add(prefix);
    line.add(each.name);
    line.add(during);
    line.add(work != nullptr ? work : no_plugin);
    line.write();
    ::sigaction(signal, &each.before, nullptr);
  }
  // The faulting instruction runs again and meets the handler that was installed before. A signal that was
  // sent is sent again, and arrives when this handler returns.
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

std::string work_text(std::string_view what, std::string_view path, std::string_view owner) {
  std::string text(what);
  if (!path.empty()) text += " of " + std::string(path);
  if (!owner.empty()) text += (path.empty() ? " of " : ", ") + std::string(owner);
  return text;
}

std::string owner_text(std::string_view kind, std::string_view type, std::string_view file) {
  return std::string(kind) + " \"" + std::string(type) + "\"" + std::string(of_plugin) + std::string(file);
}

void install_crash_handlers() {
  add_signal_stack();
  for (Caught& each : caught) {
    struct sigaction action {};
    action.sa_sigaction = write_crash_line;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(each.signal, &action, &each.before);
  }
}

std::optional<CrashLine> find_crash_line(std::string_view text) {
  std::optional<CrashLine> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    // The worker's earlier output may lack its end of line.
    const std::size_t begin = line.rfind(prefix);
    if (begin == std::string_view::npos) continue;
    line.remove_prefix(begin + prefix.size());
    for (const Caught& each : caught) {
      if (!line.starts_with(each.name) || !line.substr(each.name.size()).starts_with(during)) continue;
      const std::string_view work = line.substr(each.name.size() + during.size());
      const std::size_t plugin = work.rfind(of_plugin);
      found = CrashLine{std::string(work), plugin == std::string_view::npos
                                               ? std::string()
                                               : std::string(work.substr(plugin + of_plugin.size()))};
    }
  }
  return found;
}

}  // namespace encore::record

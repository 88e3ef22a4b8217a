// SPDX-License-Identifier: BSD-3-Clause
// CurrentWork and find_crash_line(): the crash line is the last line of a worker that a signal ends; it says
// what the worker was doing, so that a crash names the layer and the plugin's file. Place in the flow: code
// that calls a plugin announces it with CurrentWork; the worker's main installs the handlers; the line goes
// to standard error, where runner/attempt_end.cpp finds it or the user reads it. The handler may neither
// allocate nor lock.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace encore::record {

namespace detail {
inline std::atomic<const char*> current_work{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal handler reads it");
}  // namespace detail

/// Announces what this process does, for the crash line, while the object lives. It costs two stores of a
/// pointer. The text must outlive the object. Objects nest. Only the training thread may make them.
class CurrentWork {
 public:
  explicit CurrentWork(const char* text)
      : before_(detail::current_work.exchange(text, std::memory_order_relaxed)) {}
  ~CurrentWork() { detail::current_work.store(before_, std::memory_order_relaxed); }
  CurrentWork(const CurrentWork&) = delete;
  CurrentWork& operator=(const CurrentWork&) = delete;

 private:
  const char* before_;
};

/// Returns `forward of encoder.0.attention, layer "highway" of plugin /p/my_layers.so`, the text of a
/// CurrentWork: what is done to which part of the model (may be empty), and who offers it.
std::string work_text(std::string_view what, std::string_view path, std::string_view owner);
/// Returns `layer "highway" of plugin /p/my_layers.so`.
std::string owner_text(std::string_view kind, std::string_view type, std::string_view file);

/// Makes SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, and SIGQUIT, by which the control program ends a silent
/// worker, write the crash line to standard error first. The previous action of the signal follows. The
/// handlers run on the signal stack of a thread (signal_stack.hpp), and the calling thread gets one.
void install_crash_handlers();

/// A crash line that was found.
struct CrashLine {
  std::string work;    ///< "forward of encoder.0.attention, layer ..."
  std::string plugin;  ///< file of the plugin whose code ran, or empty
};

/// Returns the last crash line in what a worker wrote to its standard error.
std::optional<CrashLine> find_crash_line(std::string_view text);

}  // namespace encore::record

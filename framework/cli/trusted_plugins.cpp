// See trusted_plugins.hpp.
#include "cli/trusted_plugins.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <span>
#include <sstream>

#include "base/input_file.hpp"
#include "world/file_descriptor.hpp"

namespace encore {

namespace {

std::filesystem::path list_file() {
  const auto folder = [](const char* name) {
    const char* text = std::getenv(name);
    return std::filesystem::path(text == nullptr ? "" : text);
  };
  std::filesystem::path state = folder("XDG_STATE_HOME");
  if (!state.is_absolute() && folder("HOME").is_absolute()) state = folder("HOME") / ".local/state";
  return state.is_absolute() ? state / "encore/trusted_plugins" : std::filesystem::path();
}

/// Empty for a path that is no line.
std::string line_of(const UsedPlugin& plugin) {
  std::error_code failure;
  const std::string path = std::filesystem::weakly_canonical(plugin.file, failure).string();
  if (failure || path.find('\n') != std::string::npos) return {};
  return plugin.sha256 + "  " + path;
}

}  // namespace

TrustedPlugins::TrustedPlugins() : file_(list_file()) {
  std::error_code absent;
  if (!std::filesystem::exists(file_, absent)) return;
  std::istringstream in(read_file(file_));
  for (std::string line; std::getline(in, line);) lines_.insert(line);
}

bool TrustedPlugins::contains(const UsedPlugin& plugin) const {
  return lines_.contains(line_of(plugin));
}

void TrustedPlugins::add(const std::vector<UsedPlugin>& plugins) {
  std::string text;
  for (const UsedPlugin& plugin : plugins)
    if (const std::string line = line_of(plugin); !line.empty() && lines_.insert(line).second)
      text += line + '\n';
  if (text.empty() || file_.empty()) return;
  try {
    std::filesystem::create_directories(file_.parent_path());
    // One write to the end: others may append at the same time.
    const FileDescriptor file = open_file(file_, O_WRONLY | O_CREAT | O_APPEND, 0600);
    write_all(file.get(), std::as_bytes(std::span(text)), file_.string());
  } catch (const std::exception&) {
    // A home that cannot be written is no reason not to train.
  }
}

}  // namespace encore

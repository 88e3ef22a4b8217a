// SPDX-License-Identifier: BSD-3-Clause
// A fingerprint is the text `key=value;...` of everything on which a program and a plugin must agree to share
// C++ objects, such as compiler, Kokkos and SDK. This file compares two of them field by field, and says what
// differs and how to rebuild. catalogue.cpp and plugin_host/ refuse a plugin by it; plans and workers record
// it. A new field is added in CMake, which defines the text. Plugins already built contain it, so its form
// must not change. Read fingerprint.hpp first.
#include "config/fingerprint.hpp"

#include <algorithm>
#include <map>

#include <encore/plugin.hpp>

namespace encore::config {
namespace {

std::map<std::string, std::string> parse(std::string_view text) {
  std::map<std::string, std::string> fields;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(';'));
    const std::size_t equal = field.find('=');
    if (!field.empty())
      fields[std::string(field.substr(0, equal))] =
          equal == std::string_view::npos ? "" : std::string(field.substr(equal + 1));
    text.remove_prefix(std::min(text.size(), field.size() + 1));
  }
  return fields;
}

}  // namespace

std::string_view host_fingerprint() {
  return ENCORE_FINGERPRINT;
}

std::string fingerprint_difference(std::string_view other, std::string_view host, const std::string& where) {
  std::map<std::string, std::string> theirs = parse(other);
  std::map<std::string, std::string> ours = parse(host);
  for (const auto& [key, value] : ours) theirs.try_emplace(key, "(none)");
  std::string difference;
  for (const auto& [key, value] : theirs) {
    const auto here = ours.find(key);
    const std::string our_value = here == ours.end() ? "(none)" : here->second;
    if (value == our_value) continue;
    if (!difference.empty()) difference += ", ";
    difference += key + " is " + value + " " + where + " and " + our_value + " here";
  }
  return difference;
}

std::string fingerprint_problem(const std::string& plugin, const std::filesystem::path& library,
                                std::string_view fingerprint, std::string_view host) {
  const std::string difference = fingerprint_difference(fingerprint, host);
  if (difference.empty()) return "";
  return library.string() + ": plugin \"" + plugin + "\" was built for another Encore: " + difference +
         "; rebuild it: " + rebuild_command(library);
}

std::string rebuild_command(const std::filesystem::path& library) {
  const std::filesystem::path folder = std::filesystem::absolute(library).lexically_normal().parent_path();
  const auto holds = [](const std::filesystem::path& where, const char* name) {
    std::error_code unreadable;
    return std::filesystem::exists(where / name, unreadable);
  };
  // This is the layout of a build or an installation: lib/encore/plugins beside bin/exp.
  if (folder.filename() == "plugins" && folder.parent_path().filename() == "encore" &&
      holds(folder.parent_path().parent_path().parent_path(), "bin/exp"))
    return "./exp build";
  for (std::filesystem::path above = folder; above != above.parent_path(); above = above.parent_path())
    if (holds(above, "CMakeLists.txt")) return "exp plugin build " + above.string();
  return "exp plugin build DIR, where DIR is the folder of its source";
}

}  // namespace encore::config

#include "plugin_host/fingerprint.hpp"

#include <map>

#include <encore/plugin.hpp>

namespace encore {
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

std::string fingerprint_difference(std::string_view plugin, std::string_view host) {
  std::map<std::string, std::string> theirs = parse(plugin);
  std::map<std::string, std::string> ours = parse(host);
  for (const auto& [key, value] : ours) theirs.try_emplace(key, "(none)");
  std::string difference;
  for (const auto& [key, value] : theirs) {
    const auto here = ours.find(key);
    const std::string our_value = here == ours.end() ? "(none)" : here->second;
    if (value == our_value) continue;
    if (!difference.empty()) difference += ", ";
    difference += key + " is " + value + " in the plugin and " + our_value + " here";
  }
  return difference;
}

}  // namespace encore

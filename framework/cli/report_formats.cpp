// See report_formats.hpp.
#include "cli/report_formats.hpp"

#include <algorithm>

#include "cli/exit_code.hpp"
#include "config/nearest.hpp"
#include "document/json.hpp"

namespace encore {

namespace {

std::vector<OutputFile> write_json(const Document& document, const std::string& name,
                                   const std::filesystem::path& /*own*/) {
  return {{name, json(document)}};
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const ReportFormat& format : report_formats()) list.push_back(format.name);
  return list;
}

}  // namespace

const std::vector<ReportFormat>& report_formats() {
  static const std::vector<ReportFormat> list = {{"json", {".json"}, true, false, write_json}};
  return list;
}

const ReportFormat& find_report_format(const std::string& name, const std::filesystem::path& output) {
  for (const ReportFormat& format : report_formats()) {
    if (format.name == name) return format;
    const auto& extensions = format.extensions;
    if (name.empty() &&
        std::find(extensions.begin(), extensions.end(), output.extension().string()) != extensions.end())
      return format;
  }
  if (!name.empty())
    throw UsageError("--format \"" + name + "\" is none that exp report writes" +
                     did_you_mean(name, names(), "; there are " + quoted_list(names())));
  throw UsageError("the name \"" + output.string() +
                   "\" says no format; name one with --format: " + quoted_list(names()));
}

}  // namespace encore

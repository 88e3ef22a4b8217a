// Templates: the files of reports/ that say what a document looks like, report.* for HTML with its style and
// script, Markdown and LaTeX. A template is text with a few placeholders, {{title}}; everything else in it
// stays as it is. Place in the flow: the writers fill in; docs/guides/reports.md lists the placeholders.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace encore {

class Templates {
 public:
  /// `installed`: share/encore/reports. `own`: what a user brings with --template: a folder, whose files
  /// stand for those of the same name, or one file, which stands for the template of the format it ends in.
  /// Throws Error where `own` is not there.
  explicit Templates(std::filesystem::path installed, std::filesystem::path own = {});

  struct Source {
    std::filesystem::path file;
    std::string text;
  };
  /// "report.html". Throws Error when it cannot be read, or is no UTF-8.
  Source find(const std::string& name) const;

 private:
  std::filesystem::path installed_, own_;
};

using Values = std::map<std::string, std::string>;

/// The template with its placeholders replaced. What comes in is not looked at again, so a value may hold
/// braces. Throws Error with file and line for a placeholder that is none, and where one of `required` is
/// missing.
std::string fill(const Templates::Source& source, const Values& values,
                 const std::vector<std::string>& required = {});

}  // namespace encore

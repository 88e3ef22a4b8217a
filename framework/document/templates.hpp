// SPDX-License-Identifier: BSD-3-Clause
// Templates finds the files of reports/ that determine how a document looks: report.* for HTML with its style
// and script, Markdown and LaTeX. A template is text with a few placeholders, {{title}}; everything else in
// it stays as it is. Place in the flow: each writer finds its template and calls fill().
// docs/guides/reports.md lists the placeholders, which templates of users rely on.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace encore::document {

class Templates {
 public:
  /// `installed`: the folder share/encore/reports. `own`: what a user passes with --template: a folder, whose
  /// files replace those of the same name, or one file, which replaces the template whose name has the same
  /// ending. Throws Error if `own` does not exist.
  explicit Templates(std::filesystem::path installed, std::filesystem::path own = {});

  struct Source {
    std::filesystem::path file;
    std::string text;
  };
  /// Finds a template such as "report.html". Throws Error when it cannot be read, or is not UTF-8.
  Source find(const std::string& name) const;

 private:
  std::filesystem::path installed_, own_;
};

using Values = std::map<std::string, std::string>;

/// Returns the template with its placeholders replaced. Values are not scanned again, so they may hold
/// braces. Throws Error with file and line for an invalid placeholder, and if one of `required` is
/// missing.
std::string fill(const Templates::Source& source, const Values& values,
                 const std::vector<std::string>& required = {});

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// SectionChoice decides which sections a report has: those that the user names, without those that the user
// excludes. report.cpp asks before it makes a section, and calls apply() to remove parts of it. Users write
// the names (--sections, --without), so they stay.
#pragma once

#include "document/document.hpp"
#include "report/report.hpp"

namespace encore::report {

class SectionChoice {
 public:
  /// Reads the names of sections in the options. Throws Error for an unknown name.
  explicit SectionChoice(const ReportOptions& options);

  /// Returns whether the abstract is wanted.
  bool has_abstract() const;
  /// Returns whether the section, or one in it, is wanted.
  bool wants(const std::string& id) const;
  /// Removes the unwanted parts of a wanted section.
  void apply(document::Section& section) const;

 private:
  bool named(const std::string& id) const;
  bool refused(const std::string& id) const;

  std::vector<std::string> wanted_, unwanted_;  // ids
};

/// Turns references to missing parts of the document into text.
void unlink_missing(document::Document& document);

}  // namespace encore::report

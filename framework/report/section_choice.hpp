// Which sections a report has: those that were asked for, by name, less those that were not wanted. Place in
// the flow: report.cpp asks before it makes a section, and lets apply() take parts out of what was made.
#pragma once

#include "document/document.hpp"
#include "report/report.hpp"

namespace encore {

class SectionChoice {
 public:
  /// Throws Error for a name that is none.
  explicit SectionChoice(const ReportOptions& options);

  bool has_abstract() const;
  /// Whether the section, or one in it, is wanted.
  bool wants(const std::string& id) const;
  /// Takes out of a wanted section what is not.
  void apply(Section& section) const;

 private:
  bool named(const std::string& id) const;
  bool refused(const std::string& id) const;

  std::vector<std::string> wanted_, unwanted_;  // ids
};

/// References to what is not in the document become text.
void unlink_missing(Document& document);

}  // namespace encore

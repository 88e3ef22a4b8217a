// The formats in which a report is written: one list for the verb, its help and its messages. Place in the
// flow: report_verb.cpp makes the document, asks here for files, and writes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document/document.hpp"
#include "document/output_file.hpp"

namespace encore {

struct ReportFormat {
  std::string name;                     ///< "html", as --format takes it
  std::vector<std::string> extensions;  ///< ".html": -o report.html means this format
  bool complete = false;                ///< for programs: tables hold every row
  bool templated = false;               ///< takes --template
  /// The files of the report, called `name` or after it; `own` is --template, or empty.
  std::vector<OutputFile> (*write)(const Document& document, const std::string& name,
                                   const std::filesystem::path& own);
};

const std::vector<ReportFormat>& report_formats();

/// By --format, else by the extension of `output`. Throws UsageError with the nearest name.
const ReportFormat& find_report_format(const std::string& name, const std::filesystem::path& output);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// ReportFormat: the formats of reports as one list for the verb, its help and its messages. report_verb.cpp
// and bundle_verb.cpp make the document (report/report.hpp), find the format here, get its files, and write
// them. Scripts pass the names of formats to --format, so they must stay.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document/document.hpp"
#include "document/writers.hpp"

namespace encore::cli {

/// The options that decide how a report is written.
struct ReportShape {
  std::string name;                      ///< of the file
  std::filesystem::path templates = {};  ///< --template, or empty
  std::string table = {};                ///< --table, or empty
};

struct ReportFormat {
  std::string name;                     ///< "html", as --format takes it
  std::vector<std::string> extensions;  ///< ".html": -o report.html means this format
  std::vector<std::string> templates;   ///< of reports/ that it is made with; none: it takes no --template
  bool complete = false;                ///< for programs: tables hold every row
  bool tabular = false;                 ///< takes --table
  std::vector<document::OutputFile> (*write)(const document::Document& document, const ReportShape& shape);
};

const std::vector<ReportFormat>& report_formats();

/// Returns the format of --format, else that of the extension of `output`. Throws UsageError with the nearest
/// name.
const ReportFormat& find_report_format(const std::string& name, const std::filesystem::path& output);

/// Throws UsageError if the shape needs what this format does not have: templates, one table.
void require_fitting(const ReportFormat& format, const ReportShape& shape);

}  // namespace encore::cli

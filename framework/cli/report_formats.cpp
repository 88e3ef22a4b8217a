// SPDX-License-Identifier: BSD-3-Clause
// The list of report formats, found by name or by the extension of a file, for report_verb.cpp and
// bundle_verb.cpp. A new format is a line in report_formats() and a writer in document/; names and extensions
// never change. Read next: report_formats.hpp.
#include "cli/report_formats.hpp"

#include <algorithm>

#include "app/form.hpp"
#include "base/nearest.hpp"
#include "document/writers.hpp"
#include "runner/programs.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;
using Files = std::vector<document::OutputFile>;

document::Templates templates_of(const ReportShape& shape) {
  return document::Templates(runner::report_folder(runner::installed_programs()), shape.templates);
}

Files write_html(const document::Document& document, const ReportShape& shape) {
  return document::html_files(document, templates_of(shape), shape.name);
}

Files write_markdown(const document::Document& document, const ReportShape& shape) {
  return document::markdown_files(document, templates_of(shape), shape.name);
}

Files write_latex(const document::Document& document, const ReportShape& shape) {
  return document::latex_files(document, templates_of(shape), shape.name);
}

Files write_csv(const document::Document& document, const ReportShape& shape) {
  return document::csv_files(document, shape.name, shape.table);
}

Files write_json(const document::Document& document, const ReportShape& shape) {
  return {{shape.name, document::json_text(document)}};
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const ReportFormat& format : report_formats()) list.push_back(format.name);
  return list;
}

}  // namespace

const std::vector<ReportFormat>& report_formats() {
  static const std::vector<ReportFormat> list = {
      {.name = "html",
       .extensions = {".html", ".htm"},
       .templates = {"report.html", "report.css", "report.js"},
       .write = write_html},
      {.name = "md", .extensions = {".md"}, .templates = {"report.md"}, .write = write_markdown},
      {.name = "tex", .extensions = {".tex"}, .templates = {"report.tex"}, .write = write_latex},
      {.name = "csv",
       .extensions = {".csv"},
       .templates = {},
       .complete = true,
       .tabular = true,
       .write = write_csv},
      {.name = "json", .extensions = {".json"}, .templates = {}, .complete = true, .write = write_json}};
  return list;
}

const ReportFormat& find_report_format(const std::string& name, const fs::path& output) {
  for (const ReportFormat& format : report_formats()) {
    if (format.name == name) return format;
    const auto& extensions = format.extensions;
    if (name.empty() &&
        std::find(extensions.begin(), extensions.end(), output.extension().string()) != extensions.end())
      return format;
  }
  if (!name.empty())
    throw app::UsageError("invalid --format \"" + name + "\"" +
                          did_you_mean(name, names(), ": expected " + quoted_list(names())));
  throw app::UsageError("the file name \"" + output.string() +
                        "\" has no known extension; choose a format with --format: " + quoted_list(names()));
}

void require_fitting(const ReportFormat& format, const ReportShape& shape) {
  if (!shape.table.empty() && !format.tabular)
    throw app::UsageError("--table needs --format csv, which writes a file for each table; " + format.name +
                          " holds all tables");
  if (shape.templates.empty()) return;
  if (format.templates.empty())
    throw app::UsageError("--template cannot be used with " + format.name + ", which has no template");
  // Templates reports missing files.
  const auto fits = [&](const std::string& name) {
    return fs::is_directory(shape.templates) ? fs::exists(shape.templates / name)
                                             : shape.templates.extension() == fs::path(name).extension();
  };
  if (fs::exists(shape.templates) && std::none_of(format.templates.begin(), format.templates.end(), fits))
    throw app::UsageError("--template " + shape.templates.string() + " does not fit " + format.name +
                          ", which needs " + quoted_list(format.templates));
}

}  // namespace encore::cli

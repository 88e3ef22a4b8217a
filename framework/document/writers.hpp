// SPDX-License-Identifier: BSD-3-Clause
// The writers of a Document (document.hpp): each returns the whole document in one format, as files in
// memory. `exp report` (cli/report_formats.cpp) calls them; cli/report_verb.cpp saves the files. Each is
// implemented in the file of its format: html.cpp, markdown.cpp, latex.cpp, csv.cpp, json.cpp. Writers touch
// no disk except to read templates, and equal documents must give equal bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "document/document.hpp"
#include "document/templates.hpp"

namespace encore::document {

/// One file that a writer returns.
struct OutputFile {
  std::filesystem::path path;  ///< relative to the folder of the option -o
  std::string bytes;
};

/// Writes one HTML file called `name` that loads nothing: style, script and pictures are in it. The frame is
/// reports/report.html. Throws Error for an invalid template or reference.
std::vector<OutputFile> html_files(const Document& document, const Templates& templates,
                                   const std::string& name);

/// Writes Markdown (CommonMark with tables): the file `name`, and one SVG per picture in a folder called like
/// it with the ending `.files`. The frame is reports/report.md. Throws Error for an invalid template or
/// reference.
std::vector<OutputFile> markdown_files(const Document& document, const Templates& templates,
                                       const std::string& name);

/// Writes LaTeX for pdflatex: one file called `name` with booktabs tables and TikZ pictures, only with
/// packages of a small installation. The frame is reports/report.tex. Throws Error for an invalid template or
/// reference.
std::vector<OutputFile> latex_files(const Document& document, const Templates& templates,
                                    const std::string& name);

/// Writes the tables as CSV (RFC 4180), with numbers in full precision even where the table shows rounded
/// ones. CSV can hold one table in one file. With `id`, returns that table as the file `name`; without, the
/// only table of the document, or, if there are several, each as `ID.csv` in a folder called like `name`
/// without the ending `.csv`. Throws Error for an id that is not a table's, and for a document without
/// tables.
std::vector<OutputFile> csv_files(const Document& document, const std::string& name,
                                  const std::string& id = "");

/// Returns the document as JSON, with every number in full precision, also those that a picture shows. A text
/// is written as its plain characters; if some are marked, `spans` stands beside `text`. Numbers that are not
/// finite are "nan", "inf" and "-inf", because JSON itself cannot hold them. Programs read the fields, so
/// none is renamed.
nlohmann::ordered_json document_json(const Document& document);

/// Returns document_json() as text that ends with a line feed. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Document& document);

}  // namespace encore::document

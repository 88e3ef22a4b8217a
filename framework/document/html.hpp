// SPDX-License-Identifier: BSD-3-Clause
// Writes a document as one HTML file that loads nothing: style, script and pictures are in it. `exp report -o
// FILE.html` calls it; the frame is reports/report.html.
#pragma once

#include "document/document.hpp"
#include "document/output_file.hpp"
#include "document/templates.hpp"

namespace encore::document {

/// Returns one file, called `name`. Throws Error for an invalid template or reference.
std::vector<OutputFile> html_files(const Document& document, const Templates& templates,
                                   const std::string& name);

}  // namespace encore::document

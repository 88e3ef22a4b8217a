// SPDX-License-Identifier: BSD-3-Clause
// Writes a document as LaTeX for pdflatex: booktabs tables, TikZ pictures, only packages of a small
// installation. `exp report -o FILE.tex` calls it; the frame is reports/report.tex.
#pragma once

#include "document/document.hpp"
#include "document/output_file.hpp"
#include "document/templates.hpp"

namespace encore::document {

/// Returns one file, called `name`. Throws Error for an invalid template or reference.
std::vector<OutputFile> latex_files(const Document& document, const Templates& templates,
                                    const std::string& name);

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// Writes a document as Markdown (CommonMark with tables) with its pictures beside it as SVG. `exp report -o
// FILE.md` calls it; the frame is reports/report.md.
#pragma once

#include "document/document.hpp"
#include "document/output_file.hpp"
#include "document/templates.hpp"

namespace encore::document {

/// Returns the file `name`, and one SVG per picture in a folder called like it with the ending `.files`.
/// Throws Error for an invalid template or reference.
std::vector<OutputFile> markdown_files(const Document& document, const Templates& templates,
                                       const std::string& name);

}  // namespace encore::document

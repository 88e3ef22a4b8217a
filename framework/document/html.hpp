// A document as one HTML file that loads nothing: style, script and pictures are in it. Place in the flow:
// `exp report -o FILE.html`; the frame is reports/report.html.
#pragma once

#include "document/document.hpp"
#include "document/output_file.hpp"
#include "document/templates.hpp"

namespace encore {

/// One file, called `name`. Throws Error for a template or a reference that is wrong.
std::vector<OutputFile> html_files(const Document& document, const Templates& templates,
                                   const std::string& name);

}  // namespace encore

// A document as LaTeX for pdflatex: booktabs tables, TikZ pictures, no package beyond those of a small
// installation. Place in the flow: `exp report -o FILE.tex`; the frame is reports/report.tex.
#pragma once

#include "document/document.hpp"
#include "document/output_file.hpp"
#include "document/templates.hpp"

namespace encore {

/// One file, called `name`. Throws Error for a template or a reference that is wrong.
std::vector<OutputFile> latex_files(const Document& document, const Templates& templates,
                                    const std::string& name);

}  // namespace encore

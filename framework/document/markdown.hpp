// A document as Markdown (CommonMark with tables) with its pictures beside it as SVG. Place in the flow: `exp
// report -o FILE.md`; the frame is reports/report.md.
#pragma once

#include "document/document.hpp"
#include "document/output_file.hpp"
#include "document/templates.hpp"

namespace encore {

/// The file `name`, and one SVG per picture in a folder called like it with the ending `.files`. Throws Error
/// for a template or a reference that is wrong.
std::vector<OutputFile> markdown_files(const Document& document, const Templates& templates,
                                       const std::string& name);

}  // namespace encore

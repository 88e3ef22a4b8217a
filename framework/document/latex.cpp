// SPDX-License-Identifier: BSD-3-Clause
// Implements latex_files(), the LaTeX writer of `exp report`: one function for each kind of block, figures
// alone or two side by side. Read writers.hpp first; latex_table.cpp writes tables, tikz.cpp pictures. The
// sizes below must match reports/report.tex.
#include "document/writers.hpp"

#include <algorithm>

#include "base/readable_text.hpp"
#include "document/escape.hpp"
#include "document/outline.hpp"
#include "document/palette.hpp"
#include "document/text.hpp"
#include "document/writer_parts.hpp"

namespace encore::document {

namespace {

/// The width of the text in reports/report.tex, in 1/72 inch, and the height of the tallest picture that
/// leaves room for its caption.
constexpr double text_width_bp = 453.0, tallest = 560.0;
/// Pictures are laid out on wider paper and set smaller, so that their labels are smaller than the text.
constexpr double latex_picture_width = 580.0, half_picture_width = 310.0, tallest_half = 158.0;

class LatexWriter {
 public:
  explicit LatexWriter(const Outline& outline) : outline_(outline) {}

  std::string operator()(const Paragraph& paragraph) const {
    return latex_line(paragraph.text, outline_) + "\n\n";
  }

  std::string operator()(const Notice& notice) const {
    return "\\begin{encorenotice}\n" + latex_line(notice.text, outline_) + "\n\\end{encorenotice}\n\n";
  }

  std::string operator()(const ItemList& list) const {
    if (list.items.empty()) return "";
    std::string result = "\\begin{itemize}\n";
    for (const Text& item : list.items) result += "\\item {}" + latex_line(item, outline_) + "\n";
    return result + "\\end{itemize}\n\n";
  }

  /// Writes a listing. Each line is a paragraph of its own, so that a page may end after any of them.
  std::string operator()(const Listing& listing) const {
    std::string result = "\\begin{encorelisting}\n";
    std::string line;
    for (const char letter : clean_lines(listing.text) + "\n") {
      if (letter != '\n') {
        line += letter;
        continue;
      }
      const std::size_t indent = line.find_first_not_of(" \t");
      const std::size_t spaces = indent == std::string::npos ? 0 : indent;
      result += "\\listingline{" + std::to_string(spaces) + "}{" + latex_text(line.substr(spaces)) + "}\n";
      line.clear();
    }
    return result + "\\end{encorelisting}\n\n";
  }

  std::string operator()(const TableBlock& table) const { return latex_table(table, outline_); }

  std::string operator()(const Figure& figure) const {
    const bool tall =
        std::holds_alternative<MatrixChart>(figure.chart) || std::holds_alternative<FlowChart>(figure.chart);
    const double room = fits_beside(figure.chart) ? 0.45 : tall ? 0.4 : 0.7;
    return "\\begin{encorefigure}\n" +
           content(figure, tall ? latex_picture_width : latex_picture_width * room, room * text_width_bp) +
           "\\end{encorefigure}\n\n";
  }

  std::string section(const Section& section, int level) const {
    const Anchor& anchor = outline_.of(section);
    std::string result = std::string("\\") +
                         (level == 0   ? "section"
                          : level == 1 ? "subsection"
                                       : "subsubsection") +
                         "{" + latex_text(section.title) + "}\\hypertarget{" + anchor.id + "}{}\n\n" +
                         blocks(section.blocks);
    for (const Section& inner : section.sections) result += this->section(inner, level + 1);
    return result;
  }

  std::string blocks(const std::vector<Block>& blocks) const {
    const auto small = [&](std::size_t i) {
      const auto* figure = i < blocks.size() ? std::get_if<Figure>(&blocks[i]) : nullptr;
      return figure != nullptr && fits_beside(figure->chart) ? figure : nullptr;
    };
    std::string result;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Figure *left = small(i), *right = small(i + 1);
      if (left == nullptr || right == nullptr) {
        result += std::visit(*this, blocks[i]);
        continue;
      }
      result += "\\par\\medskip\\noindent" + half(*left) + "\\hfill" + half(*right) + "\\par\\medskip\n\n";
      ++i;
    }
    return result;
  }

 private:
  /// Returns picture and caption.
  std::string content(const Figure& figure, double drawn, double room, double high = tallest) const {
    const Anchor& anchor = outline_.of(figure);
    const Drawing drawing = draw(figure.chart, drawn);
    const double scale = std::min(room / drawing.width, high / drawing.height);
    return "\\scalebox{" + coordinate_text(scale, 4) + "}{" + tikz(drawing) + "}\\par\n\\encorecaption{" +
           anchor.title() + "}{" + latex_line(figure.caption, outline_) + "}\\hypertarget{" + anchor.id +
           "}{}\n";
  }

  /// Returns a picture at half width, for two side by side with their tops on one line.
  std::string half(const Figure& figure) const {
    return "\\begin{minipage}[t]{0.485\\textwidth}\\vspace{0pt}\\centering\n" +
           content(figure, half_picture_width, 0.485 * text_width_bp, tallest_half) + "\\end{minipage}";
  }

  const Outline& outline_;
};

std::string paper_header(const Document& document) {
  std::string text = "{\\LARGE\\bfseries\\raggedright " + latex_text(document.title) + "\\par}\n";
  if (!document.subtitle.empty())
    text += "\\medskip{\\large\\raggedright " + latex_text(document.subtitle) + "\\par}\n";
  if (document.facts.empty()) return text;
  text += "\\medskip\n\\begin{encorefacts}\n";
  for (const auto& [name, value] : document.facts)
    text += "\\fact{" + latex_text(name) + "}{" + latex_text(value) + "}\n";
  return text + "\\end{encorefacts}\n";
}

std::string colours() {
  std::string text;
  for (const Tone tone : all_tones())
    text += std::string("\\definecolor{encore") + name_of(tone) + "}{HTML}{" +
            hex_text(colour_of(tone, Paper::light)).substr(1) + "}\n";
  return text;
}

}  // namespace

std::vector<OutputFile> latex_files(const Document& document, const Templates& templates,
                                    const std::string& name) {
  const Outline outline(document);
  const LatexWriter writer(outline);
  std::string body;
  if (!document.abstract.empty()) body += "\\section*{Abstract}\n\n" + writer.blocks(document.abstract);
  for (const Section& section : document.sections) body += writer.section(section, 0);
  const Values values = {{"title", latex_text(document.title)},
                         {"colours", colours()},
                         {"header", paper_header(document)},
                         {"body", body}};
  return {{name, fill(templates.find("report.tex"), values, {"colours", "header", "body"})}};
}

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// Implements markdown_files(), the Markdown writer: one function for each kind of block as CommonMark, and
// the pictures as SVG files beside the text. `exp report` (cli/report_formats.cpp) calls it. Files of
// pictures are named by the anchors of outline.cpp, to which users may link. Read writers.hpp first.
#include "document/writers.hpp"

#include "document/escape.hpp"
#include "document/outline.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

constexpr double markdown_picture_width = 720.0;

/// Puts text between marks such as **. Blanks at its ends go outside, because a mark must touch a word.
std::string marked(const std::string& text, const std::string& mark) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return text;
  const std::size_t end = text.find_last_not_of(' ') + 1;
  return text.substr(0, first) + mark + text.substr(first, end - first) + mark + text.substr(end);
}

class MarkdownWriter {
 public:
  MarkdownWriter(const Outline& outline, std::filesystem::path folder)
      : outline_(outline), folder_(std::move(folder)) {}

  std::string operator()(const Paragraph& paragraph) { return text(paragraph.text) + "\n\n"; }

  std::string operator()(const Notice& notice) { return "> **Note.** " + text(notice.text) + "\n\n"; }

  std::string operator()(const ItemList& list) {
    std::string result;
    for (const Text& item : list.items) result += "- " + text(item) + "\n";
    return result + "\n";
  }

  std::string operator()(const Listing& listing) {
    const std::string fence = markdown_fence(listing.text);
    std::string lines = clean_lines(listing.text);
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    return fence + (listing.language.empty() ? "" : anchor_text(listing.language)) + "\n" + lines + fence +
           "\n\n";
  }

  std::string operator()(const TableBlock& table) {
    const Anchor& anchor = outline_.of(table);
    std::string result = target(anchor) + "**" + anchor.title() + ".** " + text(table.caption) + "\n\n";
    std::string rule;
    for (const Column& column : table.columns) {
      const std::string name = markdown_text(column.name);
      result += "| " + (column.unit.empty() ? name : name + ", " + markdown_text(column.unit)) + " ";
      rule += column.numeric ? "| ---: " : "| --- ";
    }
    result += "|\n" + rule + "|\n";
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        result += "| " + (i < row.size() ? cell(row[i]) : "\u2013") + " ";
      result += "|\n";
    }
    result += "\n";
    for (const Text& note : table.notes) result += text(note) + "\n\n";
    return result;
  }

  std::string operator()(const Figure& figure) {
    const Anchor& anchor = outline_.of(figure);
    const std::filesystem::path file = folder_ / (anchor.id + ".svg");
    files.push_back({file, svg(draw(figure.chart, markdown_picture_width), figure.alternative, true)});
    return target(anchor) + "![" + markdown_text(figure.alternative) + "](<" + file.generic_string() +
           ">)\n\n**" + anchor.title() + ".** " + text(figure.caption) + "\n\n";
  }

  std::string section(const Section& section, int level) {
    const Anchor& anchor = outline_.of(section);
    std::string result = target(anchor) + std::string(static_cast<std::size_t>(level), '#') + " " +
                         anchor.number + " " + markdown_text(section.title) + "\n\n" + blocks(section.blocks);
    for (const Section& inner : section.sections) result += this->section(inner, level + 1);
    return result;
  }

  std::string blocks(const std::vector<Block>& blocks) {
    std::string result;
    for (const Block& block : blocks) result += std::visit(*this, block);
    return result;
  }

  std::vector<OutputFile> files;

 private:
  /// Returns the target of references, the one thing that Markdown itself cannot express.
  static std::string target(const Anchor& anchor) { return "<a id=\"" + anchor.id + "\"></a>\n\n"; }

  std::string text(const Text& text, bool in_table = false) const {
    std::string result;
    for (const Span& span : text.spans) result += this->span(span, in_table);
    return result;
  }

  std::string cell(const TableCell& cell) const {
    const std::string shown = cell.text.empty() ? "\u2013" : text(cell.text, true);
    return cell.best ? "**" + shown + "**" : shown;
  }

  std::string span(const Span& span, bool in_table) const {
    const std::string text = markdown_text(span.text);
    const auto marked_span = [&](const char* sign) {
      return "**" + text + "** (" + sign + " " + markdown_text(span.target) + ")";
    };
    switch (span.kind) {
      case Span::Kind::plain:
        return text;
      case Span::Kind::strong:
        return marked(text, "**");
      case Span::Kind::emphasis:
        return marked(text, "*");
      case Span::Kind::code:
        return markdown_code(span.text, in_table);
      case Span::Kind::reference: {
        const Anchor& anchor = outline_.target(span.target);
        return "[" + (text.empty() ? anchor.title() : text) + "](#" + anchor.id + ")";
      }
      case Span::Kind::right:
        return marked_span("\u2713");
      case Span::Kind::wrong:
        return marked_span("\u2717");
      case Span::Kind::missed:
        return marked_span("\u25CB");
    }
    return text;
  }

  const Outline& outline_;
  std::filesystem::path folder_;
};

}  // namespace

std::vector<OutputFile> markdown_files(const Document& document, const Templates& templates,
                                       const std::string& name) {
  const Outline outline(document);
  MarkdownWriter writer(outline, std::filesystem::path(name).replace_extension(".files"));
  std::string header;
  if (!document.subtitle.empty()) header += markdown_text(document.subtitle) + "\n\n";
  for (const auto& [fact, value] : document.facts)
    header += "- " + markdown_text(fact) + ": " + markdown_text(value) + "\n";
  if (!document.facts.empty()) header += "\n";
  std::string body;
  if (!document.abstract.empty()) body += "## Abstract\n\n" + writer.blocks(document.abstract);
  for (const Section& section : document.sections) body += writer.section(section, 2);
  const Values values = {{"title", markdown_text(document.title)}, {"header", header}, {"body", body}};
  std::vector<OutputFile> files = {{name, fill(templates.find("report.md"), values, {"header", "body"})}};
  for (OutputFile& picture : writer.files) files.push_back(std::move(picture));
  return files;
}

}  // namespace encore::document

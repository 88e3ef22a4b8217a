// SPDX-License-Identifier: BSD-3-Clause
// Implements html_blocks() and html_line(): writes each kind of block (paragraph, table, figure and others)
// as HTML. html.cpp and report/attention_page.cpp call it. Long words get places where a browser may break
// them. Every text passes through escape.hpp; classes are those of the style sheet in reports/. Read
// writer_parts.hpp first.
#include "document/writer_parts.hpp"

#include "base/readable_text.hpp"
#include "document/escape.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

/// Widths in points of the two drawings of each picture: for a page, and for a telephone. The style sheet
/// shows one of them.
constexpr double wide = 640.0, narrow = 352.0;

/// Returns whether a cell with this text may break its lines.
bool is_long(const std::string& text) {
  return text.size() > 32;
}

/// Returns whether a line may be broken after the letter: between the parts of a name, never within a word or
/// number.
bool ends_part(const std::string& text, std::size_t at) {
  const bool number = text[at] == '.' && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9';
  return !number && std::string_view("-_=/.,:;@+").find(text[at]) != std::string_view::npos;
}

/// Returns whether the text has a word so long that it has to be broken.
bool is_endless(const std::string& text) {
  constexpr std::size_t most = 40;
  std::size_t run = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    run = text[i] == ' ' || ends_part(text, i) ? 0 : run + 1;
    if (run > most) return true;
  }
  return false;
}

/// Returns html_line() with places where a browser may break a long name between its parts.
std::string html_parts(const std::string& text) {
  if (!is_long(text) || runs_right_to_left(text)) return html_line(text);
  const std::string line = clean_line(text);
  std::string html, part;
  for (std::size_t i = 0; i < line.size(); ++i) {
    part += line[i];
    if (!ends_part(line, i) || i + 1 == line.size() || ends_part(line, i + 1)) continue;
    html += html_text(part) + "<wbr>";
    part.clear();
  }
  return html + html_text(part);
}

std::string marked_span(const Span& span, const char* kind, const char* sign, const char* said) {
  return std::string("<span class=\"marked ") + kind + "\">" + html_line(span.text) +
         "<span class=\"kind\"><span " + "aria-hidden=\"true\">" + sign + "</span><span class=\"aside\"> " +
         said + " </span>" + html_line(span.target) + "</span></span>";
}

std::string span_html(const Span& span, const Outline& outline, bool in_table = false) {
  const std::string text = in_table ? html_parts(span.text) : html_line(span.text);
  switch (span.kind) {
    case Span::Kind::plain:
      return text;
    case Span::Kind::strong:
      return "<strong>" + text + "</strong>";
    case Span::Kind::emphasis:
      return "<em>" + text + "</em>";
    case Span::Kind::code:
      return "<code>" + text + "</code>";
    case Span::Kind::reference: {
      const Anchor& anchor = outline.target(span.target);
      return "<a href=\"#" + anchor.id + "\">" + (text.empty() ? anchor.title() : text) + "</a>";
    }
    case Span::Kind::right:
      return marked_span(span, "right", "\u2713", "right:");
    case Span::Kind::wrong:
      return marked_span(span, "wrong", "\u2717", "wrong:");
    case Span::Kind::missed:
      return marked_span(span, "missed", "\u25CB", "missed:");
  }
  return text;
}

class HtmlBlocks {
 public:
  explicit HtmlBlocks(const Outline& outline) : outline_(outline) {}

  std::string operator()(const Paragraph& paragraph) const { return "<p>" + text(paragraph.text) + "</p>\n"; }

  std::string operator()(const Notice& notice) const {
    return "<p class=\"notice\" role=\"note\"><strong>Note.</strong> " + text(notice.text) + "</p>\n";
  }

  std::string operator()(const ItemList& list) const {
    if (list.items.empty()) return "";
    std::string html = "<ul>\n";
    for (const Text& item : list.items) html += "<li>" + text(item) + "</li>\n";
    return html + "</ul>\n";
  }

  std::string operator()(const Listing& listing) const {
    std::string html = "<pre tabindex=\"0\" role=\"region\" aria-label=\"" +
                       html_text(clean_line(listing.title.empty() ? "Listing" : listing.title)) + "\"";
    if (!listing.language.empty()) html += " class=\"language-" + anchor_text(listing.language) + "\"";
    return html + "><code>" + html_text(listing.text) + "</code></pre>\n";
  }

  std::string operator()(const TableBlock& table) const {
    const Anchor& anchor = outline_.of(table);
    std::string html = "<figure class=\"table\" id=\"" + anchor.id +
                       "\">\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"" +
                       anchor.id + "-caption\">\n<table>\n<caption id=\"" + anchor.id +
                       "-caption\"><span class=\"caption\">" + "<span class=\"label\">" + anchor.title() +
                       ".</span> " + text(table.caption) + "</span></caption>\n<thead><tr>";
    for (const Column& column : table.columns) {
      html += std::string("<th scope=\"col\"") + (column.numeric ? " class=\"n\"" : "") + ">" +
              html_line(column.name);
      if (!column.unit.empty()) html += " <span class=\"unit\">" + html_line(column.unit) + "</span>";
      html += "</th>";
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
      html += "<tr>";
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        html += cell(i < row.size() ? row[i] : TableCell(), table.columns[i],
                     i == 0 && !table.columns[0].numeric);
      html += "</tr>\n";
    }
    html += "</tbody>\n</table>\n</div>\n";
    for (const Text& note : table.notes) html += "<p class=\"note\">" + text(note) + "</p>\n";
    return html + "</figure>\n";
  }

  std::string operator()(const Figure& figure) const {
    const Anchor& anchor = outline_.of(figure);
    const bool tall =
        std::holds_alternative<MatrixChart>(figure.chart) || std::holds_alternative<FlowChart>(figure.chart);
    return std::string("<figure class=\"picture") +
           (fits_beside(figure.chart) ? " small"
            : tall                    ? " tall"
                                      : "") +
           "\" id=\"" + anchor.id + "\">\n<div class=\"wide\">" +
           svg(draw(figure.chart, wide), figure.alternative) + "</div>\n<div class=\"narrow\">" +
           svg(draw(figure.chart, narrow), figure.alternative) +
           "</div>\n<figcaption><span class=\"label\">" + anchor.title() + ".</span> " +
           text(figure.caption) + "</figcaption>\n</figure>\n";
  }

 private:
  std::string text(const Text& text, bool in_table = false) const {
    std::string html;
    for (const Span& span : text.spans) html += span_html(span, outline_, in_table);
    return html;
  }

  std::string cell(const TableCell& cell, const Column& column, bool row_header) const {
    std::string html = row_header ? "<th scope=\"row\"" : "<td";
    const std::string plain = cell.text.plain();
    const std::string kind = std::string(column.numeric ? " n" : "") + (is_long(plain) ? " long" : "") +
                             (is_endless(plain) ? " endless" : "");
    if (!kind.empty()) html += " class=\"" + kind.substr(1) + "\"";
    if (cell.number) html += " data-value=\"" + exact_text(*cell.number) + "\"";
    const std::string shown = cell.text.empty() ? "\u2013" : text(cell.text, true);
    html +=
        ">" + (cell.best ? "<strong class=\"best\">" + shown + "</strong><span class=\"aside\"> (best)</span>"
                         : shown);
    return html + (row_header ? "</th>" : "</td>");
  }

  const Outline& outline_;
};

}  // namespace

std::string html_line(const std::string& text) {
  const std::string html = html_text(clean_line(text));
  return runs_right_to_left(text) ? "<bdi>" + html + "</bdi>" : html;
}

std::string html_blocks(const std::vector<Block>& blocks, const Outline& outline) {
  const auto beside = [&](std::size_t i) {
    const auto* figure = i < blocks.size() ? std::get_if<Figure>(&blocks[i]) : nullptr;
    return figure != nullptr && fits_beside(figure->chart);
  };
  std::string html;
  bool open = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!open && beside(i) && beside(i + 1)) {
      html += "<div class=\"beside\">\n";
      open = true;
    }
    html += std::visit(HtmlBlocks(outline), blocks[i]);
    if (open && !beside(i + 1)) {
      html += "</div>\n";
      open = false;
    }
  }
  return html;
}

}  // namespace encore::document

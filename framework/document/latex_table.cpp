// SPDX-License-Identifier: BSD-3-Clause
// Implements latex_table(): estimates the widths of columns, shares the width of the page among them, and
// writes a longtable. latex.cpp calls it. The sizes below are those of reports/report.tex and Computer
// Modern. Read writer_parts.hpp first.
#include "document/writer_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/readable_text.hpp"
#include "document/escape.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

/// The width of the text in reports/report.tex, in 1/72 inch.
constexpr double page_width = 453.0;
/// Returns the room between two columns.
double column_gap(double size) {
  return size * 0.9;
}
/// The most characters of a cell: a row cannot break across pages, so longer text is cut.
constexpr std::size_t most_characters = 300;

/// A size of letters, and the factor of text_width() for it: Computer Modern is narrower than that function
/// assumes, less so in small sizes.
struct Size {
  const char* name;
  double points;
  double narrower;
};
constexpr std::array<Size, 3> sizes = {
    {{"footnotesize", 9.0, 0.88}, {"scriptsize", 8.0, 0.91}, {"tiny", 6.0, 1.05}}};
/// How much wider the bold letters of Computer Modern are.
constexpr double bold = 1.18;

struct Layout {
  Size size;
  bool stacked = false;        ///< whether heads of columns with numbers break into several lines
  std::vector<double> widths;  ///< 0: as wide as its text
};

double width_of(const std::string& text, const Size& size) {
  return size.narrower * text_width(first_characters(clean_line(text), most_characters), size.points);
}

/// Returns the width of a cell; in a fixed-width font all letters have the same width.
double width_of(const TableCell& cell, const Size& size) {
  double width = 0.0;
  for (const Span& span : cell.text.spans)
    width += span.kind == Span::Kind::code
                 ? 0.535 * size.points *
                       static_cast<double>(std::min(code_points(span.text).size(), most_characters))
                 : width_of(span.text, size);
  return width * (cell.best ? bold : 1.0);
}

/// Returns the lines of a column's head. Over numbers it is not wider than the numbers, unless a single word
/// is.
std::vector<std::string> head_lines(const TableBlock& table, std::size_t i, const Size& size, bool stacked) {
  const Column& column = table.columns[i];
  const std::string name = first_characters(clean_line(column.name), most_characters);
  if (!column.numeric || !stacked) return {name};
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find(' ', at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  double widest = 0.0;
  for (const std::string& word : words) widest = std::max(widest, bold * width_of(word, size));
  for (const auto& row : table.rows)
    if (i < row.size()) widest = std::max(widest, width_of(row[i], size));
  std::vector<std::string> lines;
  for (const std::string& word : words)
    if (!lines.empty() && bold * width_of(lines.back() + " " + word, size) <= widest)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  return lines;
}

std::vector<double> natural_widths(const TableBlock& table, const Size& size, bool stacked) {
  std::vector<double> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    double widest = width_of(column.unit, size);
    const std::vector<std::string> lines = head_lines(table, i, size, stacked);
    for (const std::string& line : lines) widest = std::max(widest, bold * width_of(line, size));
    if ((!column.numeric || !stacked) && !column.unit.empty()) widest += width_of(" " + column.unit, size);
    for (const auto& row : table.rows)
      if (i < row.size()) widest = std::max(widest, width_of(row[i], size));
    widths.push_back(widest);
  }
  return widths;
}

/// Returns the head of a column as LaTeX. If heads are stacked, the unit of numbers is on a line of its own
/// below the name.
std::string head_text(const TableBlock& table, std::size_t i, const Layout& layout) {
  const Column& column = table.columns[i];
  const std::string unit =
      column.unit.empty()
          ? ""
          : "\\textcolor{encorefaint}{" + latex_text(first_characters(column.unit, most_characters)) + "}";
  std::vector<std::string> lines;
  for (const std::string& line : head_lines(table, i, layout.size, layout.stacked))
    lines.push_back("\\textbf{" + latex_text(line) + "}");
  if (!column.numeric || !layout.stacked) return lines.front() + (unit.empty() ? "" : " " + unit);
  if (!unit.empty()) lines.push_back(unit);
  if (lines.size() == 1 || layout.widths[i] > 0.0) {
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
    return text;
  }
  std::string text = "\\begin{tabular}[b]{@{}r@{}}";
  for (std::size_t k = 0; k < lines.size(); ++k) text += (k == 0 ? "" : "\\\\") + lines[k];
  return text + "\\end{tabular}";
}

/// Returns the largest width of a column with which all columns fit; wider ones break their lines. Infinite
/// if none must.
double break_width(std::vector<double> widths, double room) {
  std::ranges::sort(widths);
  double left = room;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const double share = left / static_cast<double>(widths.size() - i);
    if (widths[i] > share) return share;
    left -= widths[i];
  }
  return HUGE_VAL;
}

/// Chooses the largest of the two larger sizes of letters with which no line breaks; if neither fits, lines
/// break.
Layout lay_out(const TableBlock& table) {
  Layout layout;
  const auto limit_of = [&](const Size& size, bool stacked) {
    const double room = page_width - column_gap(size.points) * static_cast<double>(table.columns.size());
    layout = {size, stacked, natural_widths(table, size, stacked)};
    const double limit = break_width(layout.widths, room);
    for (double& width : layout.widths) width = width > limit ? limit : 0.0;
    return limit;
  };
  for (const Size& size : {sizes[0], sizes[1]})
    for (const bool stacked : {false, true})
      if (std::isinf(limit_of(size, stacked))) return layout;
  for (const Size& size : sizes)
    for (const bool stacked : {false, true})
      // Long cells may break their lines; if columns would become too narrow, smaller letters are tried
      // first.
      if (limit_of(size, stacked) >= (stacked ? 8.5 : 14.0) * size.points) return layout;
  return layout;
}

std::string span_text(const Span& span, const Outline& outline) {
  const std::string text = latex_text(span.text);
  const auto marked_span = [&](const char* macro) {
    return std::string("\\") + macro + "{" + text + "}{" + latex_text(span.target) + "}";
  };
  switch (span.kind) {
    case Span::Kind::plain:
      return text;
    case Span::Kind::strong:
      return "\\textbf{" + text + "}";
    case Span::Kind::emphasis:
      return "\\emph{" + text + "}";
    case Span::Kind::code:
      return "\\texttt{" + text + "}";
    case Span::Kind::reference: {
      const Anchor& anchor = outline.target(span.target);
      return "\\hyperlink{" + anchor.id + "}{" + (text.empty() ? anchor.title() : text) + "}";
    }
    case Span::Kind::right:
      return marked_span("rightspan");
    case Span::Kind::wrong:
      return marked_span("wrongspan");
    case Span::Kind::missed:
      return marked_span("missedspan");
  }
  return text;
}

std::string cell_text(const TableCell& cell, const Outline& outline) {
  if (cell.text.empty()) return "\\textendash{}";
  Text shown = cell.text;
  if (cell.text.plain().size() > most_characters)
    shown = first_characters(cell.text.plain(), most_characters);
  const std::string text = latex_line(shown, outline);
  return cell.best ? "\\textbf{" + text + "}" : text;
}

}  // namespace

std::string latex_line(const Text& text, const Outline& outline) {
  std::string result;
  for (const Span& span : text.spans) result += span_text(span, outline);
  return result;
}

std::string latex_table(const TableBlock& table, const Outline& outline) {
  const Anchor& anchor = outline.of(table);
  const Layout layout = lay_out(table);
  std::string format, head, rows;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const double width = layout.widths[i];
    if (width > 0.0)
      format += std::string(">{\\") + (column.numeric ? "raggedleft" : "raggedright") +
                "\\arraybackslash}p{" + coordinate_text(width, 1) + "bp}";
    else
      format += column.numeric ? "r" : "l";
    head += (i == 0 ? "" : " & ") + head_text(table, i, layout);
  }
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      rows += (i == 0 ? "{}" : " & ") + cell_text(i < row.size() ? row[i] : TableCell(), outline);
    rows += " \\\\\n";
  }
  std::string text = "\\begingroup\\" + std::string(layout.size.name) + "\\setlength{\\tabcolsep}{" +
                     coordinate_text(column_gap(layout.size.points) / 2) + "bp}\n\\tablecaption{" +
                     anchor.title() + "}{" + latex_line(table.caption, outline) + "}\\hypertarget{" +
                     anchor.id + "}{}\\nopagebreak\n\\begin{longtable}{@{}" + format + "@{}}\n\\toprule\n" +
                     head + " \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n" + rows +
                     "\\end{longtable}\n";
  for (const Text& note : table.notes) text += "\\encorenote{" + latex_line(note, outline) + "}\n";
  return text + "\\endgroup\n\n";
}

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// Lays out a MatrixChart, a confusion matrix: rows are the truth, columns the prediction. Each cell is shaded
// by its share of the row and labelled with its count. draw() (draw.cpp) calls it. Only pictures depend on
// the layout: tests/unit/document/chart_test.cpp checks that labels stay apart and values in place, not
// coordinates. Read chart.hpp first.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/readable_text.hpp"
#include "document/chart.hpp"
#include "document/palette.hpp"
#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

/// The smallest height of a row that has a name. On the narrow picture of a page, rows have this height if
/// there are most_matrix_labels of them.
constexpr double least_cell = 12.0;

/// Returns the sum of the finite values.
double row_sum(const std::vector<double>& row) {
  double sum = 0.0;
  for (const double count : row)
    if (std::isfinite(count)) sum += count;
  return sum;
}

/// Returns a short form, such as "22k" for 21,880, for cells in which the whole number has no room.
std::string rough_count(double count) {
  if (std::abs(count) >= 1e6) return short_text(count / 1e6, 2) + "M";
  return std::abs(count) >= 1e3 ? short_text(count / 1e3, 2) + "k" : short_text(count, 3);
}

}  // namespace

Drawing draw_matrix(const MatrixChart& chart, double width) {
  constexpr double gap = 6.0, slant = 40.0 * std::numbers::pi / 180.0;
  Drawing drawing;
  drawing.width = width;
  const std::size_t n = chart.labels.size();
  double longest = 0.0;
  for (const std::string& label : chart.labels)
    longest = std::max(longest, text_width(clean_line(label), label_size));
  const double names = std::min(longest, width * 0.28);
  const double left = names + gap;
  // Cells are squares, not larger than a number needs. The names of the columns are horizontal if each fits
  // into the width of a cell, otherwise slanted, and vertical if slanted ones would overlap.
  const double room = std::min(longest, 110.0) * std::cos(slant) + label_size;
  const double count = static_cast<double>(std::max<std::size_t>(n, 1));
  double cell = std::min(52.0, (width - left - 2) / count);
  const bool level = longest <= cell - gap;
  const double slanted_cell = std::min(52.0, (width - left - room) / (count - 0.5));
  const bool upright = !level && slanted_cell * std::sin(slant) < line_height;
  if (!level && !upright) cell = slanted_cell;
  const double column_names = std::min(longest, 110.0);

  double top = 0.0;
  const auto title = [&](const std::string& text, double x, double y, double most) {
    drawing.shapes.push_back(
        Label{x, y, shortened(text, most, label_size), Label::Anchor::start, label_size, Tone::faint});
  };
  title("columns: " + chart.column_title, 0, 11, width);
  title("rows: " + chart.row_title + "; shade: share of the row", 0, 11 + line_height, width);
  top += 2 * line_height + gap;
  const std::size_t every =
      upright ? static_cast<std::size_t>(std::max(1.0, std::ceil(least_cell / cell))) : 1;
  top += level ? line_height : upright ? column_names + gap : column_names * std::sin(slant) + label_size;

  const std::vector<std::string> above = shortened_apart(chart.labels, column_names, label_size);
  const std::vector<std::string> beside = shortened_apart(chart.labels, names, label_size);
  for (std::size_t i = 0; i < n; i += every) {
    const double middle = left + cell * (static_cast<double>(i) + 0.5);
    if (level) {
      drawing.shapes.push_back(
          Label{middle, top - gap, clean_line(chart.labels[i]), Label::Anchor::middle, label_size});
    } else {
      drawing.shapes.push_back(Label{middle + (upright ? 4 : 2), top - gap, above[i], Label::Anchor::start,
                                     label_size, Tone::ink, false, upright ? 90.0 : 40.0});
    }
  }
  const std::size_t every_row = static_cast<std::size_t>(std::max(1.0, std::ceil(least_cell / cell)));
  for (std::size_t i = 0; i < n; ++i) {
    const double y = top + cell * static_cast<double>(i);
    if (i % every_row == 0)
      drawing.shapes.push_back(
          Label{left - gap, y + cell / 2 + 4, beside[i], Label::Anchor::end, label_size});
    const std::vector<double> row = i < chart.counts.size() ? chart.counts[i] : std::vector<double>{};
    const double sum = row_sum(row);
    for (std::size_t k = 0; k < n; ++k) {
      const double value = k < row.size() ? row[k] : std::nan("");
      const double x = left + cell * static_cast<double>(k);
      const double share = std::isfinite(value) && sum > 0.0 ? std::clamp(value / sum, 0.0, 1.0) : 0.0;
      const std::string place = clean_line(chart.labels[i]) + " taken for " + clean_line(chart.labels[k]);
      const std::string text =
          std::isfinite(value) && std::abs(value) >= 1e5 ? short_text(value, 3) : short_text(value, 6);
      const double seam = cell > 10.0 ? 0.75 : 0.0;
      drawing.shapes.push_back(Rectangle{x + seam, y + seam, cell - 2 * seam, cell - 2 * seam, Tone::first,
                                         0.05 + (matrix_shade - 0.05) * share, 1.0,
                                         place + ": " + text + " (" + fixed_text(100 * share, 1) + " %)"});
      const auto fits_cell = [&](const std::string& label) {
        return cell >= 14.0 && text_width(label, label_size) * (i == k ? 1.12 : 1.0) <= cell - 3;
      };
      const std::string label = fits_cell(text) ? text : rough_count(value);
      if (fits_cell(label) && value != 0.0)
        drawing.shapes.push_back(Label{x + cell / 2, y + cell / 2 + 4, label, Label::Anchor::middle,
                                       label_size, Tone::ink, i == k});
      else if (!std::isfinite(value))
        drawing.shapes.push_back(
            Marker{x + cell / 2, y + cell / 2, std::min(4.0, cell / 2), 4, Tone::bad, place + ": " + text});
    }
  }
  drawing.height = top + cell * static_cast<double>(n) + 4;
  return drawing;
}

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// print_run(): the sections of `exp show` as text, for show_verb.cpp; print_measured(): the section of scores
// (show_scores.cpp), with the small curves of draw_curve() (curve.cpp). The text is for people and may
// change; programs read run_json.hpp.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "store/store.hpp"

namespace encore::cli {

/// Prints all sections of a run. `all` adds settings with their default.
void print_run(std::ostream& out, store::Store& store, const store::RunRow& run, const Terminal& terminal,
               bool all);

/// Prints the table of scores, notes about the choice of checkpoints, the curves of the training loss and of
/// the measure that chooses checkpoints, and a row for each dev score.
void print_measured(std::ostream& out, store::Store& store, const store::RunRow& run,
                    const Terminal& terminal);

/// Writes each score of the best checkpoint of each run as CSV, with all digits.
void print_best_scores_csv(std::ostream& out, const std::vector<store::RunRow>& runs);

// --- the curves of print_measured() (curve.cpp) ---

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
};

/// The size and the characters of a drawing.
struct CurveLook {
  int width = 60;  ///< characters of the plot, without the axis
  int height = 6;  ///< lines
  bool utf8 = true;
  /// Multiplies y in the labels of the axis: 100 for fractions shown as percent.
  double label_scale = 1.0;
};

/// Draws points joined by lines, with braille dots (2 x 4 per character), or with plain characters without
/// UTF-8. Returns the lines of the drawing, with the largest and smallest y at the left, and the first and
/// last x below. Points that are not finite are left out; returns no lines if no points are left.
std::vector<std::string> draw_curve(const std::vector<PlotPoint>& points, const CurveLook& look);

}  // namespace encore::cli

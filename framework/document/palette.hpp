// SPDX-License-Identifier: BSD-3-Clause
// Palette says which colour a tone has in the light, the dark and the printed document. html.cpp (style
// sheet), svg.cpp (files of their own) and latex.cpp read the colours through this header; only palette.cpp
// defines them. A changed colour must keep the contrast stated here, which palette_test checks.
//
// The series begin from Okabe and Ito, "Color Universal Design" (2002, jfly.uni-koeln.de/color): blue,
// vermillion, bluish green, reddish purple, orange, sky blue, yellow, grey. For light paper the pale ones are
// darkened, for the dark one the deep ones are lightened, until each has 3:1 against its ground (WCAG 2.2,
// 1.4.11).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/drawing.hpp"

namespace encore::document {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

enum class Paper : std::uint8_t { light, dark };

Colour colour_of(Tone tone, Paper paper);
/// Returns the name of a tone, "first", "ink" and so on, as it is in classes of the style sheet.
const char* name_of(Tone tone);
/// Returns the tones in the order of Tone.
const std::vector<Tone>& all_tones();
/// Returns the colour as "#0072B2".
std::string hex_text(Colour colour);

/// Returns the contrast of the first to the second, from 1 to 21 (WCAG 2.2, relative luminance).
double contrast(Colour a, Colour b);
/// Returns the colour that `top` has with this opacity over `ground`.
Colour blended(Colour top, double opacity, Colour ground);

/// The largest opacity of the shade of a cell: text in Tone::ink still has a contrast of 4.5:1 on it, on
/// either paper.
inline constexpr double matrix_shade = 0.5;

/// Returns a CSS variable for each tone: "--first: #0072B2;".
std::string palette_css(Paper paper);

}  // namespace encore::document

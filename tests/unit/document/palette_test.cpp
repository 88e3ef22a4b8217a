// SPDX-License-Identifier: BSD-3-Clause
// Tests the colours of reports (document/palette.hpp and reports/report.css): text has a contrast of 4.5:1
// and lines have 3:1 against the paper (WCAG 2.2), on light and on dark pages. A colour that is changed in
// either file must pass this test.
#include "document/palette.hpp"
#include "support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

namespace encore::document {
namespace {

/// Returns the colour after the n-th "--soft:" of the style sheet, such as #1f2226: 0 is that of the light
/// page, 1 that of the dark one.
Colour soft_of(const std::string& css, std::size_t nth) {
  std::size_t at = 0;
  for (std::size_t i = 0; i <= nth; ++i) at = css.find("--soft: #", at) + 9;
  const auto channel = [&](std::size_t k) {
    return static_cast<std::uint8_t>(std::stoi(css.substr(at + 2 * k, 2), nullptr, 16));
  };
  return {channel(0), channel(1), channel(2)};
}

}  // namespace

TEST(Palette, HasContrastInLightAndDark) {
  for (const Paper paper : {Paper::light, Paper::dark}) {
    const Colour ground = colour_of(Tone::ground, paper);
    for (const Tone tone : {Tone::ink, Tone::faint, Tone::bad, Tone::good})
      EXPECT_GE(contrast(colour_of(tone, paper), ground), 4.5) << name_of(tone);
    for (const Tone tone : all_tones()) {
      if (tone == Tone::grid || tone == Tone::ground) continue;
      EXPECT_GE(contrast(colour_of(tone, paper), ground), 3.0) << name_of(tone);
    }
    for (double opacity = 0.0; opacity <= matrix_shade; opacity += 0.05)
      EXPECT_GE(
          contrast(colour_of(Tone::ink, paper), blended(colour_of(Tone::first, paper), opacity, ground)), 4.5)
          << opacity;
    const Colour frame = blended(colour_of(Tone::grid, paper), 0.55, ground);
    EXPECT_GE(contrast(colour_of(Tone::faint, paper), frame), 4.5);
  }
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21.0, 1e-9);
}

TEST(Palette, EveryColourOfTextInTheStyleSheetHasContrast) {
  std::ifstream file(ENCORE_SOURCE_DIR "/reports/report.css");
  const std::string css{std::istreambuf_iterator<char>(file), {}};
  std::size_t letters = 0, edges = 0;
  const std::regex use("([a-z-]+):[^;{}]*var\\(--([a-z]+)\\)");
  for (auto match = std::sregex_iterator(css.begin(), css.end(), use); match != std::sregex_iterator();
       ++match) {
    const std::string property = (*match)[1], tone = (*match)[2];
    // The tones of pictures are left out here; the test above checks them with their own backgrounds.
    const std::size_t rule = css.rfind(".tone-", static_cast<std::size_t>(match->position()));
    if (rule != std::string::npos && css.find('}', rule) > static_cast<std::size_t>(match->position()))
      continue;
    const auto known = std::ranges::find_if(all_tones(), [&](Tone one) { return tone == name_of(one); });
    if (known == all_tones().end()) continue;
    for (const Paper paper : {Paper::light, Paper::dark})
      for (const Colour ground :
           {colour_of(Tone::ground, paper), soft_of(css, paper == Paper::light ? 0 : 1)}) {
        const double found = contrast(colour_of(*known, paper), ground);
        if (property == "color") {
          EXPECT_GE(found, 4.5) << tone << " on " << hex_text(ground);
          ++letters;
        } else if (property == "outline" || (property == "border-color")) {
          EXPECT_GE(found, 3.0) << property << ' ' << tone << " on " << hex_text(ground);
          ++edges;
        }
      }
  }
  EXPECT_GT(letters, 30u);
  EXPECT_GE(edges, 16u) << "the focus ring and the lines under entities";
}

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// Implements Palette: the colours of each tone on light, dark and printed paper, their contrast, and the
// style sheet made of them. html.cpp, latex.cpp, svg.cpp and tikz.cpp read them. Read palette.hpp first: it
// says which contrast a new colour must have, and tests check it.
#include "document/palette.hpp"

#include <array>
#include <cmath>

namespace encore::document {

namespace {

struct Entry {
  Tone tone;
  const char* name;
  Colour light, dark;
};

constexpr Colour rgb(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8 & 0xFF),
          static_cast<std::uint8_t>(value & 0xFF)};
}

constexpr std::array<Entry, 15> entries = {{
    {Tone::ink, "ink", rgb(0x1B1D21), rgb(0xE6E7E9)},
    {Tone::faint, "faint", rgb(0x5B6068), rgb(0xA3A8B0)},
    {Tone::grid, "grid", rgb(0xE3E5E8), rgb(0x33373D)},
    {Tone::ground, "ground", rgb(0xFFFFFF), rgb(0x16181B)},
    {Tone::first, "first", rgb(0x0077BB), rgb(0x4BA3DC)},
    {Tone::second, "second", rgb(0xD55E00), rgb(0xE9702A)},
    {Tone::third, "third", rgb(0x005C45), rgb(0x1A8060)},
    {Tone::fourth, "fourth", rgb(0xCC6BA4), rgb(0xF0A0CC)},
    {Tone::fifth, "fifth", rgb(0x745200), rgb(0xB99A4A)},
    {Tone::sixth, "sixth", rgb(0x3A99DA), rgb(0xA6E4FF)},
    {Tone::seventh, "seventh", rgb(0x9A8F3C), rgb(0xF2EB80)},
    {Tone::eighth, "eighth", rgb(0x30333A), rgb(0x868B93)},
    {Tone::good, "good", rgb(0x007A5E), rgb(0x3CC7A1)},
    {Tone::bad, "bad", rgb(0xB3261E), rgb(0xFF8A80)},
    {Tone::missing, "missing", rgb(0x85898F), rgb(0x7F858D)},
}};

const Entry& entry_of(Tone tone) {
  return entries[static_cast<std::size_t>(tone)];
}

/// Returns the relative luminance as WCAG 2.2 defines it.
double luminance(Colour colour) {
  const auto linear = [](std::uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

}  // namespace

Colour colour_of(Tone tone, Paper paper) {
  return paper == Paper::light ? entry_of(tone).light : entry_of(tone).dark;
}

const char* name_of(Tone tone) {
  return entry_of(tone).name;
}

const std::vector<Tone>& all_tones() {
  static const std::vector<Tone> tones = [] {
    std::vector<Tone> list;
    for (const Entry& entry : entries) list.push_back(entry.tone);
    return list;
  }();
  return tones;
}

std::string hex_text(Colour colour) {
  static const char* digits = "0123456789ABCDEF";
  std::string text = "#";
  for (const std::uint8_t channel : {colour.red, colour.green, colour.blue}) {
    text += digits[channel >> 4];
    text += digits[channel & 15];
  }
  return text;
}

double contrast(Colour a, Colour b) {
  const double one = luminance(a), other = luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

Colour blended(Colour top, double opacity, Colour ground) {
  const auto mix = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(opacity * a + (1.0 - opacity) * b));
  };
  return {mix(top.red, ground.red), mix(top.green, ground.green), mix(top.blue, ground.blue)};
}

std::string palette_css(Paper paper) {
  std::string text;
  for (const Entry& entry : entries)
    text += std::string("--") + entry.name + ": " + hex_text(colour_of(entry.tone, paper)) + "; ";
  text.pop_back();
  return text;
}

}  // namespace encore::document

// SPDX-License-Identifier: BSD-3-Clause
// Implements latex_text() of escape.hpp: escapes text for pdflatex. The fonts of pdflatex hold Latin letters
// and some signs; macros put accents on letters in every font encoding. Any other character becomes its
// number in a frame (\codepoint), so that no name can stop pdflatex. latex.cpp, latex_table.cpp and tikz.cpp
// call it.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "document/escape.hpp"
#include "document/text.hpp"

namespace encore::document {

namespace {

const std::map<char32_t, const char*>& signs() {
  static const std::map<char32_t, const char*> table = {
      {U'\\', "\\textbackslash{}"},
      {U'{', "\\{"},
      {U'}', "\\}"},
      {U'$', "\\$"},
      {U'&', "\\&"},
      {U'#', "\\#"},
      {U'%', "\\%"},
      {U'_', "\\_"},
      {U'^', "\\textasciicircum{}"},
      {U'~', "\\textasciitilde{}"},
      {U'<', "\\textless{}"},
      {U'>', "\\textgreater{}"},
      {U'|', "\\textbar{}"},
      {U'"', "\\symbol{34}"},
      {U'\'', "{'}"},
      {U'`', "{`}"},
      {U'-', "{-}"},  // without braces two of them become a dash
      {U'?', "{?}"},  // without braces ?` and !` become inverted marks
      {U'!', "{!}"},
      {U',', "{,}"},
      {0xA0, "~"},
      {0xA7, "\\S{}"},
      {0xB0, "\\ensuremath{^\\circ}"},
      {0xB1, "\\ensuremath{\\pm}"},
      {0xB2, "\\textsuperscript{2}"},
      {0xB3, "\\textsuperscript{3}"},
      {0xB5, "\\ensuremath{\\mu}"},
      {0xB7, "\\ensuremath{\\cdot}"},
      {0xD7, "\\ensuremath{\\times}"},
      {0xDF, "\\ss{}"},
      {0xE6, "\\ae{}"},
      {0xC6, "\\AE{}"},
      {0xF8, "\\o{}"},
      {0xD8, "\\O{}"},
      {0x131, "\\i{}"},
      {0x141, "\\L{}"},
      {0x142, "\\l{}"},
      {0x152, "\\OE{}"},
      {0x153, "\\oe{}"},
      {0x394, "\\ensuremath{\\Delta}"},
      {0x3B1, "\\ensuremath{\\alpha}"},
      {0x3B2, "\\ensuremath{\\beta}"},
      {0x3B5, "\\ensuremath{\\epsilon}"},
      {0x3BB, "\\ensuremath{\\lambda}"},
      {0x3BC, "\\ensuremath{\\mu}"},
      {0x3C3, "\\ensuremath{\\sigma}"},
      {0x2010, "{-}"},
      {0x2011, "{-}"},
      {0x2013, "\\textendash{}"},
      {0x2014, "\\textemdash{}"},
      {0x2018, "\\textquoteleft{}"},
      {0x2019, "\\textquoteright{}"},
      {0x201C, "\\textquotedblleft{}"},
      {0x201D, "\\textquotedblright{}"},
      {0x2022, "\\ensuremath{\\bullet}"},
      {0x2026, "\\textellipsis{}"},
      {0x202F, "\\,"},
      {0x2009, "\\,"},
      {0x2192, "\\ensuremath{\\rightarrow}"},
      {0x2212, "\\ensuremath{-}"},
      {0x2260, "\\ensuremath{\\neq}"},
      {0x2264, "\\ensuremath{\\leq}"},
      {0x2265, "\\ensuremath{\\geq}"},
      {0x221E, "\\ensuremath{\\infty}"},
      {0x2713, "\\ensuremath{\\surd}"},
  };
  return table;
}

/// Returns the macro of a combining mark that the text fonts have; null for any other.
const char* accent(char32_t mark) {
  switch (mark) {
    case 0x300:
      return "\\`";
    case 0x301:
      return "\\'";
    case 0x302:
      return "\\^";
    case 0x303:
      return "\\~";
    case 0x304:
      return "\\=";
    case 0x306:
      return "\\u";
    case 0x307:
      return "\\.";
    case 0x308:
      return "\\\"";
    case 0x30A:
      return "\\r";
    case 0x30B:
      return "\\H";
    case 0x30C:
      return "\\v";
    case 0x323:
      return "\\d";
    case 0x327:
      return "\\c";
    default:
      return nullptr;
  }
}

bool is_letter(char32_t point) {
  return (point >= U'a' && point <= U'z') || (point >= U'A' && point <= U'Z');
}

/// Returns "\'{e}" for a Latin letter with one accent; empty for any other character.
std::string accented(char32_t point) {
  std::array<utf8proc_int32_t, 8> parts{};
  int last_boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), parts.data(),
                                                         parts.size(), UTF8PROC_DECOMPOSE, &last_boundary);
  if (count != 2 || !is_letter(static_cast<char32_t>(parts[0]))) return "";
  const char* macro = accent(static_cast<char32_t>(parts[1]));
  if (macro == nullptr) return "";
  const auto letter = static_cast<char>(parts[0]);
  const bool above = parts[1] != 0x323 && parts[1] != 0x327;
  // i and j lose their dot under an accent.
  if (above && (letter == 'i' || letter == 'j')) return std::string(macro) + "{\\" + letter + "}";
  return std::string(macro) + "{" + letter + "}";
}

std::string code_point(char32_t point) {
  static const char* digits = "0123456789ABCDEF";
  std::string hex;
  for (; point > 0 || hex.size() < 4; point /= 16) hex.insert(0, 1, digits[point % 16]);
  return "\\codepoint{" + hex + "}";
}

std::string one(char32_t point) {
  if (const auto sign = signs().find(point); sign != signs().end()) return sign->second;
  if (point >= 0x20 && point < 0x7F) return {static_cast<char>(point)};
  if (const std::string letter = accented(point); !letter.empty()) return letter;
  return code_point(point);
}

}  // namespace

std::string latex_text(std::string_view text) {
  // In a word of more than `most` characters a line may break after punctuation and after every `few`
  // letters.
  constexpr int most = 20, few = 8;
  std::string result;
  int unbroken = 0;
  for (const char32_t point : code_points(clean_line(text))) {
    result += one(point);
    const bool sign =
        point == U'/' || point == U'_' || point == U'.' || point == U',' || point == U'=' || point == U'-';
    unbroken = point == U' ' ? 0 : unbroken + 1;
    const bool part = sign && unbroken >= few;
    if (unbroken >= most || part || point >= 0x2000) {
      result += "\\wbr{}";
      // A part restarts the count. Without parts, the next break inside the word follows after `few`
      // characters.
      unbroken = part ? 0 : std::min(unbroken, most - few);
    }
  }
  return result;
}

}  // namespace encore::document

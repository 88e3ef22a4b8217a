// SPDX-License-Identifier: BSD-3-Clause
// write_translated_days(): a small parallel corpus of names of days, for tests that translate
// (translate_test.cpp, marian_test.cpp, t5_test.cpp and others). Several tests compare exact translations, so
// it stays as it is.
#pragma once

#include <string>
#include <tuple>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Three short inputs to translate.
inline const std::string three_days = "monday\ntuesday friday\nfriday monday thursday\n";

/// Returns the lines begin to end of the source or of the target, in which each word has one translation.
inline std::string days(int begin, int end, bool target) {
  const char* sources[] = {"monday", "tuesday", "wednesday", "thursday", "friday"};
  const char* targets[] = {"Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag"};
  std::string lines;
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < 1 + i % 4; ++k)
      lines += std::string(k > 0 ? " " : "") + (target ? targets : sources)[(i + k * (1 + i % 3)) % 5];
    lines += "\n";
  }
  return lines;
}

/// Writes train.en, train.de (60 lines), dev.en and dev.de (15 lines).
inline void write_translated_days(const Sandbox& sandbox) {
  for (const auto& [set, begin, end] : {std::tuple{"train", 0, 60}, {"dev", 60, 75}})
    for (const bool target : {false, true})
      sandbox.write(std::string(set) + (target ? ".de" : ".en"), days(begin, end, target));
}

}  // namespace encore::system_test

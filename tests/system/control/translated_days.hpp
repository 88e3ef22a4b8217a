// A small parallel corpus for tests that translate: names of days.
#pragma once

#include <string>
#include <tuple>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// Three short inputs to translate.
inline const std::string three_days = "monday\ntuesday friday\nfriday monday thursday\n";

/// Days as numbers, so that each word has one translation: of the source or of the target.
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

/// train.en, train.de (60 lines), dev.en and dev.de (15).
inline void write_translated_days(const Sandbox& sandbox) {
  for (const auto& [set, begin, end] : {std::tuple{"train", 0, 60}, {"dev", 60, 75}})
    for (const bool target : {false, true})
      sandbox.write(std::string(set) + (target ? ".de" : ".en"), days(begin, end, target));
}

}  // namespace encore::system_test

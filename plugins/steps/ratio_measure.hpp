// SPDX-License-Identifier: BSD-3-Clause
// ratio(): a measure of a step that is the sum of one column over that of another, a share of the examples.
// The steps decide, answer and translate_with_terms declare their measures with it. Read encore/measure.hpp
// first.
#pragma once

#include <encore/measure.hpp>

namespace encore::steps {

/// `always`: every run has the measure. Names and columns are stored with runs.
inline Measure ratio(const char* name, const char* title, const char* help, Better better, const char* part,
                     const char* whole, bool always = true) {
  return {.name = name,
          .title = title,
          .help = help,
          .fraction = true,
          .better = better,
          .reducer = Reducer::ratio,
          .columns = {part, whole},
          .always = always};
}

}  // namespace encore::steps

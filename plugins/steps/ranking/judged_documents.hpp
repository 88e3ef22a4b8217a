// SPDX-License-Identifier: BSD-3-Clause
// grades_in(): reads the relevant documents of a query from the field `labels` of its record. The step
// `search` calls it to choose a method, and hit_measures.cpp to measure. The form is that of the users' data
// files, so it stays.
#pragma once

#include <string>
#include <vector>

#include "ranking_measures.hpp"

namespace encore::ranking {

/// Returns the grade of each document in a list of ids. An id without a grade has grade 1; "d12=3" is the
/// document d12 with grade 3. Of an id that stands twice the higher grade counts.
Grades grades_in(const std::vector<std::string>& labels);

}  // namespace encore::ranking

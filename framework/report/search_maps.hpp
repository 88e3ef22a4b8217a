// SPDX-License-Identifier: BSD-3-Clause
// search_maps(): maps of a search: the score over two variables at once, by the forest of the importances
// (plan/search/importance.hpp), with the trials as dots. Place in the flow: search_pictures.cpp asks for them
// if enough trials have a score.
#pragma once

#include <vector>

#include "document/document.hpp"
#include "plan/search/importance.hpp"
#include "report/search_subject.hpp"

namespace encore::report {

/// Returns the maps of the pairs with the largest shares, in which effects of both variables and their
/// interaction count.
std::vector<document::Figure> search_maps(const SearchSubject& subject,
                                          const plan::search::Importance& found);

}  // namespace encore::report

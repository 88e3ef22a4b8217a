// Maps of a search: the score over two variables at once, by the forest of the importances, with the
// trials as dots. Place in the flow: search_pictures.cpp, if enough trials have a score.
#pragma once

#include <vector>

#include "document/document.hpp"
#include "plan/search/importance.hpp"
#include "report/search_subject.hpp"

namespace encore {

/// Returns the maps of the pairs with the largest shares, all pairs together.
std::vector<Figure> search_maps(const SearchSubject& subject, const search::Importance& found);

}  // namespace encore

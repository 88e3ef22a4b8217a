// Maps of a search: the score over two variables at once, as the forest of the importances has it, with the
// trials as dots. Place in the flow: search_pictures.cpp, where enough trials have a score.
#pragma once

#include <vector>

#include "document/document.hpp"
#include "plan/search/importance.hpp"
#include "report/search_subject.hpp"

namespace encore {

/// Of the pairs that explain most, all together.
std::vector<Figure> search_maps(const SearchSubject& subject, const search::Importance& found);

}  // namespace encore

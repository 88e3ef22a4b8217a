// SPDX-License-Identifier: BSD-3-Clause
// nearest() and did_you_mean(): the most similar name of a list, if it is similar enough, for messages about
// unknown names. All folders that read names from users call them. No stored value depends on the result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Returns the Damerau-Levenshtein distance without regard to case (insert, delete, replace, swap neighbours;
/// no part is edited twice).
int edit_distance(std::string_view a, std::string_view b);

/// Returns the nearest name, the first one of equally near names, or nothing if more than a third of the
/// letters would have to change. Only the first names of a very long list are searched.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& names);

/// Returns `; did you mean "dropout"?`, or `otherwise` if no name is similar: by its letters, as a part or a
/// word of a name ("decay" for "weight_decay"), or as a longer form of one ("training" for "train").
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names,
                         std::string otherwise = "");

/// Returns `"a", "b", "c"`: the names in quotation marks, in their order. Messages about a short list of
/// choices end with it.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace encore

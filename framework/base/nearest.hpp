// SPDX-License-Identifier: BSD-3-Clause
// nearest() and did_you_mean(): the most similar name of a list, if it is similar enough, for messages about
// unknown names. All folders that read names from users call them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Damerau-Levenshtein distance (insert, delete, replace, swap neighbours; no part edited twice), case
/// ignored.
int edit_distance(std::string_view a, std::string_view b);

/// The nearest name, the first one among equals; none when more than a third of the letters would have to
/// change. Of a very long list only the beginning is searched.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& names);

/// `; did you mean "dropout"?`, or `otherwise` when nothing is near: neither a name, nor a part or a word of
/// one ("decay" for "weight_decay"), nor one that it is a longer form of ("training" for "train").
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names,
                         std::string otherwise = "");

/// `"a", "b", "c"`
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Hard negatives: for each pair of the training set, second inputs of other pairs that are easily mistaken
// for the right one, because they have words of the first input (Karpukhin et al. 2020). embed.cpp adds them
// to the pairs. What a run learns depends on the result, so equal pairs must give equal lists.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace encore::embed {

/// Negatives by first input.
using HardNegatives = std::unordered_map<std::string, std::vector<std::string>>;

/// Returns for each different first input the `count` best second inputs by BM25 (Robertson and Zaragoza
/// 2009; k1 = 1.2, b = 0.75), the best first, without those that belong to this first input. Equal scores are
/// in the order of the pairs. There are fewer if fewer second inputs have a word of the first one. A word is
/// a run of letters, digits and bytes beyond ASCII, in lower case (ASCII only). To save time, words are
/// ignored that more than a tenth of the second inputs contain, and more than 100 of them. Needs
/// `seconds.size() == firsts.size()`.
HardNegatives mine_negatives(const std::vector<std::string>& firsts, const std::vector<std::string>& seconds,
                             std::size_t count);

}  // namespace encore::embed

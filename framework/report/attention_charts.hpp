// SPDX-License-Identifier: BSD-3-Clause
// Attention weights as charts: layers of one stack with equal rows and columns become one chart, with a line
// of panels for each layer and a panel for each head. Place in the flow: record/attention.hpp has the weights
// -> here -> `exp attention -o FILE.svg` and the section of a report (attention.cpp).
#pragma once

#include <string>
#include <vector>

#include "document/chart.hpp"
#include "record/attention.hpp"

namespace encore {

/// Layers whose rows and columns are the same.
struct AttentionGroup {
  std::string title;  ///< "Encoder", "Decoder over encoder"
  std::string what;   ///< a sentence: what rows and columns are
  std::vector<const AttentionLayer*> layers;
};

/// Returns the groups in the order of the first layer of each. They point into the text, which must outlive
/// them.
std::vector<AttentionGroup> attention_groups(const AttentionText& text);

/// Returns the chart of all heads of a group's layers.
HeatMapChart attention_chart(const AttentionText& text, const AttentionGroup& group);

/// Names of tokens as rows or columns: equal ones get their place as a suffix ("the", "the (5)").
std::vector<std::string> token_names(const std::vector<AttentionToken>& tokens);

/// Returns a sentence that names the layers that have no weights; "" if there are none.
std::string hidden_layers_note(const AttentionText& text);

/// Returns the number of cells of all charts together.
std::size_t cells_of(const AttentionText& text);

/// Returns one drawing with all charts of a text below each other, with their titles.
Drawing attention_drawing(const AttentionText& text, const std::string& title);

}  // namespace encore

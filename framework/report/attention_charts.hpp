// SPDX-License-Identifier: BSD-3-Clause
// Makes charts of attention weights. Layers of one stack with equal rows and columns become one chart, with a
// line of panels for each layer and a panel for each head. The weights are those of record/attention.hpp.
// `exp attention -o FILE.svg` (cli/attention_verb.cpp), the section of a report (attention.cpp) and
// attention_page.cpp call it. Nothing here is stored.
#pragma once

#include <string>
#include <vector>

#include "document/chart.hpp"
#include "record/attention.hpp"

namespace encore::report {

/// Layers whose rows and columns are the same.
struct AttentionGroup {
  std::string title;  ///< "Encoder", "Decoder over encoder"
  std::string what;   ///< a sentence: what rows and columns are
  std::vector<const record::AttentionLayer*> layers;
};

/// Returns the groups in the order of the first layer of each. They point into the text, which must outlive
/// them.
std::vector<AttentionGroup> attention_groups(const record::AttentionText& text);

/// Returns the chart of all heads of a group's layers.
document::HeatMapChart attention_chart(const record::AttentionText& text, const AttentionGroup& group);

/// Returns names of rows or columns for tokens; equal ones get their position as a suffix ("the", "the (5)").
std::vector<std::string> token_names(const std::vector<record::AttentionToken>& tokens);

/// Returns a sentence that names the layers that have no weights; "" if there are none.
std::string hidden_layers_note(const record::AttentionText& text);

/// Returns the number of cells of all charts together.
std::size_t cells_of(const record::AttentionText& text);

/// Returns one drawing with all charts of a text below each other, with their titles.
document::Drawing attention_drawing(const record::AttentionText& text, const std::string& title);

}  // namespace encore::report

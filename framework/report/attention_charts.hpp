// Attention weights as charts: the layers of one stack that look at the same rows become one chart, a line of
// panels for each layer and a panel for each head. Place in the flow: record/attention.hpp -> here -> `exp
// attention -o FILE.svg`, the section of a report.
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

/// In the order of the first layer of each; the text outlives them.
std::vector<AttentionGroup> attention_groups(const AttentionText& text);

/// All heads of a group's layers.
HeatMapChart attention_chart(const AttentionText& text, const AttentionGroup& group);

/// Names of tokens as rows or columns: equal ones are told apart by their place ("the", "the (5)").
std::vector<std::string> token_names(const std::vector<AttentionToken>& tokens);

/// Layers that have no weights, as a sentence; "" where there is none.
std::string hidden_layers_note(const AttentionText& text);

/// How many cells all charts have together.
std::size_t cells_of(const AttentionText& text);

/// All charts of a text below each other, with their titles.
Drawing attention_drawing(const AttentionText& text, const std::string& title);

}  // namespace encore

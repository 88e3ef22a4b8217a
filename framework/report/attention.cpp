// SPDX-License-Identifier: BSD-3-Clause
// The section "attention": the attention in examples that a run of the best candidate recorded (setting
// train.show_attention), for each head of the last layer of every stack. report.cpp calls
// attention_section(). Nothing else depends on what it shows. Read sections.hpp first; attention_charts.cpp
// draws.
#include <algorithm>

#include "analysis/predictions.hpp"
#include "base/load_file.hpp"
#include "report/attention_charts.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The number of examples that are shown, and the tokens that one may have: cells of larger maps are too
/// small to read, and each is a shape of the document.
constexpr std::size_t most_texts = 2, most_tokens = 24;
/// The number of heads of a layer that are shown.
constexpr std::size_t most_heads = 8, heads_beside_each_other = 2;

bool fits(const record::AttentionText& text) {
  return text.tokens.size() <= most_tokens && text.target.size() <= most_tokens;
}

/// Returns a sentence about the largest weight, for readers who cannot see the picture.
std::string largest_weight(const document::HeatMapChart& chart) {
  std::string where;
  double largest = -1.0;
  for (const document::HeatMapChart::Panel& panel : chart.panels)
    for (std::size_t i = 0; i < panel.values.size(); ++i)
      if (panel.values[i] > largest) {
        largest = panel.values[i];
        where = chart.rows[i / chart.columns.size()] + " attends to " +
                chart.columns[i % chart.columns.size()] + " (" + panel.title + ")";
      }
  return where;
}

document::Figure figure_of(const record::AttentionText& text, const AttentionGroup& group,
                           const std::string& id) {
  record::AttentionLayer last = *group.layers.back();
  if (last.heads.size() > most_heads) {
    last.heads.resize(most_heads);
    last.weights.resize(most_heads);
  }
  document::HeatMapChart chart = attention_chart(text, {group.title, group.what, {&last}});
  chart.across = std::min(last.heads.size(), heads_beside_each_other);
  for (std::size_t h = 0; h < last.heads.size(); ++h)
    chart.panels[h].title = "head " + std::to_string(last.heads[h]);
  const std::string what = group.title + " of " + text.name + ": " + last.layer;
  return {.id = id,
          .caption = document::Text({{group.title + " of " + text.name + ", "},
                                     code(last.layer),
                                     {last.heads.size() < group.layers.back()->heads.size()
                                          ? ", its first " + std::to_string(last.heads.size()) + " heads. "
                                          : ". "},
                                     {group.what}}),
          .alternative = what + ". The largest weight: " + largest_weight(chart) + ".",
          .chart = chart};
}

void add_figures(const record::AttentionTexts& kept, const Question& question,
                 std::vector<document::Block>& blocks) {
  std::size_t shown = 0;
  for (const record::AttentionText& text : kept.texts) {
    if (!fits(text) || shown == most_texts) continue;
    ++shown;
    std::size_t number = 0;
    for (const AttentionGroup& group : attention_groups(text))
      blocks.push_back(figure_of(
          text, group,
          "attention-" + question.id + "-" + std::to_string(shown) + "-" + std::to_string(++number)));
  }
  if (shown == 0)
    blocks.push_back(document::Notice{"No kept example has at most " + std::to_string(most_tokens) +
                                      " tokens; exp attention shows longer ones."});
}

bool has_kept(const ReportData& data, const store::RunRow& run) {
  const auto artifacts = data.artifacts.find(run.number);
  return artifacts != data.artifacts.end() &&
         std::ranges::find(artifacts->second, record::attention_artifact, &store::ArtifactRow::name) !=
             artifacts->second.end();
}

/// Adds the attention of the first run of the best candidate that recorded some, or the reason why it cannot
/// be shown.
void add_attention(const ReportData& data, const Question& question, std::vector<document::Block>& blocks) {
  const std::optional<std::size_t> first = question.first();
  if (!first) return;
  for (const analysis::Replicate& replicate : question.comparison.candidates[*first].runs) {
    if (!has_kept(data, replicate.run)) continue;
    try {
      const record::AttentionTexts kept = record::AttentionTexts::parse(
          load_file(analysis::recorded_artifact(data.store, replicate.run, record::attention_artifact),
                    "kept attention"));
      blocks.push_back(
          document::Paragraph{document::Text({{"Attention of "},
                                              code(replicate.run.name),
                                              {" (step " + std::to_string(kept.step) +
                                               ") in the first examples of dev, not chosen by hand. A "
                                               "row of weights sums to 1; the share of a token in another "
                                               "one does not explain the answer of the model."}})});
      return add_figures(kept, question, blocks);
    } catch (const Error& error) {
      blocks.push_back(document::Notice{"There is no attention to show: " + std::string(error.what()) + "."});
      return;
    }
  }
}

}  // namespace

document::Section attention_section(const ReportData& data) {
  document::Section section{"attention", "Attention"};
  for (const Question& question : data.questions)
    if (!data.hides_texts(question, section.id)) add_attention(data, question, section.blocks);
  return section;
}

}  // namespace encore::report

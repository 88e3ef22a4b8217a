// SPDX-License-Identifier: BSD-3-Clause
// Tests the charts (report/attention_charts.hpp) and the page (report/attention_page.hpp) of `exp attention`:
// which layers share a chart, their names, and that no token of an input becomes code of the page. The page
// must load nothing, so that it can be opened anywhere.
#include "report/attention_page.hpp"

#include <gtest/gtest.h>

#include "report/attention_charts.hpp"
#include "support/places.hpp"
#include "unit/document/boxes.hpp"
#include "unit/document/sample_document.hpp"

namespace encore::report {
namespace {

record::AttentionLayer layer(const std::string& path, std::size_t heads, std::size_t cells,
                             bool rows_of_decoder = false, bool columns_of_decoder = false) {
  record::AttentionLayer made{.layer = path,
                              .type = "self_attention",
                              .rows_of_decoder = rows_of_decoder,
                              .columns_of_decoder = columns_of_decoder,
                              .heads = {},
                              .weights = {}};
  for (std::size_t h = 0; h < heads; ++h) {
    made.heads.push_back(static_cast<std::int64_t>(h));
    made.weights.emplace_back(cells, 1.0F / static_cast<float>(h + 2));
  }
  return made;
}

/// Returns attention over a source of three tokens and a target of two, with all three kinds of attention.
record::AttentionText translation() {
  return {.tokens = {{"the"}, {"the"}, {"</s>", true}},
          .target = {{"<s>", true}, {"der"}},
          .layers = {layer("encoder.0.attention", 2, 9), layer("encoder.1.attention", 2, 9),
                     layer("decoder.0.attention", 2, 4, true, true), layer("decoder.0.cross", 2, 6, true)}};
}

TEST(AttentionCharts, LayersThatLookAtTheSameRowsAreOneChart) {
  const record::AttentionText text = translation();
  const std::vector<AttentionGroup> groups = attention_groups(text);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].title, "Encoder");
  EXPECT_EQ(groups[1].title, "Decoder");
  EXPECT_EQ(groups[2].title, "Decoder over encoder");
  EXPECT_EQ(groups[0].layers.size(), 2U);
  const document::HeatMapChart chart = attention_chart(text, groups[0]);
  EXPECT_EQ(chart.rows, (std::vector<std::string>{"the", "the (1)", "</s>"}));
  EXPECT_EQ(chart.across, 2U) << "a line for each layer";
  ASSERT_EQ(chart.panels.size(), 4U);
  EXPECT_EQ(chart.panels[3].title, "encoder.1.attention, head 1");
  const document::HeatMapChart cross = attention_chart(text, groups[2]);
  EXPECT_EQ(cross.rows, (std::vector<std::string>{"<s>", "der"}));
  EXPECT_EQ(cross.columns, chart.columns);
  EXPECT_EQ(cells_of(text), 2U * (9 + 9 + 4 + 6));

  record::AttentionText alone{.tokens = {{"a"}}, .layers = {layer("decoder.0.attention", 1, 1)}};
  EXPECT_EQ(attention_groups(alone).front().title, "Decoder");
  alone.layers[0].layer = "encoder.0.attention";
  EXPECT_EQ(attention_groups(alone).front().title, "Self-attention");
}

TEST(AttentionCharts, NameWhatHasNoWeights) {
  record::AttentionText text = translation();
  EXPECT_EQ(hidden_layers_note(text), "");
  text.hidden = {{"encoder.2.mix", "linear_attention"}, {"encoder.3.mix", "linear_attention"}};
  EXPECT_EQ(
      hidden_layers_note(text),
      "Not shown, because they have no attention weights: encoder.2.mix, encoder.3.mix (linear_attention).");
}

TEST(AttentionCharts, StayWithinTheDrawing) {
  record::AttentionText text = translation();
  text.hidden = {{"encoder.2.mix", "linear_attention"}};
  samples::expect_on_paper_and_apart(attention_drawing(text, "Attention of captions: the the"));
  for (record::AttentionToken& token : text.tokens) token.text = samples::hostile_names().back();
  samples::expect_on_paper_and_apart(attention_drawing(text, samples::hostile_names().back()));
}

TEST(AttentionPage, HoldsItsDataAndLoadsNothing) {
  const document::Templates templates(ENCORE_SOURCE_DIR "/reports");
  record::AttentionTexts texts{.texts = {translation()}};
  const AttentionPageHead head{.title = "Attention of captions",
                               .texts = {{"Text", "the the"}},
                               .facts = {{"run", "captions"}},
                               .command = "exp attention captions ..."};
  const std::string page = attention_page(texts, head, templates);
  EXPECT_NE(page.find("<h1>Attention of captions</h1>"), std::string::npos);
  EXPECT_NE(page.find(R"({"piece":"der"})"), std::string::npos);
  // Head 0 of decoder.0.attention: four times one half, 0x8000, the low byte first.
  EXPECT_NE(page.find("\"AIAAgACAAIA=\""), std::string::npos);
  for (const char* loads : {"http://", "https://", "src=", "@import", "fetch("})
    EXPECT_EQ(page.find(loads), std::string::npos) << loads;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(attention_page(texts, head, templates), page) << "equal bytes each time";
}

TEST(AttentionPage, KeepsAnyTextOutOfItsCode) {
  const document::Templates templates(ENCORE_SOURCE_DIR "/reports");
  record::AttentionTexts texts{.texts = {translation()}};
  AttentionPageHead head{.title = "t", .texts = {}, .facts = {}, .command = "c"};
  // Checks the characters except those around a name that is written from right to left.
  const auto tags = [](std::string page) {
    for (const char* direction : {"<bdi>", "</bdi>"})
      for (std::size_t at = page.find(direction); at != std::string::npos; at = page.find(direction))
        page.erase(at, std::string(direction).size());
    return std::ranges::count(page, '<');
  };
  const auto plain = tags(attention_page(texts, head, templates));
  for (const std::string& name : samples::hostile_names()) {
    texts.texts[0].tokens[1].text = texts.texts[0].name = texts.texts[0].layers[0].layer = name;
    head.title = head.command = name;
    const std::string page = attention_page(texts, head, templates);
    EXPECT_EQ(tags(page), plain) << name.substr(0, 40);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  }
}

}  // namespace
}  // namespace encore::report

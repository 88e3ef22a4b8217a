// SPDX-License-Identifier: BSD-3-Clause
// Tests model_card() (report/model_card.hpp), the README.md of an exported run: the runs over which its
// interval is computed, and that names from a database cannot become markup. The keys at the head of the file
// must stay, because the Hugging Face hub reads them; sentences may change.
#include "report/model_card.hpp"

#include "unit/document/sample_document.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

const record::ExportAnswer model = {.architecture = "BertForTokenClassification",
                                    .pipeline = "token-classification",
                                    .parameters = 1234567,
                                    .dtype = "float32",
                                    .rounded_from = "float32",
                                    .step = 1,
                                    .weights_file = "model.safetensors",
                                    .weights_sha256 = std::string(64, 'e')};

class ModelCard : public ReportTest {};

TEST_F(ModelCard, HasTheIntervalOverRunsThatDifferInTheSeedAlone) {
  tell_all("net", {0.50, 0.52, 0.54});
  tell({.name = "other", .measures = {{"test/f1", 0.9}}});
  tell({.name = "net", .seed = 4, .measures = {{"test/f1", 0.9}}, .device = "cpu two"});
  tell({.name = "net", .seed = 5, .measures = nullptr, .state = store::RunState::failed});
  const std::string card = report::model_card(store(), store().find_run("net-s2"), model);
  // 52 +- 4.3027 * 2 / sqrt(3), Student's t with two degrees of freedom.
  EXPECT_TRUE(contains(card, "| `test/f1`, % | 52.00 | 52.00 | 47.03 .. 56.97 |\n")) << card;
  EXPECT_TRUE(contains(card, "are over 3 runs that differ in the seed alone: 1, 2 and 3.")) << card;
  EXPECT_TRUE(contains(card, "```sh\nexp verify net-s2\n```")) << card;
  EXPECT_TRUE(contains(card, "with 1,234,567 parameters")) << card;
  EXPECT_FALSE(contains(card, "rounded")) << card;
}

TEST_F(ModelCard, ReportsThatWeightsAreRounded) {
  tell_all("net", {0.5});
  record::ExportAnswer rounded = model;
  rounded.dtype = "float16";
  const std::string card = report::model_card(store(), store().find_run("net-s1"), rounded);
  EXPECT_TRUE(contains(card,
                       "The weights in this folder are rounded from float32 to float16. The scores are "
                       "those of the weights before that.\n"))
      << card;
}

TEST_F(ModelCard, ReportsThatOneRunHasNoInterval) {
  tell_all("net", {0.5});
  const std::string card = report::model_card(store(), store().find_run("net-s1"), model);
  EXPECT_TRUE(contains(card, "| `test/f1`, % | 50.00 | 50.00 | \u2013 |\n")) << card;
  EXPECT_TRUE(contains(card, "No other run differs in the seed alone, so there is no interval: "));
}

TEST_F(ModelCard, EscapesForeignTags) {
  const std::string tag = "<img src=x onerror=alert(1)>`|\n```";
  tell_all("net", {0.5, 0.6});
  for (const char* sql : {"UPDATE run SET name = ?1 WHERE seed = 1", "UPDATE run_dataset SET path = ?1",
                          "UPDATE param SET value = ?1, source = 'file' WHERE key = 'task.type'"})
    store::Statement(store().database(), sql).run(tag);
  store::RunRow run = store().find_run("net-s2");
  for (const store::RunRow& other : store().list_runs())
    if (other.seed == 1) run = other;
  const std::string card = report::model_card(store(), run, model);
  EXPECT_TRUE(contains(card, "onerror")) << "otherwise this test proves nothing";
  EXPECT_EQ(samples::foreign_tag(card), "") << card;
  EXPECT_TRUE(contains(card, "```sh\nexp verify " + run.id + "\n```")) << card;
}

}  // namespace
}  // namespace encore::testing

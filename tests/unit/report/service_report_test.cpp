// SPDX-License-Identifier: BSD-3-Clause
// Tests the section of a report about the inputs that a served model has answered (report/service.cpp), which
// is made from the server's spools and the reference of the run: alerts for inputs of another kind, none for
// the same kind, and a missing or damaged reference. The words may change; inputs of the same kind must give
// no alert.
#include <algorithm>

#include "record/text_reference.hpp"
#include "store/served.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

class ServiceReportTest : public ReportTest {
 protected:
  /// Writes a reference of 100 inputs of 10 to 14 tokens, a quarter of them with the label "name".
  void write_reference(const store::RunRow& run) {
    record::TextReference reference{.source = "dev", .step = 7};
    reference.histograms.labels = {{"name", 0}, {"none", 0}};
    for (int i = 0; i < 100; ++i) reference.histograms.add(facts(10 + i % 5, i % 4 == 0));
    std::ofstream(store().run_folder(run.id) / record::reference_file) << reference.json();
  }
  static record::TextFacts facts(std::int64_t tokens, bool name) {
    return {.tokens = tokens, .confidence = 0.9, .labels = {{name ? "name" : "none", 1}}};
  }
  /// Writes the record of `count` inputs of `tokens` to `tokens` + 4 tokens. The first `right` of them got
  /// positive feedback, one more got negative feedback.
  void serve(const store::RunRow& run, int count, std::int64_t tokens, int right = 0) {
    const std::filesystem::path folder = store().run_folder(run.id) / store::served_folder;
    std::filesystem::create_directories(folder);
    {
      record::SpoolWriter spool(folder / "served-a.spool", 1, run.id);
      for (int i = 0; i < count; ++i)
        spool.event_text(
            store::record_text({{.request = std::to_string(i), .time = 100.0 + i, .seconds = 0.004}},
                               {facts(tokens + i % 5, i % 4 == 0).json()}));
      for (int i = 0; right > 0 && i <= right; ++i)
        spool.event_text(store::record_text(
            store::ServedFeedback{.request = std::to_string(i), .time = 500.0, .correct = i < right}));
    }
    ASSERT_EQ(store::merge_served(store(), run, 1000.0).texts, count);
  }
  document::Document service() { return report({.sections = {"service"}}); }
};

TEST_F(ServiceReportTest, IsLeftOutWhereNothingWasServed) {
  const store::RunRow run = tell({.name = "a"});
  write_reference(run);
  const document::Document document = report();
  EXPECT_TRUE(std::ranges::none_of(document.sections,
                                   [](const document::Section& each) { return each.id == "service"; }));
}

TEST_F(ServiceReportTest, InputsOfTheSameKindRaiseNoAlert) {
  const store::RunRow run = tell({.name = "a"});
  write_reference(run);
  serve(run, 200, 10, 3);
  const document::Document document = service();
  const document::TableBlock& measures = table(document, "service-1");
  EXPECT_NEAR(*cell(measures, "pieces", "reference").number, 12.0, 1e-9);
  EXPECT_NEAR(*cell(measures, "pieces", "live").number, 12.0, 1e-9);
  EXPECT_LT(*cell(measures, "pieces", "PSI").number, 0.01);
  EXPECT_NEAR(*cell(table(document, "service-labels-1"), "name", "live").number, 25.0, 1e-9);
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text, "200 inputs from 1970-01-01 00:01:40 UTC")) << text;
  EXPECT_TRUE(contains(text, "No change was seen")) << text;
  EXPECT_TRUE(contains(text, "Of 4 inputs with feedback 75 % were answered correctly")) << text;
  EXPECT_TRUE(contains(text, "4 ms (median)")) << text;
}

TEST_F(ServiceReportTest, InputsOfAnotherKindRaiseAnAlert) {
  const store::RunRow run = tell({.name = "a"});
  write_reference(run);
  serve(run, 200, 40);
  const document::Document document = service();
  EXPECT_TRUE(contains(text_of(document), "The inputs have changed: after "));
  EXPECT_TRUE(contains(text_of(document), "is unknown: no feedback was sent"));
  EXPECT_GT(*cell(table(document, "service-1"), "pieces", "PSI").number, 1.0);
  const document::Figure* evidence = figure(document, "service-evidence-1");
  ASSERT_NE(evidence, nullptr);
  const auto& chart = std::get<document::LineChart>(evidence->chart);
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.series[0].y.size(), 200U);
  EXPECT_NEAR(chart.series[1].y.front(), 3.0, 1e-9) << "alpha is 0.001";
  EXPECT_GT(*std::ranges::max_element(chart.series[0].y), 3.0);
}

TEST_F(ServiceReportTest, ReportsAMissingOrDamagedReference) {
  const store::RunRow run = tell({.name = "a"});
  serve(run, 5, 10);
  EXPECT_TRUE(contains(text_of(service()), "which has no reference to compare them with"));
  std::ofstream(store().run_folder(run.id) / record::reference_file) << "{";
  EXPECT_TRUE(contains(text_of(service()), "The reference of run a-s1 cannot be read: "));
}

}  // namespace
}  // namespace encore::testing

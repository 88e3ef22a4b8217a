// SPDX-License-Identifier: BSD-3-Clause
// sample_document(): a report that uses every block and every chart, with numbers like those of a real sweep;
// hostile_document(): one with only names that mean something in HTML, Markdown, LaTeX or CSV. Tests of
// document/ and report/ write both in every format, and some expect values from them, so extend them instead
// of changing what is there.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "document/document.hpp"

namespace encore::samples {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Returns a number in [0, 1) by SplitMix64 of the counter, so that all machines have the same charts.
inline double noise(std::uint64_t counter) {
  std::uint64_t word = (counter + 1) * 0x9E3779B97F4A7C15ULL;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((word ^ (word >> 31)) >> 11) / 9007199254740992.0;
}

inline document::LineChart loss_curves(std::size_t steps = 4000) {
  document::LineChart chart{{"step"}, {"train/loss", "nats", document::Axis::Scale::logarithmic}, {}};
  const std::vector<std::string> names = {"baseline", "rotary positions", "label smoothing 0.1"};
  for (std::size_t s = 0; s < names.size(); ++s) {
    document::Series series{names[s], {}, {}};
    for (std::size_t i = 0; i < steps; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(steps);
      const double level = 0.02 + 0.015 * static_cast<double>(s) +
                           2.3 * std::exp(-9.0 * t * (1.0 - 0.15 * static_cast<double>(s)));
      const double value = level * (0.85 + 0.3 * noise(i * 7 + s));
      series.x.push_back(static_cast<double>(i) * 12800.0 / static_cast<double>(steps));
      series.y.push_back(i % 1371 == 1200 && s == 1 ? nan : value);
      series.low.push_back(level * 0.8);
      series.high.push_back(level * 1.25);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

inline document::LineChart schedule() {
  document::LineChart chart{{"step"}, {"learning rate"}, {}};
  document::Series series{"", {}, {}};
  for (int i = 0; i <= 200; ++i) {
    series.x.push_back(i * 64.0);
    series.y.push_back(i < 20 ? 5e-4 * i / 20.0 : 5e-4 * (200 - i) / 180.0);
  }
  chart.series = {series};
  return chart;
}

inline document::ScatterChart seeds() {
  document::ScatterChart chart{
      {""}, {"test/f1", "%"}, {"baseline", "rotary positions", "label smoothing 0.1", "no warm-up"}, {}};
  const std::vector<double> means = {52.4, 54.1, 53.2, 47.9};
  document::ScatterChart::Group runs{"one seed", {}}, mean{"mean, 95 % interval", {}};
  for (std::size_t c = 0; c < means.size(); ++c) {
    for (std::size_t s = 0; s < 5; ++s)
      runs.points.push_back({static_cast<double>(c),
                             means[c] + 2.4 * (noise(c * 9 + s) - 0.5),
                             {},
                             {},
                             chart.categories[c] + ", seed " + std::to_string(s + 1)});
    mean.points.push_back(
        {static_cast<double>(c), means[c], means[c] - 0.9, means[c] + 0.9, chart.categories[c]});
  }
  runs.points.push_back({3.0, nan, {}, {}, "no warm-up, seed 6"});
  chart.groups = {mean, runs};
  return chart;
}

inline document::BarChart importance() {
  return {{"share of the variance of dev/f1 explained"},
          true,
          {{"optimizer.learning_rate", 0.412, 0.36, 0.47},
           {"model.width", 0.233, 0.18, 0.29},
           {"schedule.warmup_steps", 0.121, 0.07, 0.17},
           {"training.label_smoothing", 0.018, 0.0, 0.05},
           {"model.dropout", nan, {}, {}},
           {"batch_size", -0.006, -0.02, 0.01}}};
}

inline document::BarChart label_counts() {
  document::BarChart chart{{"entities"}, false, {}};
  const std::vector<std::pair<std::string, double>> counts = {{"person", 660},        {"location", 548},
                                                              {"group", 264},         {"corporation", 221},
                                                              {"creative-work", 140}, {"product", 142}};
  for (const auto& [name, count] : counts) chart.bars.push_back({name, count, {}, {}});
  return chart;
}

inline document::Histogram lengths() {
  document::Histogram chart{{"length of a sentence", "tokens"}, {"sentences"}, 0.0, 8.0, {}, 128.0, "cut at"};
  for (int i = 0; i < 24; ++i) {
    const double x = (i + 0.5) * 8.0;
    chart.counts.push_back(std::floor(900.0 * x / 26.0 * std::exp(-x / 26.0)));
  }
  return chart;
}

inline document::MatrixChart confusion() {
  return {"truth",
          "prediction",
          {"O", "person", "location", "group", "corporation", "creative-work", "product"},
          {{21880, 61, 48, 30, 9, 14, 12},
           {98, 402, 9, 7, 1, 2, 0},
           {51, 6, 201, 9, 2, 0, 1},
           {104, 12, 15, 88, 3, 2, 4},
           {23, 1, 5, 6, 39, 0, 3},
           {131, 8, 4, 3, 0, 52, 2},
           {92, 3, 2, 5, 4, 3, nan}}};
}

/// weights(): attention of two heads in one sentence. waves(): a map with values below and above 0.
inline document::HeatMapChart weights() {
  document::HeatMapChart chart{
      .row_title = "tokens that ask",
      .column_title = "tokens that they look at",
      .value_title = "attention weight, by its root; a row sums to 1",
      .rows = {"[CLS]", "Anna", "Berg", "lives", "in", "Lund", ".", "[SEP]"},
      .columns = {"[CLS]", "Anna", "Berg", "lives", "in", "Lund", ".", "[SEP]"},
      .panels = {{"encoder.0.attention, head 0", {}}, {"encoder.0.attention, head 1", {}}},
      .across = 2,
      .shade = document::HeatMapChart::Shade::root};
  for (std::size_t i = 0; i < 64; ++i) {
    chart.panels[0].values.push_back(i % 9 == 0 ? 0.86 : 0.02);
    chart.panels[1].values.push_back(i % 8 == 7 ? 0.65 : 0.05);
  }
  return chart;
}
inline document::HeatMapChart waves() {
  document::HeatMapChart chart{.row_title = "position",
                               .column_title = "channel",
                               .value_title = "PE",
                               .panels = {{"", {}}},
                               .below_zero = true};
  for (int i = 0; i < 24; ++i) chart.rows.push_back(std::to_string(i));
  for (int c = 0; c < 32; ++c) chart.columns.push_back(std::to_string(c));
  for (int i = 0; i < 24 * 32; ++i) chart.panels[0].values.push_back(std::sin(i / 32 * (1 + i % 32) / 16.0));
  return chart;
}

inline document::ParallelChart trials(std::size_t count = 48) {
  document::ParallelChart chart;
  chart.dimensions = {{"learning_rate", {}, true},
                      {"width"},
                      {"dropout"},
                      {"attention", {"softmax", "linear", "local window"}},
                      {"test/f1"}};
  for (std::size_t i = 0; i < count; ++i) {
    const double rate = std::pow(10.0, -5.0 + 2.0 * noise(i * 5));
    const double width = 128.0 * std::floor(1.0 + 4.0 * noise(i * 5 + 1));
    const double dropout = 0.4 * noise(i * 5 + 2);
    const double kind = std::floor(3.0 * noise(i * 5 + 3));
    const double off = std::log10(rate) + 4.0;
    const double score =
        i == 7 ? nan : 55.0 - 9.0 * off * off + width / 200.0 - 12.0 * dropout * dropout - kind;
    chart.lines.push_back({"trial-" + std::to_string(i + 1), {rate, width, dropout, kind, score}});
  }
  return chart;
}

inline document::TimelineChart workers() {
  document::TimelineChart chart;
  chart.lanes = {"openmp:0", "openmp:1", "cuda:0"};
  chart.legend = {{document::Tone::good, "complete"},
                  {document::Tone::fifth, "stopped, resumed later"},
                  {document::Tone::bad, "failed"}};
  std::vector<double> at(3, 0.0);
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t lane = i % 3;
    const double length = (lane == 2 ? 240.0 : 700.0) * (0.6 + 0.8 * noise(i + 900));
    const document::Tone tone = i == 11       ? document::Tone::bad
                                : i % 13 == 5 ? document::Tone::fifth
                                              : document::Tone::good;
    chart.bars.push_back({lane, at[lane], at[lane] + length, "wnut17-" + std::to_string(i + 1), tone});
    at[lane] += length + 12.0;
  }
  return chart;
}

inline document::FlowChart architecture() {
  document::FlowChart chart;
  chart.boxes = {
      {"token and position embedding", "30,522 x 384; 11,917,056 parameters", document::Tone::fourth, {}},
      {"self_attention", "6 heads of 64; 591,360 parameters", document::Tone::first, 0},
      {"layer_norm", "768 parameters", document::Tone::eighth, {}},
      {"feed_forward", "1,536 wide, GELU; 1,181,568 parameters", document::Tone::third, 2},
      {"layer_norm", "768 parameters", document::Tone::eighth, {}},
      {"linear head", "13 labels; 5,005 parameters", document::Tone::second, {}}};
  chart.groups = {{"encoder", 1, 4, 12}};
  return chart;
}

inline document::TableBlock results() {
  document::TableBlock table{
      "results-test-f1",
      "Entity F1 on the test set, mean over five seeds with the 95 % interval of Student's t.",
      {{"model"},
       {"n", "", true},
       {"mean", "%", true},
       {"95 % interval", "%", true},
       {"precision", "%", true},
       {"recall", "%", true},
       {"difference", "points", true},
       {"p", "Holm", true}},
      {},
      {}};
  const auto add = [&](const std::string& name, double n, double mean, const std::string& interval,
                       double precision, double recall, const std::string& difference, double p, bool best) {
    const auto text = [](double value, int digits) {
      std::string whole = std::to_string(value);
      return whole.substr(0, whole.find('.') + 1 + static_cast<std::size_t>(digits));
    };
    std::vector<document::TableCell> row = {
        name,
        document::TableCell(text(n, 0).substr(0, 1), n),
        document::TableCell(text(mean, 2), mean),
        interval.empty() ? document::TableCell() : document::TableCell(interval),
        document::TableCell(text(precision, 2), precision),
        document::TableCell(text(recall, 2), recall),
        difference.empty() ? document::TableCell() : document::TableCell(difference),
        std::isnan(p) ? document::TableCell() : document::TableCell(text(p, 3), p)};
    row[2].best = best;
    table.rows.push_back(row);
  };
  add("rotary positions", 5, 54.1342, "53.24 to 55.03", 61.22, 48.51, "+1.73", 0.0123, true);
  add("label smoothing 0.1", 5, 53.2211, "52.33 to 54.11", 60.94, 47.24, "+0.82", 0.1415, false);
  add("baseline", 5, 52.4012, "51.50 to 53.30", 59.37, 46.91, "", nan, false);
  add("no warm-up", 1, 47.9120, "", 55.10, 42.38, "", nan, false);
  table.notes = {"Best is marked only where the corrected test separates it from the next.",
                 "With one seed there is neither an interval nor a test."};
  return table;
}

/// Returns a table that is wider than the screen of a phone.
inline document::TableBlock all_trials() {
  document::TableBlock table{
      "trials", "All 12 trials, also those that failed.", {{"trial"}, {"state"}}, {}, {}};
  for (const char* name : {"learning_rate", "width", "layers", "heads", "dropout", "batch_size",
                           "warmup_steps", "dev/f1", "test/f1"})
    table.columns.push_back({name, "", true});
  table.columns.push_back({"wall time", "s", true});
  for (std::size_t i = 0; i < 12; ++i) {
    std::vector<document::TableCell> row = {"trial-" + std::to_string(i + 1), i == 4 ? "failed" : "complete"};
    for (std::size_t k = 0; k < 10; ++k) {
      const double value = std::floor(1000.0 * noise(i * 31 + k)) / 10.0;
      row.push_back(i == 4 && k > 6 ? document::TableCell()
                                    : document::TableCell(std::to_string(value).substr(0, 4), value));
    }
    table.rows.push_back(row);
  }
  return table;
}

inline document::Document sample_document() {
  document::Document document;
  document.title = "Do rotary positions help on noisy text?";
  document.subtitle = "wnut17 \u00B7 4 models \u00B7 5 seeds";
  document.facts = {{"runs", "15 of 16 complete"},         {"verified", "12 of 15, equal bits"},
                    {"compute", "7.4 h, 0.31 kWh"},        {"commit", "5d1b12d, clean"},
                    {"first run", "2026-03-02 09:14 UTC"}, {"device", "1 x H200"}};
  document.abstract = {
      document::Paragraph{document::Text(std::vector<document::Span>{
          {"Rotary positions reach "},
          {"54.13 %", document::Span::Kind::strong},
          {" entity F1 on the test set (95 % interval 53.24 to 55.03, n = 5), 1.73 points above the "
           "baseline (paired t, Holm-corrected p = 0.012); see "},
          {"", document::Span::Kind::reference, "results-test-f1"},
          {"."}})},
      document::Paragraph{"All runs but one finished. Twelve were trained again and gave equal bits."}};

  document::Section results_section{"results", "Results"};
  results_section.blocks = {
      document::Paragraph{"One question per table. Every run of the sweep is counted, also what failed."},
      results(),
      document::Notice{document::Text(std::vector<document::Span>{
          {"The run "},
          {"no-warm-up-6", document::Span::Kind::code},
          {" diverged at step 1,200; it is shown as a cross and has no score."}})},
      document::Figure{
          "seeds", "Test F1 of every seed with the mean and its interval.",
          "Test F1 by model: rotary positions 54.1, label smoothing 53.2, baseline 52.4, no warm-up 47.9 "
          "percent.",
          seeds()}};
  document::Section errors{"errors", "What is confused"};
  errors.blocks = {document::Figure{"confusion", "Confusion matrix of words, summed over five seeds.",
                                    "Most errors are entities taken for O.", confusion()},
                   document::Paragraph{document::Text(
                       std::vector<document::Span>{{"Dr "},
                                                   {"Ayesha Khan", document::Span::Kind::right, "person"},
                                                   {" of "},
                                                   {"Acme", document::Span::Kind::missed, "corporation"},
                                                   {" moved to "},
                                                   {"Big Easy", document::Span::Kind::wrong, "group"},
                                                   {" last spring."}})}};
  results_section.sections = {errors};

  document::Section curves{"curves", "Training"};
  curves.blocks = {
      document::Figure{
          "loss", "Training loss with the range over seeds. A cross marks a step whose loss was not finite.",
          "Three falling curves of the loss, ending near 0.02, 0.035 and 0.05 nats.", loss_curves()},
      document::Figure{
          "schedule", "Learning rate: linear warm-up over 1,280 steps, then linear decay to zero.",
          "The learning rate rises to 0.0005 at step 1,280 and falls to zero at 12,800.", schedule()},
      document::Figure{"workers", "Runs on workers.", "Three workers, thirty runs, one failed.", workers()}};
  document::Section sweep{"sweep", "The sweep"};
  sweep.blocks = {
      document::Figure{"parallel", "All trials of the sweep.",
                       "48 trials over five axes; the best has a learning rate near 1e-4.", trials()},
      document::Figure{"importance", "Importance of the parameters (functional ANOVA).",
                       "The learning rate explains 41 percent.", importance()},
      all_trials()};
  document::Section method{"method", "Method"};
  method.blocks = {
      document::Figure{
          "architecture", "The model. Boxes give sizes and parameters.",
          "Embedding, twelve blocks of attention and feed-forward with residuals, and a linear head.",
          architecture()},
      document::Figure{"lengths", "Lengths of the training sentences.",
                       "Most sentences have 10 to 60 tokens; 128 is the limit.", lengths()},
      document::Figure{"weights", "What two heads look at.",
                       "One head looks at its own token, one at the last.", weights()},
      document::Figure{"waves", "Sines of positions.", "Waves that grow shorter from left to right.",
                       waves()},
      document::Figure{"labels", "Entities in the training set.", "660 persons, 548 locations, then fewer.",
                       label_counts()},
      document::ItemList{
          {document::Text(std::vector<document::Span>{
               {"optimizer "}, {"adamw", document::Span::Kind::code}, {", weight decay 0.01"}}),
           "gradient clipping at 1.0",
           document::Text(std::vector<document::Span>{{"early stopping: "},
                                                      {"none", document::Span::Kind::emphasis}})}}};
  document::Section again{"reproduction", "Reproduction"};
  again.blocks = {document::Listing{"sh",
                                    "git checkout 5d1b12d\n./exp build\nexp run experiments/wnut17.toml -S "
                                    "model.width=384 -S optimizer.learning_rate=1e-4\nexp verify wnut17"},
                  document::Listing{"toml", "[model]\nwidth = 384\nlayers = 12\n"}};
  document.sections = {results_section, curves, sweep, method, again};
  return document;
}

/// Returns names that are markup, commands or invalid text in some format. A writer that a name breaks gets
/// that name here.
inline std::vector<std::string> hostile_names() {
  std::string longest;
  for (int i = 0; i < 10000; ++i) longest += static_cast<char>('a' + i % 26);
  return {
      "<script>alert(1)</script>",
      "\"><img src=x onerror='alert(1)'>",
      "</title></style></textarea><!-- ]]> -->",
      "\\input{/etc/passwd} \\end{document} \\write18{ls} ^^5c $x_1^2$ & # % ~ {",
      "| a | b |\n| --- | --- |\n# heading\n- item\n```\n[x](javascript:alert(1)) ![y](http://z) <b> *s* _e_ "
      "`c`",
      "=HYPERLINK(\"http://evil\",\"x\")",
      "+1,5;\"two\"\r\nlines",
      "{{body}} {{title}}",
      "\u202Egnp.exe \u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627",
      "\U0001F600\U0001F468\u200D\U0001F469\u200D\U0001F467 \u4E2D\u6587 e\u0301 \u00E9\u0142\u0111\u1EBF",
      std::string("nul\0bell\a esc\x1B[31m", 19),
      "bad \xFF\xC3\x28 utf-8 \xED\xA0\x80",
      "",
      longest};
}

/// Returns the rest of the line from the first "<" that the Markdown writer did not write itself, or an empty
/// string. Its own are anchors, <code>, and the targets of links and pictures; blocks of code may contain
/// anything.
inline std::string foreign_tag(const std::string& markdown) {
  std::string fence;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    const std::string ticks = line.substr(0, std::min(line.find_first_not_of('`'), line.size()));
    if (fence.empty() && ticks.size() >= 3)
      fence = ticks;
    else if (!fence.empty() && line == fence)
      fence.clear();
    else if (fence.empty()) {
      line = std::regex_replace(line, std::regex(R"(<a id="[\w-]+"></a>|</?code>|\]\(<[^<>]*>\))"), "");
      if (const std::size_t at = line.find('<'); at != std::string::npos) return line.substr(at);
    }
  }
  return {};
}

inline document::Document hostile_document() {
  const std::vector<std::string> names = hostile_names();
  document::Document document;
  document.title = names[0] + names[7];
  document.subtitle = names[3];
  document.abstract = {document::Paragraph{names[1]}};
  document::TableBlock table{
      "table <\"'|>", names[4], {{names[0]}, {names[1], names[3], true}, {names[13]}}, {}, {names[3]}};
  document::ItemList list;
  std::vector<document::Span> spans;
  document::LineChart lines{{names[0], names[3]}, {names[4], names[8]}, {}};
  document::BarChart bars{{names[9]}, true, {}};
  document::ScatterChart scatter{{names[2]}, {names[3]}, names, {{names[0], {}}}};
  document::MatrixChart matrix{names[0], names[3], names, {}};
  document::HeatMapChart map{.row_title = names[0],
                             .column_title = names[3],
                             .value_title = names[1],
                             .rows = names,
                             .columns = names,
                             .panels = {{names[4], std::vector<double>(names.size() * names.size(), 0.5)},
                                        {names[2], {nan, 7.0, -3.0}}},
                             .across = 2};
  document::ParallelChart parallel;
  document::TimelineChart timeline{
      names, {}, {{document::Tone::good, names[3]}, {document::Tone::bad, names[13]}}};
  document::FlowChart flow;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto x = static_cast<double>(i);
    table.rows.push_back({names[i], document::TableCell(names[i], x), names[(i + 1) % names.size()]});
    list.items.push_back(names[i]);
    for (const auto kind :
         {document::Span::Kind::plain, document::Span::Kind::strong, document::Span::Kind::code,
          document::Span::Kind::right, document::Span::Kind::wrong, document::Span::Kind::missed})
      spans.push_back({names[i], kind, names[i]});
    lines.series.push_back(
        {names[i], {0, 1, 2, nan}, {x, nan, x + 1, std::numeric_limits<double>::infinity()}});
    bars.bars.push_back({names[i], i == 3 ? nan : x - 4.0, {}, {}});
    scatter.groups[0].points.push_back({x, x, x - 1, x + 1, names[i]});
    matrix.counts.emplace_back(names.size(), x);
    parallel.dimensions.push_back({names[i]});
    if (i % 3 == 0) parallel.dimensions.back().categories = names;
    parallel.lines.push_back({names[i], std::vector<double>(names.size(), i == 2 ? nan : x)});
    timeline.bars.push_back({i, x, x + 5.0, names[i], document::Tone::good});
    flow.boxes.push_back({names[i], names[(i + 3) % names.size()], document::Tone::first, {}});
  }
  flow.boxes[4].skip_from = 1;
  flow.groups = {{names[3], 2, 5, 12}};
  document::Section section{"section <\"'|>", names[0]};
  section.blocks = {document::Notice{names[3]}, table, list, document::Paragraph{document::Text(spans)}};
  for (const std::string& name : names)
    section.blocks.push_back(document::Listing{"sh", name + "\n\\end{verbatim}\n```\n"});
  document::Section inner{"section-<\"'|>", names[4]};
  int number = 0;
  for (const document::Chart& chart :
       std::vector<document::Chart>{lines, bars, scatter, matrix, map, parallel, timeline, flow})
    inner.blocks.push_back(document::Figure{"figure/" + std::to_string(++number) + "/../<\">", names[0],
                                            names[1] + names[13], chart});
  section.sections = {inner};
  document.sections = {section};
  for (const std::string& name : names) document.facts.emplace_back(name, name);
  return document;
}

}  // namespace encore::samples

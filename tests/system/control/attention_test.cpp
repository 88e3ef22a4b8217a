// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp attention` with the real worker (cli/attention_verb.cpp, worker/attention_verb.cpp): the
// numbers, the page, the picture, attention in a report (report/attention.cpp), and the rejected calls. The
// words of messages and the look of a page may change; that weights of a row add up to 1 must hold.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "system/control/days.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class LookedAt : public RealWorkerTest {
 protected:
  LookedAt() {
    write_days(sandbox_, "days");
    output_of({"run", "days.toml", "-q", "-S", "train.steps=5", "-S", "model.layers=2"});
  }
  json weights_of(std::vector<std::string> options) const {
    options.insert(options.begin(), {"attention", "days"});
    options.emplace_back("--json");
    return json::parse(output_of(options));
  }
  void expect_refused(std::vector<std::string> options, const std::string& message) const {
    options.insert(options.begin(), {"attention", "days"});
    const runner::ProgramOutput output = sandbox_.exp(options);
    EXPECT_EQ(output.end.exit_code, 2) << output.errors;
    EXPECT_NE(output.errors.find(message), std::string::npos) << output.errors;
  }
  std::string contents(const std::string& name) const {
    std::ifstream file(sandbox_.folder() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(LookedAt, NumbersAreSharesOfWhatStandsBefore) {
  const json answer = weights_of({"mon day"});
  EXPECT_EQ(answer.at("run"), "days");
  EXPECT_EQ(answer.at("text"), "mon day");
  EXPECT_EQ(answer.at("step"), 5);
  const json& text = answer.at("texts").at(0);
  std::string tokens;
  for (const json& token : text.at("tokens"))
    if (!token.value("special", false)) tokens += token.at("piece").get<std::string>();
  EXPECT_EQ(tokens, "mon␣day");
  ASSERT_EQ(text.at("layers").size(), 2U);
  for (const json& layer : text.at("layers")) {
    EXPECT_EQ(layer.at("type"), "self_attention");
    ASSERT_EQ(layer.at("heads").size(), 2U);
    for (const json& head : layer.at("heads")) {
      ASSERT_EQ(head.at("weights").size(), text.at("tokens").size());
      for (std::size_t i = 0; i < head.at("weights").size(); ++i) {
        const auto row = head.at("weights")[i].get<std::vector<double>>();
        double sum = 0.0;
        for (std::size_t j = 0; j < row.size(); ++j) {
          sum += row[j];
          EXPECT_TRUE(j <= i ? row[j] > 0.0 : row[j] == 0.0) << i << " looks at " << j;
        }
        EXPECT_NEAR(sum, 1.0, 1e-5);
      }
    }
  }
}

TEST_F(LookedAt, LayersAndHeadsAreChosen) {
  const json all = weights_of({"monday"}).at("texts").at(0).at("layers");
  const json one = weights_of({"monday", "--layer", "1", "--head", "0"}).at("texts").at(0).at("layers");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].at("layer"), all[1].at("layer"));
  ASSERT_EQ(one[0].at("heads").size(), 1U);
  EXPECT_EQ(one[0].at("heads")[0], all[1].at("heads")[0])
      << "the same numbers, regardless of what else is shown";
  const std::string path = all[0].at("layer");
  EXPECT_EQ(weights_of({"monday", "--layer", path}).at("texts").at(0).at("layers"), json::array({all[0]}));
  EXPECT_EQ(weights_of({"monday", "--threads", "1"}).at("texts").at(0).at("layers"), all);
}

TEST_F(LookedAt, APageAndAPicture) {
  const std::string said = output_of({"attention", "days", "monday tuesday"});
  EXPECT_EQ(said.substr(0, said.find('\n')),
            "Attention of days (step 5, 4 maps of 2 layers, 15 tokens) written to days.attention.html");
  const std::string page = contents("days.attention.html");
  EXPECT_NE(page.find("monday tuesday"), std::string::npos);
  EXPECT_NE(page.find(R"({"piece":"y"})"), std::string::npos);
  output_of({"attention", "days", "monday tuesday"});
  EXPECT_EQ(contents("days.attention.html"), page) << "written again, the same bytes";

  output_of({"attention", "days", "monday", "--head", "1", "-o", "head.svg"});
  const std::string picture = contents("head.svg");
  EXPECT_TRUE(picture.starts_with("<svg") || picture.starts_with("<?xml")) << picture.substr(0, 80);
  EXPECT_NE(picture.find("head 1"), std::string::npos);
  EXPECT_EQ(picture.find("head 0"), std::string::npos);
}

/// A mistake in the page's script would leave a page that exists but is empty.
TEST_F(LookedAt, ABrowserDrawsThePage) {
  if (!Sandbox::has("chromium")) GTEST_SKIP() << "chromium is not installed";
  output_of({"attention", "days", "mon day", "-o", "page.html"});
  const std::string drawn = sandbox_
                                .shell(
                                    "chromium --headless --no-sandbox --disable-gpu --user-data-dir=browser "
                                    "--virtual-time-budget=5000 --dump-dom file://$PWD/page.html")
                                .output;
  const auto times = [&](const std::string& text) {
    int found = 0;
    for (std::size_t at = drawn.find(text); at != std::string::npos; at = drawn.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(times("aria-pressed=\"true\""), 1) << drawn;
  EXPECT_EQ(times("aria-pressed=\"false\""), 5) << "2 layers, each with 2 heads and their mean";
  EXPECT_EQ(times("<h2 id=\"map-title\">encoder.0.attention, head 0</h2>"), 1);
  EXPECT_EQ(times("Weights of encoder.0.attention, head 0: 8 rows, 8 columns"), 1);
  EXPECT_EQ(times(">mon day<"), 1) << "the heading";
}

TEST_F(LookedAt, AReportDrawsTheStoredAttentionOfARun) {
  output_of(
      {"run", "tiny.toml", "-q", "--name", "kept", "-S", "train.epochs=1", "-S", "train.show_attention=1"});
  output_of({"report", "kept", "--sections", "attention", "-o", "kept.md"});
  const std::string report = contents("kept.md");
  EXPECT_NE(report.find("Attention\n"), std::string::npos) << report;
  EXPECT_NE(report.find("example 1 of dev"), std::string::npos) << report;
  EXPECT_NE(report.find("](<kept.files/attention-"), std::string::npos) << report;
  EXPECT_NE(output_of({"verify", "kept"}).find("kept equal: "), std::string::npos);

  // The option is not part of the run's identity: the existing run becomes private.
  output_of({"run", "tiny.toml", "-q", "--name", "kept", "-S", "train.epochs=1", "-S",
             "train.show_attention=1", "-S", "data.private=true"});
  output_of({"report", "kept", "-o", "private.md"});
  EXPECT_EQ(contents("private.md").find("example 1 of dev"), std::string::npos)
      << "the content of examples was not requested";
  output_of({"report", "kept", "--sections", "attention", "-o", "asked.md"});
  EXPECT_NE(contents("asked.md").find("example 1 of dev"), std::string::npos);

  const std::string file =
      sandbox_.one("SELECT 'encore.db.runs/' || run.id || '/attention.json' FROM run WHERE name = 'kept'");
  std::ofstream(sandbox_.folder() / file) << "{}";
  output_of({"report", "kept", "--sections", "attention", "-o", "changed.md"});
  EXPECT_NE(contents("changed.md").find("is not the file that was recorded"), std::string::npos);
  EXPECT_EQ(sandbox_.exp({"report", "days", "--sections", "attention", "-o", "none.md"}).end.exit_code, 2)
      << "nothing was kept";
}

TEST_F(LookedAt, WhatCannotBeShownIsRefused) {
  expect_refused({}, "exp attention needs a text (");
  expect_refused({"  "}, "the text is empty; give one with at least one word");
  expect_refused({"monday", "--layer", "7"}, "there is no layer \"7\" with attention weights; the model has");
  expect_refused({"monday", "--head", "2"},
                 "there is no head 2; the chosen layers have 2 heads, counted from 0");
  expect_refused({"monday", "--target", "day"}, "leave out --target");
  expect_refused({"monday", "-o", "map.png"},
                 "-o map.png has no known format: expected a name that ends in .html or .svg");
  expect_refused({"monday", "-o", ".svg.d/"}, "-o .svg.d/ has no known format");
  expect_refused({"monday", "--json", "-o", "map.svg"}, "--json prints to standard output");
  std::filesystem::create_directory(sandbox_.folder() / "maps.html");
  expect_refused({"monday", "-o", "maps.html"}, "-o maps.html is a folder; name a file in it");
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "days.attention.html"));
}

TEST_F(LookedAt, ALayerWithoutWeightsIsNamed) {
  output_of({"run", "tiny.toml", "-q", "--name", "mixed", "-S", "train.epochs=1", "-S",
             "model.block=[\"attention\", \"mix\", \"feed_forward\"]", "-S",
             "model.layer.mix.type=linear_attention", "-S", "model.layer.mix.heads=2"});
  const std::string said = output_of({"attention", "mixed", "Anna lives in Lund"});
  EXPECT_NE(said.find("Not shown, because they have no attention weights: encoder.0.mix"), std::string::npos)
      << said;
  EXPECT_NE(said.find("(linear_attention)"), std::string::npos) << said;
  const runner::ProgramOutput asked =
      sandbox_.exp({"attention", "mixed", "Anna", "--layer", "encoder.0.mix"});
  EXPECT_EQ(asked.end.exit_code, 2);
  EXPECT_NE(asked.errors.find("layer encoder.0.mix is a linear_attention, which has no attention weights; "
                              "those of this model have encoder.0.attention"),
            std::string::npos)
      << asked.errors;

  output_of({"run", "tiny.toml", "-q", "--name", "none", "-S", "train.epochs=1", "-S",
             "model.layer.attention.type=linear_attention"});
  const runner::ProgramOutput kept =
      sandbox_.exp({"run", "tiny.toml", "-q", "--name", "none-kept", "-S",
                    "model.layer.attention.type=linear_attention", "-S", "train.show_attention=1"});
  EXPECT_EQ(kept.end.exit_code, 2);
  EXPECT_NE(kept.errors.find("no layer of this model has attention weights to keep; leave it out"),
            std::string::npos)
      << kept.errors;
  const runner::ProgramOutput none = sandbox_.exp({"attention", "none", "Anna"});
  EXPECT_EQ(none.end.exit_code, 2);
  EXPECT_NE(none.errors.find("no layer of this model has attention weights that could be shown; its layers "
                             "are of type \"linear_attention\""),
            std::string::npos)
      << none.errors;
}

}  // namespace
}  // namespace encore::system_test

// SPDX-License-Identifier: BSD-3-Clause
// Checks that the tables in docs/reference/options.md and training_options.md equal the schemas of the
// options, and tests the writer of such tables (config/markdown.hpp). After a change of an option, run this
// program with ENCORE_WRITE_DOCUMENTS=1 to write the tables again; the text around them stays.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "config/core_schema.hpp"
#include "config/experiment_file.hpp"
#include "config/markdown.hpp"
#include "support/places.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::config {
namespace {

const std::vector<std::string> pages = {ENCORE_SOURCE_DIR "/docs/reference/options.md",
                                        ENCORE_SOURCE_DIR "/docs/reference/training_options.md"};

std::string read_page(const std::string& page) {
  std::ifstream stream(page);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(OptionPages, HaveTheTablesOfTheSchemas) {
  for (const std::string& page : pages) {
    const std::string text = read_page(page);
    ASSERT_FALSE(text.empty()) << page;
    const std::string current = with_option_tables(text);
    if (std::getenv("ENCORE_WRITE_DOCUMENTS") != nullptr) std::ofstream(page) << current;
    EXPECT_EQ(read_page(page), current) << "run this test with ENCORE_WRITE_DOCUMENTS=1";
  }
}

TEST(OptionPages, HaveATableForEveryCoreSchema) {
  std::string text;
  for (const std::string& page : pages) text += read_page(page);
  for (const char* name :
       {"experiment", "data", "model", "train", "sweep", "search", "app", "app.step.model"})
    EXPECT_NE(text.find("<!-- options of " + std::string(name) + " -->"), std::string::npos) << name;
}

TEST(Markdown, RendersEveryKindOfOption) {
  const Schema schema =
      Schema()
          .number("rate", 1.0, {.help = "a rate", .unit = "seconds", .min = 0, .exclusive_min = true})
          .choice("kind", "a", {"a", "b"}, {.help = "a kind"})
          .required("file", OptionType::path, {.help = "a file"})
          .text_list("words", {"x", "y"}, {.help = "words"});
  EXPECT_EQ(markdown_options(schema),
            "| option | type | default | range | meaning |\n|---|---|---|---|---|\n"
            "| `rate` | number, seconds | `1.0` | above 0 | a rate |\n"
            "| `kind` | text | `\"a\"` | `\"a\"`, `\"b\"` | a kind |\n"
            "| `file` | path | **required** |  | a file |\n"
            "| `words` | text list | `[\"x\", \"y\"]` |  | words |\n");
}

TEST(Markdown, ShowsFieldsAndMeasures) {
  const std::vector<Manifest> manifests = sample::catalogue().manifests();
  const std::string page = markdown_plugin(manifests.front());
  const std::string task =
      "\n## task `classify`\nAn experiment file selects it with:\n\n```toml\n[task]\ntype = "
      "\"classify\"\n```\n\n"
      "| option | type | default | range | meaning |\n|---|---|---|---|---|\n"
      "| `top` | integer | `1` | at least 1 | a size |\n"
      "\nIt reads the field \"text\" of each record. Records for training and scoring also need the field "
      "\"label\".\n"
      "\n| measure | better | meaning |\n|---|---|---|\n| `accuracy` | higher | a share |\n"
      "| `confusion` | - | truth and prediction |\n"
      "\nWithout `train.select`, the best checkpoint is chosen by max dev/accuracy (the highest accuracy on "
      "the "
      "development set).\n"
      "\nThis is version 2 of the task. With equal options, earlier versions gave other results. The version "
      "is part of the identity of a run.\n";
  EXPECT_NE(page.find(task), std::string::npos) << page;
  const std::string reader =
      "\n## reader `conll`\nOne token per line.\n\nAn experiment file selects it "
      "with:\n\n```toml\n[data]\ntype = \"conll\"\n```\n\nIt has no "
      "options.\n\nEach record has the fields \"words\" and \"tags\".\n";
  EXPECT_NE(page.find(reader), std::string::npos) << page;
  EXPECT_NE(page.find("| `f1/{label}` | higher | a share; not every run has it |\n"), std::string::npos)
      << page;
}

TEST(Markdown, ShowsHowAStepIsSelectedAndWhatItAsks) {
  const Manifest manifest = {.name = "sorting",
                             .version = "1",
                             .fingerprint = "",
                             .library = "",
                             .offers = {{.kind = Kind::step,
                                         .name = "sorter",
                                         .measures = {{.name = "share", .help = "a share"}},
                                         .select = "max dev/share",
                                         .asks_model = true}}};
  EXPECT_EQ(
      markdown_plugin(manifest),
      "# Plugin `sorting` 1\n\n"
      "This page lists the options of the step `sorter`. It is for users who write an experiment file, the "
      "TOML file that describes an application (steps that answer requests with trained "
      "models). A *step* is one of the parts of an application, through which every request passes in "
      "turn.\n\n## step `sorter`\n"
      "An experiment file selects it with these lines. NAME is a name of your choice, which `app.steps` "
      "lists:\n\n```toml\n[app.step.NAME]\ntype = \"sorter\"\nmodel = { run = \"RUN\" }\n```\n\nIt has no "
      "options.\n"
      "\nIt asks the model of a run. The option `model` names the run: { run = \"RUN\" } for a completed "
      "run, { experiment = \"FILE.toml\" } for a run that is trained first, or { folder = \"DIR\" } for a "
      "model of Hugging Face.\n"
      "\n| measure | better | meaning |\n|---|---|---|\n| `share` | higher | a share |\n"
      "\nWithout `app.select`, applications are compared by the highest share on the development set, if "
      "this is the last step with such a measure.\n");
}

TEST(Markdown, SaysAtTheBeginningOfAPageWhatEachKindOfPartIs) {
  const Manifest manifest = {.name = "two",
                             .version = "1",
                             .fingerprint = "",
                             .library = "",
                             .offers = {{.kind = Kind::optimizer, .name = "fast"},
                                        {.kind = Kind::optimizer, .name = "slow"},
                                        {.kind = Kind::reader, .name = "rows"}}};
  const std::string page = markdown_plugin(manifest);
  EXPECT_TRUE(page.starts_with(
      "# Plugin `two` 1\n\nThis page lists the options of the optimizer `fast`, the optimizer `slow` and the "
      "reader `rows`. It is for users who write an experiment file, the TOML file that describes a training. "
      "An *optimizer* is the rule that changes the parameters of a model in each training step, using their "
      "gradients. A *reader* turns a data file into *records*: entries with named fields, which the task "
      "turns into examples.\n\n## optimizer `fast`\n"))
      << page;
}

TEST(Markdown, RefusesAMarkWithoutASchemaOrAnEnd) {
  EXPECT_THROW(with_option_tables("<!-- options of nothing -->\n<!-- end -->\n"), Error);
  EXPECT_THROW(with_option_tables("<!-- options of train -->\nold\n"), Error);
  EXPECT_EQ(with_option_tables("no marks\n"), "no marks\n");
}

}  // namespace
}  // namespace encore::config

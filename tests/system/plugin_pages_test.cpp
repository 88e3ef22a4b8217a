// SPDX-License-Identifier: BSD-3-Clause
// Tests that the pages in docs/reference/plugins/ equal those that markdown_plugin() makes of the manifests
// of this build (config/markdown.hpp), with an example of the data files of a reader and with links. After a
// change of an option, run this program with ENCORE_WRITE_DOCUMENTS=1 to write them again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "config/catalogue.hpp"
#include "config/markdown.hpp"
#include "support/places.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;

const fs::path folder = ENCORE_SOURCE_DIR "/docs/reference/plugins";

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<config::Manifest> built_in() {
  return config::Catalogue::load({ENCORE_BUILD_DIR "/lib/encore/plugins"}).manifests();
}

/// An example of the data files of a reader, for its page.
struct DataExample {
  std::string train, dev;  ///< as the options train and dev name them
  std::string sentence;    ///< what the sample shows
  std::string language;    ///< of the sample's block
  std::string sample;      ///< lines of a data file
};

/// Returns the example of each reader that ships, by the name of its plugin.
const std::map<std::string, DataExample>& data_examples() {
  static const std::map<std::string, DataExample> examples = {
      {"conll",
       {.train = "\"train.conll\"",
        .dev = "\"dev.conll\"",
        .sentence = "Each line of `train.conll` has a token and its tag; an empty line ends a sentence:",
        .language = "text",
        .sample = "Anna B-PER\nBerg I-PER\nlives O\nin O\nLund B-LOC\n. O\n\nShe O\nslept O\n"}},
      {"jsonl",
       {.train = "\"train.jsonl\"",
        .dev = "\"dev.jsonl\"",
        .sentence = "Each line of `train.jsonl` is one example; blank lines are skipped:",
        .language = "json",
        .sample = "{\"text\": \"great film\", \"label\": \"positive\"}\n"
                  "{\"text\": \"not worth seeing\", \"label\": \"negative\"}\n"}},
      {"parallel",
       {.train = "[\"train.en\", \"train.de\"]",
        .dev = "[\"dev.en\", \"dev.de\"]",
        .sentence =
            "The lines of `train.en` are the sources. The first line of `train.de` is the target of the "
            "first source, such as `Eine Katze ruht.`:",
        .language = "text",
        .sample = "A cat rests.\nTwo dogs run.\n"}},
      {"squad",
       {.train = "\"train.json\"",
        .dev = "\"dev.json\"",
        .sentence = "This is a whole `train.json` with two questions. `answer_start` is the position of the "
                    "answer in "
                    "the context, counted in Unicode code points from 0. The second question has no answer, "
                    "as in SQuAD "
                    "2.0:",
        .language = "json",
        .sample =
            "{\"data\": [{\"title\": \"Lund\", \"paragraphs\": [{\n"
            "  \"context\": \"Anna lives in Lund.\",\n"
            "  \"qas\": [{\"id\": \"q1\", \"question\": \"Where does Anna live?\",\n"
            "           \"answers\": [{\"text\": \"Lund\", \"answer_start\": 14}]},\n"
            "          {\"id\": \"q2\", \"question\": \"Where does Berg live?\", \"is_impossible\": true,\n"
            "           \"answers\": []}]}]}]}\n"}},
      {"text_file",
       {.train = "\"train.txt\"",
        .dev = "\"dev.txt\"",
        .sentence =
            "`train` may also be a folder or a list of files. Each line of `train.txt` is one record, "
            "unless `record` has another value:",
        .language = "text",
        .sample = "Anna lives in Lund.\nShe works in a library.\n"}},
      {"tsv",
       {.train = "\"train.tsv\"",
        .dev = "\"dev.tsv\"",
        .sentence = "Each line of `train.tsv` has a text, a tab and a label:",
        .language = "text",
        .sample = "great film\tpositive\nnot worth seeing\tnegative\n"}}};
  return examples;
}

/// Returns the section with the example of a reader, or "" for a plugin without one.
std::string example_of(const config::Manifest& manifest) {
  const auto found = data_examples().find(manifest.name);
  if (found == data_examples().end()) return "";
  const DataExample& example = found->second;
  return "\n## Example\n\n"
         "This part of an experiment file names two data sets. `root` is their folder, relative to the "
         "folder of the experiment\nfile. The model learns from `train`, and `dev` chooses the best "
         "checkpoint:\n\n"
         "```toml\n[data]\ntype = \"" +
         manifest.name + "\"\nroot = \"data\"\ntrain = " + example.train + "\ndev = " + example.dev +
         "\n```\n\n" + example.sentence + "\n\n```" + example.language + "\n" + example.sample + "```\n";
}

/// Returns the line that links the tasks that a reader serves, or the readers that serve a task.
std::string partners_of(const config::Manifest& manifest, const std::vector<config::Manifest>& all) {
  std::string readers, tasks;
  const auto add = [](std::string& list, const config::Manifest& of, const config::ManifestOffer& offer) {
    list += (list.empty() ? "" : ", ") + std::string("[`") + offer.name + "`](" + of.name + ".md)";
  };
  for (const config::ManifestOffer& own : manifest.offers)
    for (const config::Manifest& other : all)
      for (const config::ManifestOffer& offer : other.offers) {
        if (own.kind == Kind::reader && offer.kind == Kind::task && missing_fields(offer, own).empty())
          add(tasks, other, offer);
        if (own.kind == Kind::task && offer.kind == Kind::reader && missing_fields(own, offer).empty())
          add(readers, other, offer);
      }
  return (tasks.empty() ? "" : "- Tasks whose fields it can give: " + tasks + "\n") +
         (readers.empty() ? "" : "- Readers that can give its fields: " + readers + "\n");
}

/// Returns the lines that link the guides to the tasks of a plugin.
std::string guides_of(const config::Manifest& manifest) {
  static const std::map<std::string, std::string> others = {
      {"lm", "language_modelling"}, {"summarize", "translation"}, {"translate", "translation"}};
  std::string lines;
  for (const config::ManifestOffer& offer : manifest.offers) {
    if (offer.kind != Kind::task) continue;
    const auto other = others.find(offer.name);
    const std::string page = (other == others.end() ? "tasks/" + offer.name : other->second) + ".md";
    if (fs::exists(folder.parent_path().parent_path() / "guides" / page))
      lines += "- [Guide to `" + offer.name + "`](../../guides/" + page +
               "): an experiment file, the data, and predictions\n";
  }
  return lines;
}

/// Returns the pages that a reader of a plugin's page needs next, by what the plugin offers.
std::string read_next(const config::Manifest& manifest, const std::vector<config::Manifest>& all) {
  static const std::map<Kind, std::string> links = {
      {Kind::layer,
       "- [Encoders](../../concepts/encoders.md): the kinds of layers side by side\n"
       "- [Layer contract](../layer_contract.md): what a layer may do, and what is checked\n"
       "- [Adding a layer](../../guides/adding_a_layer.md): to write one\n"},
      {Kind::head,
       "- [Adding a head](../../guides/adding_a_head.md): states, columns and outputs explained\n"
       "- [Tasks](../../guides/tasks.md): which tasks use which head\n"},
      {Kind::tokenizer,
       "- [Experiment file](../experiment_file.md): a whole file, with the table `[tokenizer]`\n"
       "- [Adding a tokenizer](../../guides/adding_a_tokenizer.md): to write one\n"},
      {Kind::optimizer,
       "- [Training options](../training_options.md): the options that all optimizers share\n"
       "- [Adding an optimizer](../../guides/adding_an_optimizer.md): to write one\n"},
      {Kind::schedule,
       "- [Training options](../training_options.md): the learning rate that it scales\n"
       "- [Adding a schedule](../../guides/adding_a_schedule.md): to write one\n"},
      {Kind::task,
       "- [Tasks](../../guides/tasks.md): each task with an example\n"
       "- [Measures](../measures.md): how measures are computed and compared\n"},
      {Kind::reader,
       "- [Data files](../data_files.md): the rules for all data files, and which reader fits which task\n"
       "- [Options](../options.md#task-and-data): the options of `[data]` that all readers share, such as "
       "`root` and `split`\n"
       "- [Adding a reader](../../guides/adding_a_reader.md): to write one\n"},
      {Kind::step,
       "- [Applications](../../guides/applications.md): how steps work together\n"
       "- [Adding a step](../../guides/adding_a_step.md): fields, fit and measures of a step; to write "
       "one\n"}};
  std::string text = "\n## Read next\n\n";
  std::set<Kind> kinds;
  for (const config::ManifestOffer& offer : manifest.offers) kinds.insert(offer.kind);
  text += guides_of(manifest);
  for (const Kind kind : kinds) text += links.at(kind);
  return text + partners_of(manifest, all) + "- [All plugins](README.md); `exp plugin info " + manifest.name +
         "` prints the same tables\n";
}

/// Returns every page by its file name.
std::map<std::string, std::string> pages() {
  const std::vector<config::Manifest> manifests = built_in();
  std::map<std::string, std::string> all = {{"README.md", config::markdown_plugin_index(manifests)}};
  for (const config::Manifest& manifest : manifests)
    all[manifest.name + ".md"] =
        config::markdown_plugin(manifest) + example_of(manifest) + read_next(manifest, manifests);
  return all;
}

/// Whether this build has all plugins that ship, so that its pages are those of docs/.
bool has_all() {
#if defined(ENCORE_HAVE_SENTENCEPIECE) && defined(ENCORE_HAVE_RE2)
  return true;
#else
  return false;
#endif
}
constexpr const char* left_out =
    "SentencePiece or RE2 was not there, so the tokenizer unigram or the step match is left out";

void write(const std::map<std::string, std::string>& current) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, text] : current) std::ofstream(folder / name, std::ios::binary) << text;
}

TEST(PluginPages, EqualTheManifests) {
  if (!has_all()) GTEST_SKIP() << left_out;
  const std::map<std::string, std::string> current = pages();
  ASSERT_GT(current.size(), 10u) << "the plugins are not built";
  if (std::getenv("ENCORE_WRITE_DOCUMENTS") != nullptr) write(current);
  for (const auto& [name, text] : current)
    EXPECT_EQ(content_of(folder / name), text) << name << ": run this test with ENCORE_WRITE_DOCUMENTS=1";
}

TEST(PluginPages, ThereIsNoneOfAPluginThatIsGone) {
  if (!has_all()) GTEST_SKIP() << left_out;
  const std::map<std::string, std::string> current = pages();
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_TRUE(current.contains(entry.path().filename()))
        << entry.path() << ": run these tests with ENCORE_WRITE_DOCUMENTS=1";
}

TEST(PluginPages, EveryReaderThatShipsHasAnExample) {
  for (const config::Manifest& manifest : built_in())
    for (const config::ManifestOffer& offer : manifest.offers)
      EXPECT_TRUE(offer.kind != Kind::reader || data_examples().contains(manifest.name))
          << manifest.name << ": add it to data_examples()";
}

TEST(PluginPages, EveryTypeThatShipsSaysInOneLineWhatItIs) {
  for (const config::Manifest& manifest : built_in())
    for (const config::ManifestOffer& offer : manifest.offers)
      EXPECT_FALSE(offer.summary.empty())
          << name_of(offer.kind) << " " << offer.name
          << ": its class needs  static constexpr const char* summary = \"...\";";
}

}  // namespace
}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Tests that the pages in docs/reference/plugins/ equal those that markdown_plugin() makes of the manifests
// of this build (config/markdown.hpp). After a change of an option, run this program with
// ENCORE_WRITE_DOCUMENTS=1 to write them again.
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

/// Returns the pages that a reader of a plugin's page needs next, by what the plugin offers.
std::string read_next(const config::Manifest& manifest) {
  static const std::map<Kind, std::string> links = {
      {Kind::layer,
       "- [Layer contract](../layer_contract.md): what a layer may do, and what is checked\n"
       "- [Adding a layer](../../guides/adding_a_layer.md): to write one\n"},
      {Kind::head,
       "- [Adding a head](../../guides/adding_a_head.md): states, columns and outputs explained\n"
       "- [Tasks](../../guides/tasks.md): which tasks use which head\n"},
      {Kind::tokenizer, "- [Adding a tokenizer](../../guides/adding_a_tokenizer.md): to write one\n"},
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
       "- [Data files](../data_files.md): what all readers share: fields, splits, bad rows\n"
       "- [Adding a reader](../../guides/adding_a_reader.md): to write one\n"},
      {Kind::step,
       "- [Adding a step](../../guides/adding_a_step.md): fields, fit and measures of a step; to write "
       "one\n"}};
  std::string text = "\n## Read next\n\n";
  std::set<Kind> kinds;
  for (const config::ManifestOffer& offer : manifest.offers) kinds.insert(offer.kind);
  for (const Kind kind : kinds) text += links.at(kind);
  return text + "- [All plugins](README.md); `exp plugin info " + manifest.name +
         "` prints this page's tables\n";
}

/// Returns every page by its file name.
std::map<std::string, std::string> pages() {
  const std::vector<config::Manifest> manifests = built_in();
  std::map<std::string, std::string> all = {{"README.md", config::markdown_plugin_index(manifests)}};
  for (const config::Manifest& manifest : manifests)
    all[manifest.name + ".md"] = config::markdown_plugin(manifest) + read_next(manifest);
  return all;
}

/// Whether this build has all plugins that ship, so that its pages are those of docs/.
bool has_all() {
#ifdef ENCORE_HAVE_SENTENCEPIECE
  return true;
#else
  return false;
#endif
}
constexpr const char* left_out = "SentencePiece was not there, so the tokenizer unigram is left out";

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

TEST(PluginPages, EveryTypeThatShipsSaysInOneLineWhatItIs) {
  for (const config::Manifest& manifest : built_in())
    for (const config::ManifestOffer& offer : manifest.offers)
      EXPECT_FALSE(offer.summary.empty())
          << name_of(offer.kind) << " " << offer.name
          << ": its class needs  static constexpr const char* summary = \"...\";";
}

}  // namespace
}  // namespace encore

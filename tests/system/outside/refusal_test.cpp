// SPDX-License-Identifier: BSD-3-Clause
// Tests what `exp plugin new` and `exp plugin build` reject, and with which messages (cli/plugin_project.cpp,
// app/plugin_project.hpp). The words may change; no file of the user may be overwritten.
#include <gtest/gtest.h>

#include "system/outside/workshop.hpp"

namespace encore::system_test {
namespace {

void expect_refused(const Workshop& shop, const std::string& command, int exit_code,
                    const std::string& message) {
  const runner::ProgramOutput output = shop.shell(command);
  EXPECT_EQ(output.end.exit_code, exit_code) << command << "\n" << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, message)) << command << "\n" << output.errors;
}

TEST(PluginNew, RefusesNamesThatCannotBeOne) {
  const Workshop shop;
  const std::string why =
      "cannot be the name of a plugin: expected at most 64 lower-case letters, digits and _, beginning with "
      "a letter, such as my_layers";
  for (const std::string name : {"MyLayers", "my-layers", "1layer", "_layer", "../up", "mög", "a b"})
    expect_refused(shop, "exp plugin new '" + name + "'", 2, "\"" + name + "\" " + why);
  expect_refused(shop, "exp plugin new " + std::string(65, 'a'), 2, why);
  expect_refused(shop, "exp plugin new test", 2, "\"test\" is a reserved name in builds; choose another");
  expect_refused(shop, "exp plugin new", 2, "exp plugin new needs a name");
  EXPECT_TRUE(std::filesystem::is_empty(shop.folder()));
}

TEST(PluginNew, RefusesNamesThatAreTaken) {
  const Workshop shop;
  expect_refused(shop, "exp plugin new self_attention", 2, "the plugin \"self_attention\" already exists (");
  expect_refused(shop, "exp plugin new self_attention", 2, "self_attention.json); choose another name");
  expect_refused(shop, "exp plugin new adamw", 2, "an optimizer \"adamw\" already exists (");
  EXPECT_TRUE(std::filesystem::is_empty(shop.folder()));
}

TEST(PluginNew, RefusesKindsWithoutATemplate) {
  const Workshop shop;
  expect_refused(shop, "exp plugin new a --kind laier", 2,
                 "invalid --kind \"laier\"; did you mean \"layer\"?");
  for (const std::string kind : {"norm", ""})
    expect_refused(shop, "exp plugin new a --kind '" + kind + "'", 2,
                   "invalid --kind \"" + kind +
                       "\": expected \"head\", \"layer\", \"optimizer\", \"reader\", \"schedule\", \"step\", "
                       "\"task\", \"tokenizer\"");
  EXPECT_TRUE(std::filesystem::is_empty(shop.folder()));
}

TEST(PluginNew, NeverOverwritesFiles) {
  const Workshop shop;
  shop.write("mine/notes.txt", "mine");
  expect_refused(shop, "exp plugin new mine", 2,
                 "mine exists and is not empty; choose another name, or another place with --into");
  EXPECT_EQ(shop.read("mine/notes.txt"), "mine");
  shop.write("file", "");
  expect_refused(shop, "exp plugin new file", 2, "file exists and is not empty");
  expect_refused(shop, "exp plugin new a --into file", 2, "cannot make file/a: Not a directory");
  const runner::ProgramOutput made =
      shop.shell("mkdir empty; exp plugin new empty; exp plugin new b --into deep/down");
  EXPECT_TRUE(made.end.success()) << made.errors;
  EXPECT_TRUE(contains(shop.read("empty/empty.cpp"), "class EmptyLayer final : public Layer"));
  EXPECT_TRUE(contains(shop.read("deep/down/b/CMakeLists.txt"), "encore_add_plugin(b layer SOURCES b.cpp)"));
}

TEST(PluginBuild, RefusesAReaderWithAnOptionOfData) {
  const Workshop shop;
  shop.shell("exp plugin new rows --kind reader; sed -i 's/\"header\"/\"train\"/' rows/rows.cpp");
  const runner::ProgramOutput output = shop.shell("exp plugin build rows");
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_TRUE(
      contains(output.output + output.errors,
               "encore-manifest: reader \"rows\" declares an option \"train\", which [data] has of its own; "
               "give it another name"))
      << output.output << output.errors;
}

TEST(PluginBuild, RejectsFoldersWithoutAPlugin) {
  const Workshop shop;
  shop.write("empty/notes.txt", "");
  expect_refused(shop, "exp plugin build absent", 2,
                 "there is no folder absent; run exp plugin new to make one");
  expect_refused(shop, "exp plugin build empty", 2, "empty has no CMakeLists.txt: expected a folder from");
  expect_refused(shop, "exp plugin build", 2, "exp plugin build needs the folder of a plugin");
  expect_refused(shop, "exp plugin new a; exp plugin build a --backend cudda", 2,
                 "unknown backend \"cudda\"; did you mean \"cuda\"?");
  expect_refused(shop, "exp plugin buidl a", 2, "exp plugin has no \"buidl\"; did you mean \"build\"?");
}

TEST(PluginBuild, PassesOnTheMessagesOfTheTools) {
  const Workshop shop;
  shop.shell("exp plugin new a");
  shop.write("a/a.cpp", "int broken(\n");
  shop.write("a/a_test.cpp", "int main() {}\n");
  const runner::ProgramOutput output = shop.shell("exp plugin build a");
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_TRUE(contains(output.output + output.errors, "a/a.cpp:"))
      << "the compiler's place: " << output.output;
  EXPECT_TRUE(contains(output.errors, "exp: a could not be built; see the message above")) << output.errors;

  shop.write("a/a.cpp", "extern \"C\" int nothing() { return 0; }\n");
  const runner::ProgramOutput no_plugin = shop.shell("exp plugin build a");
  EXPECT_EQ(no_plugin.end.exit_code, 1);
  EXPECT_TRUE(
      contains(no_plugin.output + no_plugin.errors, "not an Encore plugin; its source must end with "))
      << no_plugin.output << no_plugin.errors;

  shop.write("a/CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.25)\nproject(a LANGUAGES CXX)\nfind_packag(encore)\n");
  expect_refused(shop, "exp plugin build a", 1, "exp: CMake could not configure a; see its message above");
  expect_refused(shop, "exp plugin build a", 1, "Unknown CMake command \"find_packag\"");

  shop.write("a/CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.25)\nproject(a LANGUAGES CXX)\nfind_package(encore REQUIRED)\n"
             "encore_add_plugin(a layr SOURCES a.cpp)\n");
  expect_refused(shop, "exp plugin build a", 1, "encore_add_plugin(a): unexpected \"layr\"");

  shop.write("b/CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(b LANGUAGES NONE)\n");
  expect_refused(shop, "exp plugin build b", 1,
                 "exp: built b, but found no plugin in b/build/" ENCORE_BACKEND_NAME
                 "/plugins: call encore_add_plugin() in its CMakeLists.txt");
}

}  // namespace
}  // namespace encore::system_test

// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp plugin ls` and `exp plugin info` (cli/plugin_ls.cpp, cli/plugin_info.cpp, config/catalogue.hpp),
// and the message of a run whose plugin is missing. The control program must read manifests only, so a copy
// of any shared object serves as a plugin. The printed words may change; members of JSON must stay.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/fingerprint.hpp"
#include "config/manifest.hpp"
#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

/// Adds a plugin `folder`/`type`.so that offers the schedule `type`; `change` may edit its manifest before it
/// is written.
void add_plugin(const Sandbox& sandbox, const std::string& folder, const std::string& type,
                const std::function<void(config::Manifest&)>& change = {}) {
  config::Manifest manifest{
      type + "_plugin", "1.0.0", std::string(config::host_fingerprint()), type + ".so", {}};
  manifest.offers = {{Kind::schedule, type, 1,
                      Schema()
                          .integer("warmup_steps", 10, {.help = "steps up", .unit = "steps", .min = 0})
                          .choice("shape", "flat", {"flat", "round"}, {.help = "how it ends"}),
                      "a schedule of a test"}};
  if (change) change(manifest);
  sandbox.write(folder + "/" + type + ".json", config::manifest_to_json(manifest).dump());
  fs::copy_file(built_in_plugins() / "constant_schedule.so", sandbox.folder() / folder / (type + ".so"),
                fs::copy_options::overwrite_existing);
}

/// Returns tiny.toml with this schedule; `top` are lines before it.
std::string with_schedule(const std::string& type, const std::string& top = "") {
  std::string text = top + tiny_experiment();
  return text.replace(text.find("\"constant\""), 10, "\"" + type + "\"");
}

std::string here(const Sandbox& sandbox) {
  return fs::canonical(sandbox.folder()).string();
}

nlohmann::json listed(const Sandbox& sandbox, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"plugin", "ls", "--json"});
  const runner::ProgramOutput output = sandbox.exp(arguments);
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  return nlohmann::json::parse(output.output, nullptr, false);
}

/// Returns the reason for which `file` is rejected.
std::string refusal(const nlohmann::json& list, const std::string& file) {
  for (const nlohmann::json& refused : list.at("refused"))
    if (refused.at("file").get<std::string>().ends_with(file)) return refused.at("reason");
  return "not refused: " + list.at("refused").dump();
}

TEST(PluginLs, ShowsWhatShips) {
  const Sandbox sandbox;
  const runner::ProgramOutput text = sandbox.exp({"plugin", "ls"});
  EXPECT_EQ(text.end.exit_code, 0) << text.errors;
  for (const char* part : {"NAME", "VERSION", "OFFERS", "layer_norm", "optimizer adam, optimizer adamw",
                           "feed_forward.so", "0 refused"})
    EXPECT_TRUE(contains(text.output, part)) << part << "\n" << text.output;
  const nlohmann::json list = listed(sandbox);
  EXPECT_GE(list.at("plugins").size(), 10u);
  EXPECT_EQ(list.at("plugins").at(0).at("sha256").get<std::string>().size(), 64u);
  EXPECT_EQ(list.at("plugins").at(0).at("fingerprint"), std::string(config::host_fingerprint()));
}

/// A plugin with types of several kinds is listed under each of them, and refused plugins under any kind,
/// because a manifest that cannot be read does not say its kind.
TEST(PluginLs, ListsThePluginsOfOneKind) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "steps");
  add_plugin(sandbox, "mine", "both", [](config::Manifest& manifest) {
    manifest.offers.push_back({Kind::optimizer, "both", 1, Schema(), "an optimizer of a test"});
  });
  add_plugin(sandbox, "mine", "damaged");
  sandbox.write("mine/damaged.json", "{ \"format\": 1,");
  const auto names_of = [&](const std::string& kind) {
    const nlohmann::json list = listed(sandbox, {"--plugin-path", "mine", "--kind", kind});
    EXPECT_EQ(list.at("refused").size(), 1u) << kind;
    std::vector<std::string> names;
    for (const nlohmann::json& plugin : list.at("plugins")) names.push_back(plugin.at("name"));
    return names;
  };
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::ranges::find(names, name) != names.end();
  };
  const std::vector<std::string> schedules = names_of("schedule"), optimizers = names_of("optimizer");
  EXPECT_TRUE(has(schedules, "steps_plugin") && has(schedules, "both_plugin"));
  EXPECT_TRUE(has(schedules, "linear_schedule") && !has(schedules, "adam"));
  EXPECT_TRUE(!has(optimizers, "steps_plugin") && has(optimizers, "both_plugin") && has(optimizers, "adam"));

  const runner::ProgramOutput text =
      sandbox.exp({"plugin", "ls", "--plugin-path", "mine", "--kind", "optimizer"});
  EXPECT_TRUE(contains(text.output, std::to_string(optimizers.size()) +
                                        " usable with an optimizer on openmp, 1 refused; searched:\n"))
      << text.output;
  const std::string csv = sandbox.exp({"plugin", "ls", "--kind", "optimizer", "--csv"}).output;
  EXPECT_TRUE(contains(csv, "adam") && !contains(csv, "layer_norm")) << csv;
}

TEST(PluginLs, ShowsEveryRefusalWithItsReason) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "good");
  add_plugin(sandbox, "mine", "foreign", [](config::Manifest& manifest) {
    const std::size_t at = manifest.fingerprint.find("kokkos=") + 7;
    manifest.fingerprint.replace(at, manifest.fingerprint.find(';', at) - at, "3.7.2");
  });
  add_plugin(sandbox, "mine", "damaged");
  sandbox.write("mine/damaged.json", "{ \"format\": 1,");
  add_plugin(sandbox, "mine", "bare");
  fs::remove(sandbox.folder() / "mine/bare.json");
  add_plugin(sandbox, "mine", "gone");
  fs::remove(sandbox.folder() / "mine/gone.so");
  add_plugin(sandbox, "mine", "cut");
  fs::resize_file(sandbox.folder() / "mine/cut.so", 5000);
  add_plugin(sandbox, "mine", "text");
  sandbox.write("mine/text.so", "no library at all\n");
  add_plugin(sandbox, "mine", "second", [](config::Manifest& manifest) { manifest.offers[0].name = "good"; });

  const nlohmann::json list = listed(sandbox, {"--plugin-path", "mine"});
  const std::string mine = here(sandbox) + "/mine/";
  EXPECT_EQ(list.at("refused").size(), 7u) << list.at("refused").dump(1);
  EXPECT_TRUE(
      contains(refusal(list, "foreign.json"),
               "foreign.so: plugin \"foreign_plugin\" was built for another Encore: kokkos is 3.7.2 in "
               "the plugin and "))
      << refusal(list, "foreign.json");
  EXPECT_FALSE(contains(refusal(list, "foreign.json"), "compiler is")) << "only what differs is named";
  EXPECT_TRUE(contains(refusal(list, "foreign.json"), "; rebuild it: exp plugin build "));
  EXPECT_EQ(refusal(list, "damaged.json"), mine +
                                               "damaged.json: the manifest cannot be read from line 1, "
                                               "column 15: no JSON; build the plugin again");
  EXPECT_TRUE(contains(refusal(list, "bare.so"), "bare.so: has no manifest bare.json beside it"));
  EXPECT_TRUE(contains(refusal(list, "gone.json"), "gone.so: there is a manifest but no such file"));
  EXPECT_TRUE(contains(refusal(list, "cut.json"), "cut.so: is cut off at 5000 of "));
  EXPECT_TRUE(contains(refusal(list, "text.json"), "text.so: is not a shared object (not an ELF file)"));
  EXPECT_EQ(refusal(list, "second.json"), "two plugins offer the schedule \"good\": " + mine +
                                              "good.json and " + mine +
                                              "second.json; remove one of them from the plugin folders");
  const runner::ProgramOutput text = sandbox.exp({"plugin", "ls", "--plugin-path", "mine"});
  EXPECT_TRUE(contains(text.output, "good_plugin") && contains(text.output, "7 refused")) << text.output;
}

TEST(PluginLs, FoldersAreSearchedInTheirOrderAndNamed) {
  Sandbox sandbox;
  for (const char* folder : {"of_file", "of_line", "of_line_too", "of_environment"})
    fs::create_directory(sandbox.folder() / folder);
  sandbox.write("paths.toml", "plugin_path = [\"of_file\"]\n" + tiny_experiment());
  sandbox.set("ENCORE_PLUGIN_PATH", "of_environment::absent");
  const nlohmann::json list =
      listed(sandbox, {"--file", "paths.toml", "--plugin-path", "of_line:of_line_too"});
  const std::string root = here(sandbox);
  EXPECT_EQ(list.at("folders"),
            (nlohmann::json{root + "/of_file", root + "/of_line", root + "/of_line_too",
                            root + "/of_environment", root + "/absent", built_in_plugins().string()}));
  EXPECT_EQ(refusal(list, "/absent"), root +
                                          "/absent: this plugin folder cannot be read: No such file or "
                                          "directory; make it readable, or take it out of the plugin path");
  const runner::ProgramOutput mistyped = sandbox.exp({"plugin", "ls", "--plugin-path", "of_lien"});
  EXPECT_EQ(mistyped.end.exit_code, 2);
  EXPECT_EQ(mistyped.errors, "exp: --plugin-path names \"" + root + "/of_lien\", which is not a folder\n");
  EXPECT_EQ(sandbox.exp({"plugin", "ls", "--backend", "cudda"}).errors,
            "exp: unknown backend \"cudda\"; did you mean \"cuda\"?\n");
}

TEST(PluginInfo, ExplainsATypeAndAPlugin) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "good");
  const runner::ProgramOutput text = sandbox.exp({"plugin", "info", "good", "--plugin-path", "mine"});
  ASSERT_EQ(text.end.exit_code, 0) << text.errors;
  for (const std::string& part :
       {std::string("schedule good  version 1, in [schedule]"), std::string("a schedule of a test"),
        std::string("warmup_steps  integer, steps  10       at least 0"), std::string("\"flat\", \"round\""),
        std::string("how it ends"), std::string("good_plugin 1.0.0"), here(sandbox) + "/mine/good.so",
        std::string(config::host_fingerprint())})
    EXPECT_TRUE(contains(text.output, part)) << part << "\n" << text.output;
  EXPECT_EQ(sandbox.exp({"plugin", "info", "good_plugin", "--plugin-path", "mine"}).output, text.output);

  const nlohmann::json list = nlohmann::json::parse(
      sandbox.exp({"plugin", "info", "good", "--plugin-path", "mine", "--json"}).output);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].at("offers").at(0).at("options").at(0).at("default"), 10);
  EXPECT_EQ(list[0].at("sha256").get<std::string>().size(), 64u);
  const std::string page =
      sandbox.exp({"plugin", "info", "good", "--plugin-path", "mine", "--markdown"}).output;
  EXPECT_EQ(page,
            "# Plugin `good_plugin` 1.0.0\n\n"
            "This page lists the options of the schedule `good`. It is for users who write an experiment "
            "file, the TOML file that describes a training. A *schedule* is the rule for the learning rate "
            "of each training step.\n\n"
            "## schedule `good`\nA schedule of a test.\n\n"
            "An experiment file selects it with:\n\n```toml\n[schedule]\ntype = \"good\"\n```\n\n"
            "| option | type | default | range | meaning |\n|---|---|---|---|---|\n"
            "| `warmup_steps` | integer, steps | `10` | at least 0 | steps up |\n"
            "| `shape` | text | `\"flat\"` | `\"flat\"`, `\"round\"` | how it ends |\n");
}

TEST(PluginInfo, ShowsFieldsAndMeasures) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "topics", [](config::Manifest& manifest) {
    manifest.offers = {{.kind = Kind::task,
                        .name = "topics",
                        .needs = {{"text"}, {"label"}},
                        .measures = {{.name = "accuracy",
                                      .help = "a share",
                                      .fraction = true,
                                      .reducer = Reducer::ratio,
                                      .columns = {"right", "all"}}},
                        .select = "max dev/accuracy"},
                       {.kind = Kind::reader, .name = "rows", .gives = {"text", "label"}}};
  });
  const runner::ProgramOutput text =
      sandbox.exp({"plugin", "info", "topics_plugin", "--plugin-path", "mine"});
  ASSERT_EQ(text.end.exit_code, 0) << text.errors;
  for (const char* part :
       {"task topics  version 1, in [task]", "reader rows  version 1, in [data]",
        "It reads the field \"text\" of each record. Records for training and scoring also need the field "
        "\"label\"",
        "Each record has the fields \"text\" and \"label\"", "MEASURE", "accuracy  higher  a share",
        "without train.select, the best checkpoint is chosen by max dev/accuracy"})
    EXPECT_TRUE(contains(text.output, part)) << part << "\n" << text.output;
  const nlohmann::json list = nlohmann::json::parse(
      sandbox.exp({"plugin", "info", "topics", "--plugin-path", "mine", "--json"}).output);
  ASSERT_EQ(list.size(), 1u);
  const nlohmann::json& task = list[0].at("offers").at(0);
  EXPECT_EQ(task.at("needs"), (nlohmann::json{{"structure", {"text"}}, {"truth", {"label"}}}));
  EXPECT_EQ(task.at("measures").at(0).at("name"), "accuracy");
  EXPECT_EQ(task.at("select"), "max dev/accuracy");
  EXPECT_EQ(list[0].at("offers").at(1).at("gives"), (nlohmann::json{"text", "label"}));
}

TEST(PluginInfo, ShowsTheMeasuresOfAStepAndThatItAsksAModel) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "sorter", [](config::Manifest& manifest) {
    manifest.offers = {{.kind = Kind::step,
                        .name = "sorter",
                        .measures = {{.name = "share",
                                      .help = "a share",
                                      .fraction = true,
                                      .reducer = Reducer::ratio,
                                      .columns = {"right", "all"}}},
                        .select = "max dev/share",
                        .asks_model = true}};
  });
  const runner::ProgramOutput text = sandbox.exp({"plugin", "info", "sorter", "--plugin-path", "mine"});
  ASSERT_EQ(text.end.exit_code, 0) << text.errors;
  for (const char* part : {"step sorter  version 1, in [app.step.NAME]", "It asks the model of a run",
                           "share    higher  a share", "without app.select, applications are compared by"})
    EXPECT_TRUE(contains(text.output, part)) << part << "\n" << text.output;
  const std::string listed =
      sandbox.exp({"plugin", "ls", "--kind", "step", "--plugin-path", "mine", "--csv"}).output;
  EXPECT_TRUE(contains(listed, "sorter_plugin")) << listed;
}

TEST(PluginInfo, OneNameMayMeanSeveralTypes) {
  const std::string text = Sandbox().exp({"plugin", "info", "linear"}).output;
  EXPECT_TRUE(contains(text, "head linear") && contains(text, "schedule linear")) << text;
}

TEST(PluginInfo, AnUnknownNameGetsTheNearestAndTheFolders) {
  const runner::ProgramOutput output = Sandbox().exp({"plugin", "info", "self_atention"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(output.errors.starts_with(
      "exp: no plugin or type has the name \"self_atention\"; did you mean \"self_attention\"? (searched: " +
      built_in_plugins().string() + ")"))
      << output.errors;
  EXPECT_TRUE(contains(Sandbox().exp({"plugin", "inof"}).errors, "did you mean \"info\"?"));
}

TEST(PluginInAFile, IsFoundThroughEachOfThePaths) {
  for (const char* way : {"file", "line", "environment", "backend"}) {
    Sandbox sandbox;
    const bool in_subfolder = way == std::string("backend");
    add_plugin(sandbox, in_subfolder ? std::string("mine/") + ENCORE_BACKEND_NAME : "mine", "good");
    sandbox.write("good.toml",
                  with_schedule("good", way == std::string("file") ? "plugin_path = [\"mine\"]\n" : ""));
    if (way == std::string("environment")) sandbox.set("ENCORE_PLUGIN_PATH", "nowhere:mine");
    std::vector<std::string> arguments = {"plan", "good.toml"};
    if (way == std::string("line") || in_subfolder)
      arguments.insert(arguments.end(), {"--plugin-path", "mine"});
    const runner::ProgramOutput output = sandbox.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 0) << way << ": " << output.errors;
  }
}

TEST(PluginInAFile, AnUnknownNameIsReportedWithItsPlace) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "good");
  sandbox.write("typo.toml", with_schedule("godo", "plugin_path = [\"mine\"]\n"));
  const runner::ProgramOutput output = sandbox.exp({"run", "typo.toml"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(
      contains(output.errors, ": no plugin offers a schedule \"godo\"; did you mean \"good\"? (searched: " +
                                  here(sandbox) + "/mine " + built_in_plugins().string() + ")"))
      << output.errors;
  EXPECT_TRUE(output.errors.starts_with("typo.toml:32:8: ")) << output.errors;
  EXPECT_FALSE(fs::exists(sandbox.folder() / "encore.db"));
}

TEST(PluginInAFile, APluginOfAnotherBuildIsRefusedOnlyWhereItIsNeeded) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "foreign",
             [](config::Manifest& manifest) { manifest.fingerprint += ";color=blue"; });
  sandbox.write("foreign.toml", with_schedule("foreign"));
  EXPECT_EQ(sandbox.exp({"plan", "tiny.toml", "--plugin-path", "mine"}).end.exit_code, 0);
  const runner::ProgramOutput output = sandbox.exp({"plan", "foreign.toml", "--plugin-path", "mine"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "the plugin that offers schedule \"foreign\" is refused: "))
      << output.errors;
  EXPECT_TRUE(contains(output.errors, "color is blue in the plugin and (none) here; rebuild it: "))
      << output.errors;
}

TEST(PluginInAFile, TwoOwnersOfANameAreAnErrorThatNamesBothFiles) {
  const Sandbox sandbox;
  add_plugin(sandbox, "mine", "norm_again", [](config::Manifest& manifest) {
    manifest.offers[0].kind = Kind::layer;
    manifest.offers[0].name = "layer_norm";
  });
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml", "--plugin-path", "mine"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_EQ(output.errors, "exp: two plugins offer the layer \"layer_norm\": " + here(sandbox) +
                               "/mine/norm_again.json and " +
                               (built_in_plugins() / "layer_norm.json").string() +
                               "; remove one of them from the plugin folders\n");
}

}  // namespace
}  // namespace encore::system_test

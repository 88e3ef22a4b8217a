// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp serve` of models in files, without a database (app/served_models.hpp, archive/bundled_run.hpp):
// folders that `exp export --format encore` writes, and bundles. The answers must equal those of the run;
// also what is rejected, and that no files stay behind. The words of messages may change.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "system/control/archive.hpp"
#include "system/control/serving.hpp"

namespace encore::system_test {
namespace {

namespace fs = std::filesystem;

class ServeFiles : public Serve {
 protected:
  void SetUp() override {
    Serve::SetUp();
    if (IsSkipped()) return;
    fs::create_directory(aside());
    sandbox_.set("TMPDIR", aside().string());
  }
  fs::path path(const std::string& name) const { return sandbox_.folder() / name; }
  fs::path aside() const { return path("aside"); }
  std::size_t folders_aside() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(aside()), {}));
  }
  void train(const std::string& name, const std::string& seed) const {
    output_of({"run", "tiny.toml", "-q", "-S", "name=" + name, "-S", "seed=" + seed});
  }
  void make_folder_of(const std::string& run, const std::string& folder) const {
    output_of({"export", run, "--format", "encore", "-o", folder});
  }
  void make_bundle_of(const std::string& runs, const std::string& file) const {
    output_of({"bundle", runs, "-o", file});
  }
  /// Moves database and data away, as on another machine.
  void move_away() const {
    fs::create_directory(path("away"));
    for (const char* name : {"encore.db", "encore.db.runs", "train.conll", "dev.conll", "test.conll"})
      fs::rename(path(name), path("away") / name);
  }
  std::string id_of(const std::string& run) const {
    return json::parse(output_of({"show", run, "--json"})).at("id");
  }
  json models() const { return json::parse(ask(http_get("/v1/models")).body).at("data"); }
  json answers(const std::vector<std::string>& texts, const std::string& model) const {
    const HttpResponse response =
        ask(http_post("/v1/predict", json{{"inputs", texts}, {"model", model}}.dump()));
    EXPECT_EQ(response.status, 200) << response.body;
    return response.status == 200 ? json::parse(response.body) : json();
  }
  void end() {
    const std::optional<runner::ProcessEnd> ended = end_server();
    ASSERT_TRUE(ended && ended->success()) << sandbox_.read("serve.txt");
    EXPECT_EQ(folders_aside(), 0U) << "the folder of a bundle has stayed";
    fs::remove(path("serve.txt"));
  }
  /// Expects that nothing is served and no file stays behind.
  void expect_no_service(const std::vector<std::string>& words, const std::string& reason) const {
    std::vector<std::string> arguments = {"serve", "--port", "0"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const std::string said = refusal_of(arguments);
    EXPECT_TRUE(contains(said, reason)) << "wanted: " << reason << "\ngot: " << said;
    EXPECT_FALSE(contains(said, aside().string())) << "the message names a temporary folder: " << said;
    EXPECT_EQ(folders_aside(), 0U);
  }
  bool reload_says(const std::string& line) const {
    const std::size_t before = sandbox_.read("serve.txt").size();
    ::kill(server_, SIGHUP);
    return sandbox_.wait_until([&] { return contains(sandbox_.read("serve.txt").substr(before), line); });
  }
};

TEST_F(ServeFiles, AFolderAndABundleAnswerAsTheirRun) {
  const std::vector<std::string> texts = some_texts(40);
  const std::vector<json> expected = predicted(texts);
  serve();
  const json as_run = models();
  end();
  make_folder_of("tiny", "model");
  make_bundle_of("tiny", "tiny.tar.zst");
  const std::string id = id_of("tiny");
  move_away();
  const std::vector<std::string> words = {"model", "./model/", "away/encore.db.runs/" + id, "tiny.tar.zst",
                                          "tiny.tar.zst:" + id.substr(0, 4)};
  for (const std::string& word : words) {
    SCOPED_TRACE(word);
    serve({}, word);
    EXPECT_EQ(models(), as_run) << "name, digest, step and routes";
    const json body = answers(texts, "tiny");
    EXPECT_EQ(body.at("digest"), as_run[0].at("digest"));
    EXPECT_EQ(body.at("step"), as_run[0].at("step"));
    ASSERT_EQ(body.at("results").size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(body.at("results")[i], expected[i]) << texts[i];
    EXPECT_EQ(folders_aside(), contains(word, ".tar.zst") ? 1U : 0U) << "unpacked once, for all workers";
    end();
  }
}

TEST_F(ServeFiles, RunsFoldersAndBundlesAreServedTogetherByName) {
  train("other", "7");
  train("third", "8");
  const std::vector<std::string> texts = some_texts(6);
  const std::map<std::string, std::vector<json>> expected = {
      {"tiny", predicted(texts)}, {"other", predicted(texts, "other")}, {"third", predicted(texts, "third")}};
  make_bundle_of("all", "all.tar.zst");
  make_folder_of("third", "third");
  // The folder has the name of a run; a name without a slash means the run.
  serve({"./third", "all.tar.zst:" + id_of("other"), "--workers", "1"});
  EXPECT_TRUE(contains(sandbox_.read("serve.txt"), "serving tiny, third, other\n"));
  for (const auto& [name, wanted] : expected)
    EXPECT_EQ(answers(texts, name).at("results"), json(wanted)) << name;
  end();
  serve({"--workers", "1"}, "third");
  EXPECT_EQ(sandbox_.workers().size(), 1U);
  sandbox_.write("third/labels.txt", "nonsense\n");
  EXPECT_TRUE(reload_says("serving third\n")) << sandbox_.read("serve.txt");
  end();
}

TEST_F(ServeFiles, AWorkerThatEndsFindsTheBundleStillUnpacked) {
  make_bundle_of("tiny", "tiny.tar.zst");
  const std::vector<json> expected = predicted(some_texts(1));
  serve({"--workers", "1"}, "tiny.tar.zst");
  fs::remove(path("tiny.tar.zst"));
  for (const pid_t worker : sandbox_.workers()) ::kill(worker, SIGKILL);
  EXPECT_EQ(answers(some_texts(1), "tiny").at("results"), json(expected));
  EXPECT_TRUE(reload_says("exp: the models stay as they are: ")) << "there is no bundle any more";
  EXPECT_EQ(answers(some_texts(1), "tiny").at("results"), json(expected));
  end();
}

TEST_F(ServeFiles, AnotherBundleIsTakenWithoutARequestThatIsLost) {
  train("other", "7");
  const std::vector<std::string> texts = some_texts(12);
  const std::map<std::string, std::vector<json>> expected = {{"tiny", predicted(texts)},
                                                             {"other", predicted(texts, "other")}};
  make_bundle_of("tiny", "live.tar.zst");
  make_bundle_of("other", "next.tar.zst");
  const std::string bytes = sandbox_.read("next.tar.zst");
  serve({}, "live.tar.zst");
  std::atomic<bool> enough = false;
  std::atomic<int> wrong = 0, by_other = 0;
  std::thread client([&] {
    HttpConnection connection(port_);
    for (std::size_t i = 0; !enough; ++i) {
      connection.send(http_post("/v1/predict", json{{"inputs", texts[i % texts.size()]}}.dump()));
      const HttpResponse response = connection.receive();
      const json body = response.status == 200 ? json::parse(response.body) : json();
      const std::string model = body.value("model", "");
      if (!expected.contains(model) || body.at("results")[0] != expected.at(model)[i % texts.size()]) ++wrong;
      if (model == "other") ++by_other;
    }
  });
  sandbox_.write("cut", bytes.substr(0, bytes.size() / 2));
  fs::rename(path("cut"), path("live.tar.zst"));
  EXPECT_TRUE(reload_says("exp: the models stay as they are: live.tar.zst is cut off"));
  EXPECT_EQ(folders_aside(), 1U);
  fs::rename(path("next.tar.zst"), path("live.tar.zst"));
  EXPECT_TRUE(reload_says("serving other\n")) << sandbox_.read("serve.txt");
  EXPECT_TRUE(sandbox_.wait_until([&] { return by_other > 20; }));
  enough = true;
  client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(sandbox_.wait_until([&] { return folders_aside() == 1; })) << "the replaced folder is removed";
  end();
}

TEST_F(ServeFiles, AnotherFolderIsTaken) {
  train("other", "7");
  make_folder_of("tiny", "live");
  make_folder_of("other", "next");
  const std::vector<json> expected = predicted(some_texts(3), "other");
  serve({}, "./live");
  fs::rename(path("live"), path("old"));
  fs::rename(path("next"), path("live"));
  EXPECT_TRUE(reload_says("serving other\n")) << sandbox_.read("serve.txt");
  EXPECT_EQ(answers(some_texts(3), "other").at("results"), json(expected));
  fs::remove_all(path("live"));
  EXPECT_TRUE(reload_says("exp: the models stay as they are: ./live: there is no such folder"));
  EXPECT_EQ(answers(some_texts(3), "other").at("results"), json(expected));
  end();
}

TEST_F(ServeFiles, ASignalLeavesNothingWheneverItComes) {
  make_bundle_of("tiny", "tiny.tar.zst");
  for (const int signal : {SIGTERM, SIGINT, SIGTERM}) {
    server_ = sandbox_.start({"serve", "tiny.tar.zst", "--port", "0"}, "serve.txt");
    EXPECT_TRUE(sandbox_.wait_until([&] { return folders_aside() == 1; })) << sandbox_.read("serve.txt");
    ASSERT_TRUE(end_server(signal));
    EXPECT_EQ(folders_aside(), 0U) << "while it is unpacked, or just after";
    EXPECT_TRUE(sandbox_.wait_until_no_workers());
  }
}

TEST_F(ServeFiles, TheNextServerRemovesOnlyTheFilesOfAKilledOne) {
  make_bundle_of("tiny", "tiny.tar.zst");
  serve({"--workers", "1"}, "tiny.tar.zst");
  end_server(SIGKILL);
  EXPECT_TRUE(sandbox_.wait_until_no_workers());
  EXPECT_EQ(folders_aside(), 1U) << "nothing else could remove it";
  fs::remove(path("serve.txt"));
  fs::create_directory(aside() / "encore-bundle-kept");
  serve({"--workers", "1"}, "tiny.tar.zst");
  EXPECT_EQ(folders_aside(), 2U) << "its own folder, and the one that was never marked";
  fs::remove(aside() / "encore-bundle-kept");
  const json expected = answers(some_texts(1), "tiny").at("results");
  output_of({"bundle", "show", "tiny.tar.zst"});
  EXPECT_EQ(folders_aside(), 1U) << "the folder in use stays";
  for (const pid_t worker : sandbox_.workers()) ::kill(worker, SIGKILL);
  EXPECT_EQ(answers(some_texts(1), "tiny").at("results"), expected) << "another worker reads it";
  end();
}

TEST_F(ServeFiles, RefusesBundlesThatAreNotWholeOrMadeToDoHarm) {
  make_bundle_of("tiny", "tiny.tar.zst");
  const std::string bytes = sandbox_.read("tiny.tar.zst");
  const auto expect_evil = [&](const std::string& reason) {
    expect_no_service({"evil.tar.zst"}, "exp: evil.tar.zst");
    expect_no_service({"tiny", "evil.tar.zst"}, reason);
  };
  sandbox_.write("evil.tar.zst", bytes.substr(0, bytes.size() / 2));
  expect_evil("is cut off: it ends within its compressed content");
  sandbox_.write("evil.tar.zst", "a text that is not an archive");
  expect_evil("is not compressed by zstd");
  const Archive honest = Archive::load(path("tiny.tar.zst"));
  const auto expect_changed = [&](Archive archive, const std::string& reason) {
    archive.save(path("evil.tar.zst"));
    expect_evil(reason);
  };
  Archive archive = honest;
  archive.content("weights.safetensors").back() ^= 1;
  expect_changed(archive, "is not the file that its list names: it has another SHA-256");
  archive = honest;
  archive.more = Archive::head("../evil", '0');
  expect_changed(archive, "leads out of its folder");
  archive = honest;
  archive.more = Archive::head("encore-bundle/evil", '2', 0, "/etc/passwd");
  expect_changed(archive, "is a symbolic link");
  archive = honest;  // from here on with a list that fits
  archive.content("specification.json") = "{\"run\": [";
  archive.list_again();
  expect_changed(archive, "specification.json");
  archive = honest;
  json specification = json::parse(archive.content("specification.json"));
  specification["name"] = "tiny\x1b[2J";
  archive.content("specification.json") = specification.dump();
  archive.list_again();
  expect_changed(archive, "invalid name of the run in specification.json");
  EXPECT_FALSE(fs::exists(path("evil")));
}

TEST_F(ServeFiles, RejectsFilesThatAreNotModelsAndSaysWhatToDo) {
  train("other", "7");
  make_bundle_of("all", "two.tar.zst");
  make_bundle_of("tiny", "tiny.tar.zst");
  make_folder_of("tiny", "model");
  const std::string both = "two.tar.zst holds 2 runs with parameters (";
  expect_no_service({"two.tar.zst"}, both);
  expect_no_service({"two.tar.zst"}, "; choose one with two.tar.zst:ID (exp bundle show has their names)");
  expect_no_service({"two.tar.zst:zz"}, "holds no run whose id begins with \"zz\"; it has ");
  output_of({"bundle", "tiny", "--weights", "none", "-o", "none.tar.zst"});
  expect_no_service({"none.tar.zst"}, "none.tar.zst holds no run with its parameters");
  expect_no_service({"missing.tar.zst"}, "missing.tar.zst");
  expect_no_service({"no/folder"}, "no/folder: there is no such folder");
  expect_no_service({"aside"}, "aside: it has no specification.json, so it is not the folder of a run");
  sandbox_.write("elsewhere/config.json", "{}");
  expect_no_service({"./elsewhere"}, "make a run of it first (exp import DIR)");
  expect_no_service({"tiny", "model"}, "run tiny and model have the same name, \"tiny\"");
  expect_no_service({"model", "tiny.tar.zst"}, "model and tiny.tar.zst have the same name, \"tiny\"");
  expect_no_service({"model", "--monitor"},
                    "--monitor stores its numbers with a run of a database, but model");
  expect_no_service({"tiny", "tiny.tar.zst", "--monitor=0.1"}, "but tiny.tar.zst is not such a run");
  expect_no_service({"model", "--int8", "--int4"}, "--int8 and --int4 exclude each other");
  move_away();
  expect_no_service({"tiny"}, "there is no database");
  expect_no_service({"model", "--tag", "live"}, "there is no database");
}

TEST_F(ServeFiles, TakesPluginsOfTheBuildAloneAndNamesWhatIsMissing) {
  make_folder_of("tiny", "model");
  json specification = json::parse(sandbox_.read("model/specification.json"));
  specification["plugin_folders"] = {"/nowhere"};
  sandbox_.write("model/specification.json", specification.dump());
  serve({}, "./model");
  EXPECT_EQ(answers(some_texts(1), "tiny").at("results"), json(predicted(some_texts(1))));
  end();
  specification["config"]["optimizer"]["type"] = "adamwest";
  sandbox_.write("model/specification.json", specification.dump());
  expect_no_service({"./model"}, "./model: ");
  expect_no_service({"./model"}, "no plugin offers");
  expect_no_service({"./model"}, "\"adamwest\"");
}

}  // namespace
}  // namespace encore::system_test

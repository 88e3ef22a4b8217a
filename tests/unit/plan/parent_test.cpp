// SPDX-License-Identifier: BSD-3-Clause
// Tests fill_from_parent() (plan/parent_filler.hpp), which plans [model] from = { run = } and { experiment =
// }, and [distil] teacher: the forms, the options that are filled in from the parent, those that must agree
// with it, and those that count in the identity. Here "parent" is the run from which another one starts.
#include "plan/parent_filler.hpp"

#include <gtest/gtest.h>

#include <map>

#include "unit/plan/planning.hpp"

namespace encore::plan {
namespace {

using sample::changed;

const std::string shape = R"(width = 8
layers = 2
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 16
)";

/// Returns the sample with `from` instead of a model of its own. `model` is added to [model], `more` after
/// it.
std::string child(const std::string& from, const std::string& model = "", const std::string& more = "") {
  std::string text = changed(sample::experiment, shape, "from = " + from + "\n" + model);
  return changed(text, "[tokenizer]\ntype = \"wordpiece\"\n", "") + more;
}

/// Replaces the database: knows one run and the experiment files that a test gives it.
class FixedParents final : public ParentSource {
 public:
  explicit FixedParents(const std::string& parent = sample::experiment) {
    add("run pre", planning::plan(parent).points.at(0));
    Parent& run = parents_.at("run pre");
    run.title = "run pre (0123456789)";
    run.id = "0123456789";
    run.weights = ContentFile{"/db/0123456789/weights.safetensors", "digest-of-weights"};
    run.vocabulary = "/db/0123456789/vocab.txt";
    add("/abs/dir/pre.toml", planning::plan(parent).points.at(0));
  }
  const Parent& run(const std::string& word) override { return find("run " + word); }
  const Parent& experiment(const std::filesystem::path& file, const std::string&) override {
    return find("/abs/dir/" + file.filename().string());
  }
  const Parent& imported(const std::filesystem::path& folder) override {
    return find("/abs/dir/" + folder.filename().string());
  }
  void set_weights(const std::string& sha256) { parents_.at("run pre").weights->sha256 = sha256; }

 private:
  const Parent& find(const std::string& key) {
    const auto found = parents_.find(key);
    if (found == parents_.end()) throw Error("there is no " + key);
    return found->second;
  }
  void add(const std::string& title, RunPoint point) {
    Parent parent;
    parent.title = title;
    parent.question = point.question;
    parent.config = std::move(point.config);
    parent.origin = std::move(point.origin);
    parents_[title] = std::move(parent);
  }

  std::map<std::string, Parent> parents_;
};

Plan plan(const std::string& text, FixedParents* source, const std::vector<std::string>& overrides = {}) {
  static const config::Catalogue catalogue = sample::catalogue();
  return make_plan(config::parse_experiment_file(text, "dir/a.toml", overrides), catalogue,
                   planning::hash_of_name, {}, source);
}

RunPoint point_of(const std::string& text, FixedParents source = FixedParents(),
                  const std::vector<std::string>& set = {}) {
  const Plan planned = plan(text, &source, set);
  EXPECT_EQ(planned.points.size(), 1U);
  return planned.points.at(0);
}

std::string parent_problem(const std::string& text, const std::vector<std::string>& overrides = {},
                           FixedParents source = FixedParents()) {
  try {
    plan(text, &source, overrides);
  } catch (const config::ConfigErrors& errors) {
    return errors.what();
  }
  return "no problem";
}

const std::string by_run = "{ run = \"pre\" }", by_file = "{ experiment = \"pre.toml\" }";

TEST(Parent, GivesShapeAndTokenizerAndKeepsWhereTheyComeFrom) {
  const RunPoint own = planning::plan(sample::experiment).points.at(0);
  for (const std::string& from : {by_run, by_file}) {
    const RunPoint run = point_of(child(from));
    nlohmann::json model = run.config.at("model");
    model.erase("from");
    EXPECT_EQ(model, own.config.at("model"));
    EXPECT_EQ(run.config.at("tokenizer"), own.config.at("tokenizer"));
  }
  const RunPoint run = point_of(child(by_run));
  EXPECT_EQ(run.config.at("model").at("from"), nlohmann::json({{"run", "0123456789"}}));
  EXPECT_EQ(run.origin.at("model.width").place.text(), "run pre (0123456789)");
  EXPECT_EQ(run.origin.at("model.dropout").source, config::Source::fallback) << "the parent has its default";
  EXPECT_EQ(run.data.at("model.from").path, "/db/0123456789/weights.safetensors");
  EXPECT_EQ(run.data.at("model.from").sha256, "digest-of-weights");

  const RunPoint of_file = point_of(child(by_file));
  EXPECT_EQ(of_file.config.at("model").at("from"),
            nlohmann::json({{"experiment", std::filesystem::absolute("dir/pre.toml").string()},
                            {"question", own.question}}));
  EXPECT_FALSE(of_file.data.contains("model.from")) << "its weights need not exist yet";
  EXPECT_EQ(of_file.origin.at("model.from.question").place.text(), "dir/a.toml:11:8");
}

TEST(Parent, ARunCountsByItsWeightsAndAnExperimentByItsQuestion) {
  const RunPoint run = point_of(child(by_run)), file = point_of(child(by_file));
  EXPECT_NE(run.canonical.find(R"("model.from":"weights:digest-of-weights")"), std::string::npos)
      << run.canonical;
  const std::string parent = planning::plan(sample::experiment).points.at(0).question;
  EXPECT_NE(file.canonical.find(R"("model.from":"question:)" + parent + '"'), std::string::npos)
      << file.canonical;
  for (const std::string key : {"model.from.", "0123456789", "pre.toml"})
    EXPECT_EQ((run.canonical + file.canonical).find(key), std::string::npos)
        << "how it was found does not count";
  EXPECT_NE(run.question, file.question);
  EXPECT_NE(run.question, planning::plan(sample::experiment).points.at(0).question);

  FixedParents other;
  other.set_weights("other");
  EXPECT_NE(point_of(child(by_run), other).question, run.question);
  EXPECT_EQ(point_of(child(by_file), other).question, file.question);
  const FixedParents with_other_seed(changed(sample::experiment, "seed = 1", "seed = 2"));
  EXPECT_EQ(point_of(child(by_run), with_other_seed).question, run.question);
  EXPECT_NE(point_of(child(by_file), with_other_seed).question, file.question);
}

TEST(Parent, OptionsOfTheParentWrittenByHandGiveTheSameRun) {
  EXPECT_EQ(point_of(child(by_run, "width = 8\n", "[tokenizer]\ntype = \"wordpiece\"\n")).question,
            point_of(child(by_run)).question);
}

TEST(Parent, LearnedPositionsAreAsManyAsTheParentHad) {
  const FixedParents source(
      changed(changed(sample::experiment, "width = 8", "width = 8\npositions = \"learned\""), "[tokenizer]",
              "max_length = 40\n[tokenizer]"));
  const std::string text = changed(child(by_run), "[model]", "max_length = 32\n[model]");
  EXPECT_EQ(point_of(text, source).config.at("model").at("max_positions"), 40);
  EXPECT_NE(parent_problem(changed(text, "= 32", "= 64"), {}, source)
                .find("but sequences have up to 64 tokens (data.max_length)"),
            std::string::npos);
}

TEST(Parent, ShareOfDropoutMayDiffer) {
  const RunPoint run = point_of(child(by_run, "dropout = 0.3\n[model.layer.attention]\ndropout = 0.2\n"));
  EXPECT_EQ(run.config.at("model").at("dropout"), 0.3);
  EXPECT_EQ(run.config.at("model").at("layer").at("attention"),
            nlohmann::json({{"type", "self_attention"}, {"heads", 2}, {"dropout", 0.2}}));
}

TEST(Parent, NamesBothSidesWhereTheShapeDiffers) {
  EXPECT_EQ(parent_problem(child(by_run, "width = 16\n")),
            "dir/a.toml:12:9: model.width = 16, but run pre (0123456789) says model.width = 8; leave it out");
  EXPECT_EQ(parent_problem(child(by_file), {"model.layers=3"}),
            "-S model.layers=3: model.layers = 3, but /abs/dir/pre.toml says model.layers = 2; leave it out");
  EXPECT_EQ(
      parent_problem(child(by_run, "positions = \"learned\"\n")),
      "dir/a.toml:12:13: model.positions = \"learned\", but run pre (0123456789) says model.positions = "
      "\"sinusoidal\"; leave it out");
  EXPECT_EQ(
      parent_problem(child(by_run, "[model.layer.attention]\ntype = \"alibi_attention\"\n")).substr(0, 123),
      "dir/a.toml:13:8: model.layer.attention.type = \"alibi_attention\", but run pre (0123456789) says "
      "model.layer.attention.type =");
  EXPECT_EQ(parent_problem(child(by_run, "[model.decoder]\nlayers = 1\nblock = [\"attention\"]\n")),
            "dir/a.toml:12:1: [model.decoder] cannot stand beside model.from: run pre (0123456789) has an "
            "encoder alone");
}

TEST(Parent, TheTokenizerIsTheParents) {
  EXPECT_EQ(
      parent_problem(child(by_run, "", "[tokenizer]\nvocab_size = 9\n")),
      "dir/a.toml:23:14: tokenizer.vocab_size = 9, but run pre (0123456789) says tokenizer.vocab_size = "
      "4000; leave it out");
  EXPECT_EQ(
      parent_problem(child(by_run, "", "[tokenizer]\nvocab = \"v.txt\"\n")),
      "dir/a.toml:23:9: tokenizer.vocab = v.txt, but the tokens that model.from was trained with are in "
      "/db/0123456789/vocab.txt; leave it out");
  EXPECT_EQ(parent_problem(child(by_file, "", "[tokenizer]\nvocab = \"v.txt\"\n")),
            "dir/a.toml:23:9: tokenizer.vocab = v.txt, but the tokens that model.from was trained with are "
            "those that /abs/dir/pre.toml trains; leave it out");
}

TEST(Parent, AVocabularyFileOfTheParentIsThatOfItsFolder) {
  const FixedParents source(
      changed(sample::experiment, "type = \"wordpiece\"", "type = \"wordpiece\"\nvocab = \"v.txt\""));
  EXPECT_EQ(point_of(child(by_run), source).config.at("tokenizer").at("vocab"), "/db/0123456789/vocab.txt");
  EXPECT_EQ(point_of(child(by_file), source).config.at("tokenizer").at("vocab"),
            std::filesystem::absolute("dir/v.txt").string());
}

TEST(Parent, TheFormIsExact) {
  const std::string usage = "write from = { run = \"NAME\" } or from = { experiment = \"FILE\" }";
  EXPECT_EQ(parent_problem(child("{}")), "dir/a.toml:11:8: [model] from names no run; " + usage);
  EXPECT_EQ(
      parent_problem(child("{ run = \"pre\", experiment = \"pre.toml\" }")),
      "dir/a.toml:11:8: [model] from names a run and an experiment; a run starts from one of them: " + usage);
  EXPECT_EQ(
      parent_problem(child("{ run = \"pre\", name = \"x\" }")),
      "dir/a.toml:11:8: [model] from has a name beside run; name chooses one of the runs of an experiment");
  EXPECT_EQ(parent_problem(child("{ run = \"\" }")),
            "dir/a.toml:11:8: [model] from has an empty run; " + usage);
  EXPECT_EQ(parent_problem(child("{ experiment = \"\" }")),
            "dir/a.toml:11:8: [model] from has an empty experiment; " + usage);
  EXPECT_EQ(parent_problem(child("{ run = 3 }")),
            "dir/a.toml:11:16: option \"run\" of [model] from must be text in quotes, found the integer 3");
  EXPECT_EQ(parent_problem(child("{ rum = \"pre\" }")),
            "dir/a.toml:11:10: unknown option \"rum\" of [model] from; did you mean \"run\"?");
  EXPECT_EQ(
      parent_problem(child("{ experiment = \"pre.toml\", question = \"0123\" }")),
      "dir/a.toml:11:35: unknown option \"question\" of [model] from; it takes \"run\", \"experiment\", "
      "\"name\"");
}

TEST(Parent, AnUnknownParentHidesNoOtherProblemOfTheFile) {
  std::string text = child("{ run = \"prr\" }");
  const std::size_t at = text.find("[train]\n");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 8, "clip_norms = 1.0\n");
  const std::string problem = parent_problem(text);
  EXPECT_NE(problem.find("[model] from: there is no run prr"), std::string::npos) << problem;
  EXPECT_NE(problem.find("unknown option \"clip_norms\" of [train]"), std::string::npos) << problem;
}

TEST(Parent, AnUnknownParentIsReportedOnceAndAlone) {
  EXPECT_EQ(parent_problem(child("{ run = \"prr\" }")), "dir/a.toml:11:8: [model] from: there is no run prr");
  EXPECT_EQ(parent_problem(child("{ experiment = \"prr.toml\" }")),
            "dir/a.toml:11:8: [model] from: there is no /abs/dir/prr.toml");
  EXPECT_EQ(planning::problem(child(by_run)),
            "dir/a.toml:11:8: [model] from: there is no database in which a run could be found");
}

TEST(Parent, MayBeSwept) {
  FixedParents source;
  const Plan planned = plan(changed(child(by_run), "from = " + by_run + "\n", "") +
                                "[sweep.grid]\n\"model.from\" = [" + by_run + ", " + by_file + "]\n",
                            &source);
  ASSERT_EQ(planned.points.size(), 2U);
  EXPECT_EQ(planned.points[0].question, point_of(child(by_run)).question);
  EXPECT_EQ(planned.points[1].question, point_of(child(by_file)).question);
  EXPECT_NE(planned.points[0].name, planned.points[1].name);
}

// --- [distil] teacher ---

/// Returns the sample itself as a student of another run, its teacher.
std::string taught(const std::string& teacher, const std::string& more = "") {
  return std::string(sample::experiment) + "\n[distil]\nteacher = " + teacher + "\n" + more;
}

TEST(Teacher, CountsByItsWeightsOrItsQuestionAndFillsNothingIn) {
  const RunPoint own = planning::plan(sample::experiment).points.at(0);
  const RunPoint run = point_of(taught(by_run)), file = point_of(taught(by_file));
  EXPECT_EQ(run.config.at("model"), own.config.at("model"));
  EXPECT_EQ(run.config.at("distil"), nlohmann::json({{"teacher", {{"run", "0123456789"}}},
                                                     {"temperature", 2.0},
                                                     {"hard_weight", 0.5},
                                                     {"states", 0.0},
                                                     {"attention", 0.0},
                                                     {"relation_heads", 8}}));
  EXPECT_EQ(run.data.at("distil.teacher").sha256, "digest-of-weights");
  for (const char* later : {"distil.states", "distil.attention", "distil.relation_heads"})
    EXPECT_EQ(run.canonical.find(later), std::string::npos) << "earlier runs keep their question";
  EXPECT_FALSE(file.data.contains("distil.teacher")) << "its weights need not exist yet";
  EXPECT_NE(run.canonical.find(R"("distil.teacher":"weights:digest-of-weights")"), std::string::npos)
      << run.canonical;
  EXPECT_NE(file.canonical.find(R"("distil.teacher":"question:)" + own.question + '"'), std::string::npos);
  for (const std::string key : {"distil.teacher.", "0123456789", "pre.toml", "temperature"})
    EXPECT_EQ((run.canonical + file.canonical).find(key), std::string::npos)
        << "how it was found does not count, nor what equals a default";
  EXPECT_EQ(own.canonical.find("distil"), std::string::npos);
  FixedParents other;
  other.set_weights("other");
  EXPECT_NE(point_of(taught(by_run), other).question, run.question);
  EXPECT_NE(point_of(taught(by_run, "temperature = 3.0\n")).question, run.question);
  EXPECT_NE(point_of(taught(by_run, "hard_weight = 0.0\n")).question, run.question);
  EXPECT_EQ(point_of(taught(by_run, "hard_weight = 0.5\ntemperature = 2.0\n")).question, run.question);
}

TEST(Teacher, MayBeTheFolderOfAModel) {
  const RunPoint by_folder = point_of(taught("{ folder = \"pre.toml\" }"));
  EXPECT_EQ(by_folder.question, point_of(taught(by_file)).question);
  EXPECT_EQ(by_folder.config.at("distil").at("teacher").at("experiment"),
            std::filesystem::absolute("dir/pre.toml").string());
  EXPECT_FALSE(by_folder.config.at("distil").at("teacher").contains("folder"));
}

TEST(Teacher, MayBeSetBesideAParent) {
  const RunPoint run = point_of(child(by_run, "", "[distil]\nteacher = " + by_file + "\n"));
  EXPECT_TRUE(run.data.contains("model.from"));
  EXPECT_NE(run.canonical.find(R"("model.from":"weights:)"), std::string::npos);
  EXPECT_NE(run.canonical.find(R"("distil.teacher":"question:)"), std::string::npos);
}

TEST(Teacher, IsReportedWithItsPlaceWhereItIsWrong) {
  EXPECT_NE(parent_problem(taught("{ run = \"prr\" }")).find("[distil] teacher: there is no run prr"),
            std::string::npos);
  EXPECT_NE(parent_problem(taught("{}"))
                .find("[distil] teacher names no run; write teacher = { run = \"NAME\" } or teacher "
                      "= { experiment = \"FILE\" }"),
            std::string::npos);
  EXPECT_NE(parent_problem(taught("{ run = \"pre\", folder = \"pre\" }"))
                .find("names a run and a folder; a run learns from one of them"),
            std::string::npos);
  EXPECT_NE(parent_problem(taught("{ folder = \"pre\", name = \"x\" }")).find("has a name beside folder"),
            std::string::npos);
  EXPECT_NE(parent_problem(taught("\"folder\"")).find("exp import makes a run of a folder from elsewhere"),
            std::string::npos);
  EXPECT_NE(parent_problem(taught("{ rum = \"pre\" }")).find("unknown option \"rum\" of [distil] teacher"),
            std::string::npos);
  EXPECT_NE(parent_problem(taught(by_run, "temperature = -1.0\n")).find("temperature"), std::string::npos);
}

TEST(Teacher, ReadsNoOtherInputsThanItsStudent) {
  EXPECT_NE(
      parent_problem(taught(by_file), {"data.max_length=4000"})
          .find("-S data.max_length=4000: data.max_length = 4000, and the teacher reads sequences of up to "),
      std::string::npos)
      << parent_problem(taught(by_file), {"data.max_length=4000"});
  EXPECT_EQ(parent_problem(taught(by_run), {"data.max_length=8"}), "no problem")
      << "a shorter one is read by both";
  const std::string other = parent_problem(taught(by_run), {"tokenizer.keep=[\"a\"]"});
  EXPECT_NE(
      other.find(
          "tokenizer.keep = [\"a\"], and the teacher has []; run pre (0123456789) cannot teach this model"),
      std::string::npos)
      << other;
}

TEST(Teacher, MayBeSwept) {
  FixedParents source;
  const Plan planned =
      plan(taught(by_run, "[sweep.grid]\n\"distil.hard_weight\" = [0.0, 0.5, 1.0]\n"), &source);
  EXPECT_EQ(planned.points.size(), 3U);
}

}  // namespace
}  // namespace encore::plan

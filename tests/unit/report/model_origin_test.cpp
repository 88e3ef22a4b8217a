// SPDX-License-Identifier: BSD-3-Clause
// Tests the sentences about a model's kind and start (report/model_card.hpp) in the abstract of a report,
// the checklists and the model card, for every kind of run. Each sentence must follow from recorded settings,
// so that no text claims more than the record has.
#include "report/model_card.hpp"

#include "report/checklist.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

using nlohmann::json;

class ModelOriginTest : public ReportTest {
 protected:
  /// Returns a complete run with the settings of the fixture, changed by the patch.
  store::RunRow trained(const std::string& name, const json& patch, std::int64_t seed = 1) {
    record::Specification specification = specification_of('a', name);
    specification.seed = static_cast<std::uint64_t>(seed);
    specification.group = sha256(patch.dump());
    specification.question = sha256(name);
    specification.config["model"]["layers"] = 2;
    specification.config["model"]["block"] = {"attention"};
    specification.config["model"]["layer"]["attention"]["type"] = "rotary_attention";
    specification.config["train"]["epochs"] = 3;
    specification.config.merge_patch(patch);
    if (patch.at("train").value("epochs", 3) == 0) specification.data.erase("train");
    specification.data["test"] = {"/data/test.conll", std::string(64, 'd')};
    const store::RunRow run = store().add_run(specification, {}).run;
    const auto lease = store().begin_attempt(run.number);
    {
      record::SpoolWriter spool(spool_of(*lease), lease->ordinal);
      record::Started started{.parameters = 1000};
      started.data["train"].examples = 20;
      started.data["test"].examples = 1;
      spool.event(started);
      spool.point("test/f1", 1, 0.5);
      write_event(spool, "result", {{"best_step", 1}, {"measures", {{"test/f1", 0.5}}}});
      spool.sync();
    }
    store().finish_attempt(*lease, store::RunState::completed, "");
    return store().read_run(run.number);
  }

  /// Returns the sentences of a report about the run alone, or about all runs for a row without a name.
  std::string abstract(const store::RunRow& run) {
    std::string text;
    for (const document::Block& block : report(of(run)).abstract)
      if (const auto* paragraph = std::get_if<document::Paragraph>(&block))
        text += paragraph->text.plain() + "\n";
    return text;
  }
  std::string checklist(const store::RunRow& run) {
    std::string text;
    for (const report::ChecklistItem& item : report::make_checklist(store(), of(run), "neurips").items)
      for (const std::string& answer : item.answers) text += answer + "\n";
    return text;
  }
  std::string card(const store::RunRow& run) { return report::model_card(store(), run, card_); }

 private:
  static report::ReportOptions of(const store::RunRow& run) {
    report::ReportOptions options;
    if (!run.name.empty()) options.runs.words = {run.id};
    return options;
  }

  const record::ExportAnswer card_ = {.architecture = "X",
                                      .pipeline = "p",
                                      .parameters = 1,
                                      .dtype = "float32",
                                      .rounded_from = "float32",
                                      .step = 1,
                                      .weights_file = "model.safetensors",
                                      .weights_sha256 = std::string(64, 'e')};
};

/// One origin of a model, and the expected sentences of the abstract, the checklists and the model card.
struct Kind {
  std::string name;
  json patch;
  std::string abstract, checklist, card;
};

std::vector<Kind> kinds(const store::RunRow& base) {
  const json decoder = {{"decoder", {{"layers", 3}, {"block", {"attention"}}}}};
  const std::string encoder = "an encoder of 2 layers (rotary_attention) and width 384 (1,000 parameters)";
  const std::string on = ", on 20 examples of data/train.conll; scored on 1 example of data/test.conll.\n";
  return {
      {"encoder",
       {{"train", json::object()}},
       "Trained: " + encoder + " for the task ner, from random weights" + on,
       "starts from random weights",
       "an encoder. Encore trained it, starting from random weights."},
      {"decoder",
       {{"model", {{"causal", true}}}, {"train", json::object()}},
       "Trained: a decoder of 2 layers (rotary_attention) and width 384 (1,000 parameters) for the task ner, "
       "from random weights" +
           on,
       "starts from random weights",
       "It is a decoder. "},
      {"both",
       {{"model", decoder}, {"train", json::object()}},
       "Trained: an encoder of 2 layers (rotary_attention) with a decoder of 3 layers (rotary_attention), "
       "both of width 384 (1,000 parameters) for the task ner, from random weights" +
           on,
       "starts from random weights",
       "It is an encoder with a decoder. "},
      {"folder",
       {{"model", {{"from", "/models/bert"}}}, {"train", json::object()}},
       ", from the weights of folder models/bert" + on,
       "starts from the weights of folder models/bert",
       "starting from the weights of folder models/bert."},
      {"run",
       {{"model", {{"from", {{"run", base.id}}}}}, {"train", json::object()}},
       ", from the weights of run base" + on,
       "starts from the weights of run base",
       "starting from the weights of run base."},
      {"experiment",
       {{"model", {{"from", {{"experiment", "base.toml"}, {"question", base.question}}}}},
        {"train", json::object()}},
       ", from the weights of run base of the experiment base.toml" + on,
       "starts from the weights of run base of the experiment base.toml",
       "starting from the weights of run base of the experiment base.toml."},
      {"distilled",
       {{"distil", {{"teacher", {{"run", base.id}}}}}, {"train", json::object()}},
       ", from random weights, learning from run base as teacher" + on,
       ", learning from run base as teacher",
       "random weights, learning from run base as teacher."},
      {"retrained",
       {{"model", {{"from", {{"run", base.id}}}}}, {"train", {{"retrains", base.id}}}},
       ", from the weights of run base, to replace run base" + on,
       ", to replace run base",
       "run base, to replace run base."},
      {"imported",
       {{"model", {{"from", "/models/bert"}}}, {"train", {{"epochs", 0}}}},
       "Taken over without training: " + encoder +
           " for the task ner, with the weights of folder models/bert; scored on 1 example of "
           "data/test.conll.\n",
       "takes over the weights of folder models/bert without training",
       "Encore took it over without training, with the weights of folder models/bert."},
      {"adapted",
       {{"model", {{"from", "/models/bert"}}},
        {"train", {{"lora", {"attention.qkv.weight"}}, {"lora_rank", 4}, {"freeze", {"embedding"}}}}},
       ", from the weights of folder models/bert, with low-rank adapters of rank 4 on attention.qkv.weight "
       "and embedding frozen" +
           on,
       "rank 4 on attention.qkv.weight and embedding frozen",
       "with low-rank adapters of rank 4 on"}};
}

TEST_F(ModelOriginTest, EveryKindOfRunIsDescribedByItsOwnRecord) {
  const store::RunRow base = trained("base", {{"train", {{"epochs", 9}}}});
  const std::vector<Kind> all = kinds(base);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].name);
    const store::RunRow run = trained(all[i].name, all[i].patch, static_cast<std::int64_t>(i) + 2);
    const std::string text = abstract(run), answers = checklist(run), model = card(run);
    EXPECT_TRUE(contains(text, all[i].abstract)) << text;
    EXPECT_TRUE(contains(answers, all[i].checklist)) << answers;
    EXPECT_TRUE(contains(model, all[i].card)) << model;
    const bool random = contains(all[i].abstract, "random weights");
    for (const std::string* where : {&text, &answers, &model})
      EXPECT_EQ(contains(*where, "random weights"), random) << *where;
    EXPECT_EQ(contains(text, "encoder"), !contains(all[i].abstract, "a decoder of 2")) << text;
  }
}

TEST_F(ModelOriginTest, RunsOfSeveralKindsHaveASentenceEach) {
  const store::RunRow base = trained("base", {{"train", json::object()}});
  for (std::int64_t seed = 2; seed < 4; ++seed)
    trained("tuned-s" + std::to_string(seed),
            {{"model", {{"from", "/models/m" + std::to_string(seed)}}}, {"train", json::object()}}, seed);
  const std::string text = abstract({});
  EXPECT_TRUE(contains(text, "Trained (1 run): an encoder")) << text;
  EXPECT_TRUE(contains(text, "Trained (2 runs): an encoder")) << text;
  EXPECT_TRUE(contains(text, "from the weights of folders models/m2 and models/m3, on ")) << text;
}

TEST_F(ModelOriginTest, ARunThatDidNotFinishIsNotCalledScored) {
  const store::RunRow run = trained("base", {{"train", json::object()}});
  store::Statement(store().database(), "UPDATE run SET state = 'failed'").run();
  const std::string text = abstract(run);
  EXPECT_TRUE(contains(text, "; the test set has 1 example of data/test.conll.")) << text;
  EXPECT_FALSE(contains(text, "scored on")) << text;
}

}  // namespace
}  // namespace encore::testing

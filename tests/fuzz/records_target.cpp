// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "records": small files of run folders, jobs and reports, one in each case: specifications,
// predictions, references, kept attention, measurements, sessions, orders and reports of jobs, records of the
// source, and templates. The first line of an input names the kind; take() has the table of kinds and of the
// functions that read them. If a file is compared with the hash of another one, that file is written to
// match. fuzz.cpp calls the target; read target.hpp first.
#include <nlohmann/json.hpp>

#include "analysis/bench_comparison.hpp"
#include "analysis/bench_summary.hpp"
#include "analysis/predictions.hpp"
#include "base/sha256.hpp"
#include "config/experiment.hpp"
#include "document/templates.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "record/attention.hpp"
#include "record/bench_request.hpp"
#include "record/generate_request.hpp"
#include "record/source_record.hpp"
#include "record/specification.hpp"
#include "record/text_reference.hpp"
#include "runner/job_files.hpp"
#include "runner/session_file.hpp"
#include "runner/slurm/submission.hpp"
#include "store/bench_result.hpp"
#include "support/places.hpp"
#include "unit/plan/planning.hpp"

namespace encore::fuzz {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string source_diff = "diff --git a/a b/a\n";
constexpr const char* submission_name = "encore-0123456789ab";

record::Specification specification() {
  const plan::RunPoint point = planning::plan(sample::experiment).points.at(0);
  return {.run = "0123456789",
          .name = point.name,
          .seed = 1,
          .question = point.question,
          .group = point.group,
          .backend = "openmp",
          .ties = record::Ties::loss,
          .config = point.config,
          .origin = point.origin,
          .data = {{"train", {"/data/train.conll", std::string(64, 'a')}},
                   {"train.2", {"/data/more.conll", std::string(64, 'b')}}},
          .plugin_folders = {"/plugins"}};
}

store::BenchResult bench_result() {
  store::BenchCase machine{
      .name = "openmp, 1 thread",
      .machine = true,
      .settings = {{"backend", "openmp"}, {"threads", 1}},
      .host = {{"name", "here"}},
      .build = {{"compiler", "c"}},
      .environment = {{"device", "d"}},
      .facts = {{"copy", {{"bytes", 8}}}, {"gemm 8 float32", {{"flops", 1024.0}, {"precision", "float32"}}}},
      .samples = {{"copy", {0.1, 0.3}}, {"calibration", {0.1, 0.2}}, {"gemm 8 float32", {0.1, 0.2}}}};
  store::BenchCase step = machine;
  step.name = "float32, batch 4, openmp, 1 thread";
  step.machine = false;
  step.facts = {
      {"tokens", 9.0},
      {"kernels", {{"encore::layer_norm", {{"calls", 2.0}, {"flops", 1e6}, {"bytes", 1e7}}}}},
      {"reductions",
       {{{"name", "norms"}, {"kernels", {"encore::layer_norm"}}, {"free", "free norms"}},
        {{"name", "products"}, {"kernels", json::array()}, {"fixed", "matmul"}, {"free", "free norms"}}}}};
  step.samples = {{"step", {1e-3, 2e-3}},
                  {"matmul", {5e-4, 6e-4}},
                  {"free norms", {1e-5, 2e-5}},
                  {"kernel encore::layer_norm", {1e-4, 2e-4}}};
  return {.name = "quick",
          .file = "quick.toml",
          .created = 12.5,
          .settings = {{"rounds", 2}},
          .noise = {{"steal_share", 0.5}},
          .cases = {machine, step}};
}

std::string attention() {
  record::AttentionText text{.name = "example 1 of dev",
                             .tokens = {{"[CLS]", true}, {"the", false}},
                             .layers = {{.layer = "encoder.0.attention",
                                         .type = "self_attention",
                                         .heads = {0, 2},
                                         .weights = {{0.5F, 0.5F, 0.25F, 0.75F}, {1.0F, 0.0F, 0.1F, 0.9F}}}},
                             .hidden = {{"encoder.1.mixer", "linear_attention"}}};
  return record::AttentionTexts{.step = 3, .texts = {text}}.json();
}

std::string reference() {
  record::TextReference reference{.source = "dev", .step = 3, .embeddings = {{0.0, 1.0}, {1.0, 0.5}}};
  reference.histograms.add(
      {.tokens = 7, .unknown = 1, .confidence = 0.9, .distance = 1.0, .labels = {{"A", 1}}});
  return reference.json();
}

class RecordsTarget final : public Target {
 public:
  std::string name() const override { return "records"; }

  std::vector<std::string> corpus() override {
    const auto input = [](const std::string& kind, const std::string& content) {
      return NamedInput{kind, content}.text();
    };
    record::BenchRequest bench{
        .order_cost = true, .machine_precisions = {"float32"}, .machine_sizes = {256}, .cases = {}};
    bench.cases.push_back({.name = "a", .length = 16, .specification = specification()});
    return {
        input("specification", specification().to_json().dump(2)),
        input("bench_request", bench.to_json().dump()),
        input("bench_result", bench_result().to_json().dump()),
        input("attention", attention()),
        input("reference", reference()),
        input("predictions",
              R"({"example":0,"truth":["O","B-PER"],"predicted":["O","O"],"words":["a","Zo\u00eb"],)"
              R"("statistics":{"right":1,"all":2}})"
              "\n"
              R"({"example":1,"truth":[{"text":"x","type":"","start":0,"end":1},)"
              R"({"text":"y","type":"","start":2,"end":3}],"predicted":[{"text":"y","type":""}],)"
              R"("statistics":{"right":0,"all":1}})"
              "\n"),
        input(
            "session",
            R"({"host":"here","pid":12,"start_time":5,"boot_id":"b","command":"exp run a.toml","sweep":"a"})"),
        input(
            "order",
            R"({"attempt":1,"token":"t","program":"/bin/true","arguments":["train"],"output":"/tmp/log",)"
            R"("variables":{"OMP_NUM_THREADS":"2"},"rank_launcher":["srun"],"job":"12","step_timeout":60})"),
        input("report",
              R"({"token":"t","host":"here","pid":3,"beats":9,"time":1.5,"problem":"","yielded":"why",)"
              R"("silent":5,"end":{"exit_code":0,"signal":9}})"),
        input("succession", R"({"of":"t","attempt":2,"token":"u","reason":"its node failed"})"),
        input("submission",
              R"({"submitter":{"host":"here","pid":12,"start_time":5,"boot_id":"b"},"stage":"submitted",)"
              R"("job":"12","beats":3,"tries":[1.5,2.5],"queue_seconds":10,"waits_for":"","cluster":"c"})"),
        input("source", json{{"commit", std::string(40, 'a')},
                             {"diff", ""},
                             {"archive", "encore-1.0"},
                             {"sha256", std::string(64, 'b')},
                             {"diff_sha256", sha256(source_diff)},
                             {"files", {{"bin/exp", std::string(64, 'c')}}}}
                            .dump()),
        input("generate",
              record::GenerateRequest{.prompts = {"a"}, .decoding = {.beam = 2, .stop = {"."}}}.text()),
        input("attention_request",
              record::AttentionRequest{.text = "a", .target = "b", .choice = {{"encoder.0", "1"}, {0, 1}}}
                  .json()),
        input("template", read_bytes(fs::path(ENCORE_SOURCE_DIR) / "reports" / "report.md"))};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    NamedInput file = NamedInput::of(input);
    const bool is_json = file.name != "predictions" && file.name != "template";
    if (is_json && !random.once_in(3))
      mutate_json(file.content, random);
    else if (file.name == "predictions" && !random.once_in(3))
      mutate_line(file.content, random);
    else
      mutate_bytes(file.content, words(), {NamedInput::of(random.any_of(others)).content}, random);
    input = file.text();
  }

  void take(const std::string& input) override {
    const NamedInput file = NamedInput::of(input);
    static const std::map<std::string, void (RecordsTarget::*)(const std::string&) const> readers = {
        {"specification", &RecordsTarget::take_specification},
        {"bench_request", &RecordsTarget::take_bench_request},
        {"bench_result", &RecordsTarget::take_bench_result},
        {"attention", &RecordsTarget::take_attention},
        {"reference", &RecordsTarget::take_reference},
        {"predictions", &RecordsTarget::take_predictions},
        {"session", &RecordsTarget::take_session},
        {"order", &RecordsTarget::take_order},
        {"report", &RecordsTarget::take_report},
        {"succession", &RecordsTarget::take_succession},
        {"submission", &RecordsTarget::take_submission},
        {"source", &RecordsTarget::take_source},
        {"generate", &RecordsTarget::take_generate},
        {"attention_request", &RecordsTarget::take_attention_request},
        {"template", &RecordsTarget::take_template}};
    const auto reader = readers.find(file.name);
    if (reader == readers.end()) throw Error("the first line of an input names a kind of file");
    (this->*reader->second)(file.content);
  }

 private:
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_ / name).parent_path());
    write_bytes(folder_ / name, content);
  }
  fs::path path() const { return folder_ / ""; }

  void take_specification(const std::string& content) const {
    static const config::Catalogue catalogue = sample::catalogue();
    write("specification.json", content);
    const record::Specification read = record::Specification::load(path());
    if (record::Specification::from_json(read.to_json()).to_json() != read.to_json())
      throw std::logic_error("a specification is written otherwise than it was read");
    record::trains_nothing(read);
    record::files_of_role(read.data, "train");
    config::make_experiment(read.config, catalogue, read.origin);
  }
  void take_bench_request(const std::string& content) const {
    write("bench.json", content);
    record::BenchRequest::load(path()).to_json();
  }
  void take_bench_result(const std::string& content) const {
    write("result.json", content);
    const store::BenchResult read = store::BenchResult::load(folder_ / "result.json");
    const analysis::BenchSummary summary = analysis::summarize(read);
    summary.to_json();
    analysis::noise_notes(read, summary);
    analysis::thread_gains(summary);
    analysis::compare_benches(read, bench_result(), 0.05);
    analysis::compare_benches(bench_result(), read, 0.05);
  }
  void take_attention(const std::string& content) const { record::AttentionTexts::parse(content).json(); }
  void take_reference(const std::string& content) const {
    write("reference.json", content);
    const auto read = record::find_reference(path());
    const std::vector<float> embedding = {0.5F, 2.0F};
    const record::TextFacts facts = {.tokens = 3, .unknown = 3, .confidence = 1.0, .labels = {{"A", 2}}};
    if (read) {
      read->embeddings.distance(embedding);
      record::TextHistograms histograms = read->histograms;
      histograms.add(facts);
      read->json();
    }
  }
  void take_predictions(const std::string& content) const {
    write("test.jsonl", content);
    analysis::read_statistics(folder_ / "test.jsonl");
    analysis::read_prediction(content.substr(0, content.find('\n')));
  }
  void take_session(const std::string& content) const {
    write("runs/sessions/1-2.json", content);
    runner::open_sessions(folder_ / "runs");
  }
  void take_order(const std::string& content) const {
    write("attempt-0001.order", content);
    runner::load_order(folder_ / "attempt-0001.order");
  }
  void take_report(const std::string& content) const {
    write("attempt-0001.job", content);
    if (const auto read = runner::read_report(path(), 1)) runner::write_report(path(), 2, *read);
  }
  void take_succession(const std::string& content) const {
    write("attempt-0001.next", content);
    runner::read_succession(path(), 1);
  }
  void take_submission(const std::string& content) const {
    write(std::string("runs/jobs/") + submission_name + "/" + runner::submission_file, content);
    runner::load_submission(folder_ / "runs", submission_name);
    runner::list_submissions(folder_ / "runs");
  }
  void take_source(const std::string& content) const {
    write("share/encore/source.json", content);
    write("share/encore/source.diff", source_diff);
    if (const auto read = record::read_source_record(path())) record::source_text(read->source);
  }
  void take_generate(const std::string& content) const {
    record::contradiction_in(record::GenerateRequest::parse(content).decoding.over(Decoding()));
  }
  void take_attention_request(const std::string& content) const {
    record::AttentionRequest::parse(content).choice.means("encoder.0.attention", 0);
  }
  void take_template(const std::string& content) const {
    write("own/report.md", content);
    const document::Templates templates(fs::path(ENCORE_SOURCE_DIR) / "reports", folder_ / "own");
    document::fill(templates.find("report.md"), {{"title", "a"}, {"header", "{{body}}"}, {"body", "text"}},
                   {"body"});
  }

  static const Words& words() {
    static const Words list = [] {
      Words all = json_words();
      all.insert(all.end(),
                 {"{{", "}}", "{{header}}", "{{body}}", "\n", "\"statistics\":", "\"truth\":", "\xff"});
      return all;
    }();
    return list;
  }

  /// Changes one of the lines as JSON.
  static void mutate_line(std::string& content, Random& random) {
    const std::size_t cut = std::min(content.find('\n'), content.size());
    std::string first = content.substr(0, cut), rest = content.substr(std::min(cut + 1, content.size()));
    mutate_json(random.once_in(2) ? first : rest, random);
    content = first + "\n" + rest;
  }

  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_records_target() {
  return std::make_unique<RecordsTarget>();
}

}  // namespace encore::fuzz

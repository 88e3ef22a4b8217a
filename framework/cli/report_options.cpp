// The options of the verbs that write documents about runs: report, compare, attention, export. Their work is
// done by exp-report (components.hpp).
#include "cli/access.hpp"
#include "cli/components.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "report/report.hpp"

namespace encore {

namespace {

/// "a, b, c"
std::string listed_words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

CommandLine make_report_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "report", {"report [RUN...] -o FILE [options]",
                 "Writes a document about a run, a sweep or all runs, made from the database alone: what was "
                 "asked and the answer with its uncertainty, all trials, curves, what each parameter "
                 "explains, examples, the method, the environment, and how to do it again. Equal databases "
                 "give equal bytes. The name of the file says the format. Without RUN all runs are meant.",
                 {{"exp report quickstart -o report.html", "of a run, or of all runs of a sweep"},
                  {"exp report quickstart --metric dev/f1 --format json",
                   "about another score, to the standard output"},
                  {"exp report quickstart --brief -o brief.html",
                   "two pages: the answer, one table, one picture, how to do it again"},
                  {"exp report quickstart --without examples,code -o report.md",
                   "without sentences of the data and without uncommitted changes"},
                  {"exp report quickstart -o tables.csv", "each table as a file in the folder tables"},
                  {"exp report quickstart --checklist neurips",
                   "what the record answers of the checklist of a venue, and what is left for you"},
                  {"exp report all --against quickstart -o beside.tex",
                   "all runs, with older ones beside them; a date puts those finished before it there"}}});
  line.options()("output,o", po::value<std::string>()->value_name("FILE"),
                 "the file to write: .html, .md, .tex, .csv, .json");
  line.options()("format", po::value<std::string>()->value_name("NAME"),
                 "html, md, tex, csv, json, where the name of the file does not say it");
  line.options()("template", po::value<std::string>()->value_name("FILE"),
                 "a template or a folder of templates of your own");
  line.options()("table", po::value<std::string>()->value_name("ID"), "of csv: this table alone");
  line.options()("brief", po::bool_switch(),
                 "two pages: abstract, one table, one picture, how to do it again");
  line.options()("sections", po::value<std::string>()->value_name("A,B"),
                 ("only these: " + listed_words(report_sections())).c_str());
  line.options()("without", po::value<std::string>()->value_name("A,B"),
                 "all but these. Examples are left out by themselves where [data] private = true, unless "
                 "--sections names them");
  line.options()(
      "metric", po::value<std::string>()->value_name("NAME"),
      "what the report is about: split/measure (default: the measure that chooses checkpoints, on test)");
  line.options()("against", po::value<std::string>()->value_name("OLD"),
                 "put other runs beside these: a run, a sweep, or a date such as 2026-11-01 (UTC)");
  line.options()("checklist", po::value<std::string>()->value_name("LIST"),
                 "in place of the report: the checklist of a venue, as far as the record answers it: "
                 "neurips, acl, mlperf");
  line.options()("json", po::bool_switch(), "of a checklist: as JSON, item by item");
  line.options()("pool", po::bool_switch(),
                 "runs that differ in plugin files or numeric environments are one candidate too");
  add_run_arguments(line);
  return line;
}

CommandLine make_compare_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "compare",
      {"compare RUN... [options]",
       "Compares candidates over their seeds. Runs that differ in nothing but the seed, on one backend, from "
       "the same plugin files and numeric environment, are one candidate. Each gets n, mean, standard "
       "deviation and 95 % intervals by t and by bootstrap (BCa); each pair a t-test (paired on shared "
       "seeds, else Welch's) and, where predictions are stored, a permutation test on the examples, both "
       "with Holm's correction. What the seeds do not tell apart is not ranked; how many would do is said. "
       "Runs without a value are shown and not counted.",
       {{"exp compare quickstart", "the candidates of one sweep, or one run"},
        {"exp compare \"quick*\" --metric dev/f1 --detect 0.01",
         "are there enough seeds to see one point of it?"},
        {"exp compare --state completed --where \"epoch >= 1\"",
         "all complete runs that trained at least one epoch"},
        {"exp compare quickstart --json", "all of it for a program"}}});
  line.options()("metric", po::value<std::string>()->value_name("NAME"),
                 "what is compared: split/measure (default: the measure that chooses checkpoints, on test)");
  line.options()("by", po::value<std::string>()->value_name("WAY")->default_value("group"),
                 "what is one candidate: group (all seeds of a question) or run");
  line.options()("pool", po::bool_switch(),
                 "runs of one question that differ in plugin files or numeric environments are one candidate "
                 "too; without it they are shown apart");
  line.options()("detect", po::value<double>()->value_name("DELTA"),
                 "the difference that matters, in the unit of the metric (0.01: one point of a metric in "
                 "percent); without it "
                 "the one that was seen decides how many seeds would do");
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("csv", po::bool_switch(), "the candidates as CSV");
  line.options()("pairs", po::bool_switch(), "with --csv: the pairs instead");
  add_run_arguments(line);
  return line;
}

CommandLine make_attention_line() {
  namespace po = boost::program_options;
  CommandLine line("attention",
                   {"attention RUN TEXT [options]",
                    "Shows what the attention of a run's best model looks at in a text: a map of weights for "
                    "each layer and head, of the encoder, the decoder, and the decoder over the encoder. A "
                    "text is what exp predict takes as a line (a pair: the two texts with a tab between "
                    "them). What a decoder reads beside an encoder is what the model writes, the most "
                    "probable piece each time, or --target. The weights are those of a pass without dropout.",
                    {{"exp attention quickstart \"Anna Berg lives in Lund .\"",
                      "a page with all maps, quickstart.attention.html"},
                     {"exp attention quickstart \"Anna Berg lives in Lund .\" --layer 0 --head 0 -o head.svg",
                      "one map as a picture"},
                     {"exp attention shakespeare \"monday tuesday\" --json", "the weights as numbers"}}});
  line.options()(
      "output,o", po::value<std::string>()->value_name("FILE"),
      "the file to write: .html, a page with the values under the pointer, or .svg, a picture (default: "
      "RUN.attention.html)");
  line.options()("target", po::value<std::string>()->value_name("TEXT"),
                 "what the decoder reads in place of the text that the model writes");
  line.options()("layer", po::value<std::vector<std::string>>()->value_name("LAYER"),
                 "only this: the number of a block, from 0, or the beginning of a layer's path such as "
                 "decoder.1 (may be repeated)");
  line.options()("head", po::value<std::vector<std::int64_t>>()->value_name("N"),
                 "only this head of each layer, from 0 (may be repeated)");
  line.options()("json", po::bool_switch(), "the weights as JSON, to the standard output");
  add_model_options(line);
  add_weights_option(line);
  add_run_options(line);
  line.positional("run");
  line.positional("text", -1);
  return line;
}

CommandLine make_export_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "export",
      {"export RUN -o DIR [options]",
       "Writes the best model of a run as a folder for other programs: weights, the tokenizer's files, and a "
       "model card with data, scores, hashes and how to verify them.",
       {{"exp export minilm_wnut17-s1 -o minilm-names", "a folder for transformers, or for model.from"},
        {"exp export minilm_wnut17 --best dev/f1 -o best-names", "the best run of a sweep"},
        {"exp export minilm_wnut17-s1 --dtype float16 -o half-names", "weights in half the space"},
        {"exp export quickstart --format onnx -o names-onnx",
         "model.onnx for onnxruntime and others, and how to ask it"},
        {"exp export quickstart --format encore -o quickstart-model",
         "for exp serve quickstart-model on another machine, or a program of C"}}});
  line.options()("output,o", po::value<std::string>()->value_name("DIR"),
                 "the folder to write; it must not be there yet, or be empty");
  line.options()(
      "format", po::value<std::string>()->value_name("FORMAT")->default_value("huggingface"),
      "huggingface: a BERT, RoBERTa or GPT-2 as transformers saves it, another model is refused; onnx: a "
      "graph of ONNX, opset 17, of any model without a decoder; encore: for exp serve DIR elsewhere, and "
      "programs that embed the model with libencore_infer.so");
  line.options()(
      "dtype", po::value<std::string>()->value_name("TYPE"),
      "huggingface: round the weights to float32, bfloat16 or float16 (default: as the run has them)");
  line.options()("external-data", po::bool_switch(),
                 "onnx: weights in a file of their own, model.onnx.data, as they are from 2 GB on");
  line.options()("json", po::bool_switch(), "what was written, as JSON");
  add_model_options(line);
  add_run_arguments(line);
  return line;
}

int report_verb(const Arguments& arguments) {
  return run_in_component(make_report_line(), arguments);
}

int compare_verb(const Arguments& arguments) {
  return run_in_component(make_compare_line(), arguments);
}

int attention_verb(const Arguments& arguments) {
  return run_in_component(make_attention_line(), arguments);
}

int export_verb(const Arguments& arguments) {
  return run_in_component(make_export_line(), arguments);
}

}  // namespace encore

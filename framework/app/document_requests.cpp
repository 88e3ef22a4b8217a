// SPDX-License-Identifier: BSD-3-Clause
// The options of report, compare, attention and export, and their rules (Form, form.hpp). exp checks the
// command line by these forms and then replaces itself by exp-report, which reads the same words by the same
// forms (cli/components.cpp). Names of options must not change; help may. Read next: document_requests.hpp.
#include "app/document_requests.hpp"

#include <cmath>

#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "report/section_choice.hpp"

namespace encore::app {

namespace {

/// Returns "a, b, c".
std::string listed_words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

Form<ReportRequest> report_form() {
  using R = ReportRequest;
  return Form<R>(
             "report",
             {"report [RUN...] -o FILE [options]",
              "Writes a document about a run, a sweep or all runs from the database alone: the question, the "
              "answer with its uncertainty, all trials, curves, the effect of each parameter, examples, the "
              "method, the environment, and how to repeat it. Equal databases give equal bytes. The "
              "extension of FILE chooses the format. Without RUN, the report is about all runs.",
              {{"exp report quickstart -o report.html", "a report of a run, or of all runs of a sweep"},
               {"exp report quickstart --metric dev/f1 --format json",
                "use another score; print to standard output"},
               {"exp report quickstart --brief -o brief.html",
                "two pages: the answer, one table, one picture, how to repeat it"},
               {"exp report quickstart --without examples,code -o report.md",
                "leave out examples from the data and uncommitted changes"},
               {"exp report quickstart -o tables.csv", "one file for each table, in the folder tables"},
               {"exp report quickstart --checklist neurips",
                "a venue's checklist: answers from the record, and items left for you"},
               {"exp report all --against quickstart -o beside.tex",
                "all runs beside the run quickstart; --against also takes a date (UTC)"}}})
      .option("output,o", &R::output, "FILE", "the file to write: .html, .md, .tex, .csv, .json")
      .option("format", &R::format, "NAME",
              "one of html, md, tex, csv, json (default: by the extension of FILE)")
      .option("template", &R::templates, "FILE", "a template or a folder of templates of your own")
      .option("table", &R::table, "ID", "for csv: write only this table")
      .flag("brief", &R::brief, "two pages: abstract, one table, one picture, how to repeat it")
      .option("sections", &R::sections, "A,B", "write only these: " + listed_words(report::report_sections()))
      .option("without", &R::without, "A,B",
              "leave these out. If [data] private = true, examples are left out by default; only --sections "
              "brings them back")
      .option("metric", &R::metric, "NAME",
              "the compared score: split/measure (default: the measure that chooses checkpoints, on test)")
      .option("against", &R::against, "OLD",
              "put other runs beside these: a run, a sweep, or a date such as 2026-11-01 (UTC)")
      .option("checklist", &R::checklist, "LIST",
              "write a venue's checklist from the record: neurips, acl, mlperf")
      .flag("json", &R::json, "with --checklist: print JSON, item by item")
      .flag("pool", &R::pool,
            "runs that differ in plugin files or numeric environments are one candidate too")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.json && !request.checklist)
          return "--json needs --checklist; use --format json for a report";
        if (request.checklist)
          for (const auto& [option, written] :
               {std::pair("against", request.against.has_value()),
                std::pair("sections", request.sections.has_value()),
                std::pair("without", request.without.has_value()), std::pair("brief", request.brief)})
            if (written) return std::string("--checklist excludes --") + option;
        if (request.output.empty() && !request.format && !request.checklist)
          return "exp report needs -o with a file to write, such as report.html (exp report -h shows "
                 "examples)";
        for (const auto& [option, text] :
             {std::pair("metric", request.metric), std::pair("against", request.against),
              std::pair("template", request.templates), std::pair("table", request.table),
              std::pair("sections", request.sections), std::pair("without", request.without)})
          if (text == "") return std::string("--") + option + " is empty";
        return "";
      })
      .exclude("brief", "sections", "--brief and --sections exclude each other: --brief has fixed sections")
      .exclude("brief", "against",
               "--brief and --against exclude each other: two pages have no space for older runs");
}

Form<CompareRequest> compare_form() {
  using R = CompareRequest;
  return Form<R>("compare",
                 {"compare RUN... [options]",
                  "Compares candidates over their seeds. Runs that differ only in the seed, on one backend, "
                  "from the same plugin files and numeric environment, are one candidate. Each gets n, mean, "
                  "standard deviation and 95 % intervals by t and by bootstrap (BCa); each pair a t-test "
                  "(paired on shared seeds, else Welch's) and, where predictions are stored, a permutation "
                  "test on the examples, both with Holm's correction. Candidates that the seeds do not "
                  "distinguish are not ranked; the number of seeds that would be enough is printed. Runs "
                  "without a value are shown but not counted.",
                  {{"exp compare quickstart", "the candidates of one sweep, or one run"},
                   {"exp compare \"quick*\" --metric dev/f1 --detect 0.01",
                    "check whether there are enough seeds to detect one point"},
                   {"exp compare --state completed --where \"epoch >= 1\"",
                    "all complete runs that trained at least one epoch"},
                   {"exp compare quickstart --json", "the same for a program"}}})
      .option("metric", &R::metric, "NAME",
              "the compared score: split/measure (default: the measure that chooses checkpoints, on test)")
      .option("by", &R::by, "WAY", "what counts as one candidate: group (all seeds of a question) or run")
      .flag("pool", &R::pool,
            "runs of one question that differ in plugin files or numeric environments are one candidate too; "
            "without this option they are separate candidates")
      .option("detect", &R::detect, "DELTA",
              "the difference to detect, in the unit of the metric (0.01: one point of a metric in percent); "
              "default: the observed difference. It decides how many seeds are enough")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "the candidates as CSV")
      .flag("pairs", &R::pairs, "with --csv: print the pairs instead")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .needs("pairs", "csv", "--pairs needs --csv; --json has both")
      .refuse([](const R& request) -> std::string {
        const std::vector<std::string> ways = {"group", "run"};
        if (request.metric == "") return "--metric needs a name, such as dev/loss";
        if (request.by != "group" && request.by != "run")
          return "invalid --by \"" + request.by + "\"" +
                 did_you_mean(request.by, ways, ": expected " + quoted_list(ways));
        if (request.detect && (!(*request.detect > 0.0) || !std::isfinite(*request.detect)))
          return "invalid --detect: expected a number above 0 in the unit of the metric, such as 0.01 for "
                 "one point of a metric in percent";
        return "";
      });
}

Form<AttentionPageRequest> attention_form() {
  using R = AttentionPageRequest;
  return Form<R>("attention",
                 {"attention RUN TEXT [options]",
                  "Shows what the attention of a run's best model looks at in a text: a map of weights for "
                  "each layer and head, of the encoder, the decoder, and the decoder over the encoder. A "
                  "text is a line as for exp predict (a pair has a tab between its two parts). What a "
                  "decoder reads beside an encoder is what the model writes, the most probable token each "
                  "time, or --target. The weights are those of a pass without dropout.",
                  {{"exp attention quickstart \"Anna Berg lives in Lund .\"",
                    "a page with all maps, quickstart.attention.html"},
                   {"exp attention quickstart \"Anna Berg lives in Lund .\" --layer 0 --head 0 -o head.svg",
                    "draw one map as a picture"},
                   {"exp attention shakespeare \"monday tuesday\" --json", "print the weights as numbers"}}})
      .option("output,o", &R::output, "FILE",
              "the file to write: .html, a page with the values under the pointer, or .svg, a picture "
              "(default: RUN.attention.html)")
      .option("target", &R::target, "TEXT",
              "the text that the decoder reads instead of the model's own output")
      .option("layer", &R::layer, "LAYER",
              "show only this layer: the number of a block, from 0, or the beginning of a layer's path such "
              "as decoder.1 (may be repeated)")
      .option("head", &R::head, "N", "show only this head of each layer, from 0 (may be repeated)")
      .flag("json", &R::json, "print the weights as JSON to standard output")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .refuse([](const R& request) -> std::string {
        if (request.json && !request.output.empty())
          return "--json prints to standard output; remove -o or --json";
        if (request.text.empty()) return "exp attention needs a text (exp attention -h shows examples)";
        if (request.text.size() == 1) return "";
        return "exp attention takes one text, not " + std::to_string(request.text.size()) +
               ": put it in quotes, as in " + shell_word(request.text[0] + " " + request.text[1]);
      });
}

Form<ExportRequest> export_form() {
  using R = ExportRequest;
  return Form<R>("export",
                 {"export RUN -o DIR [options]",
                  "Writes the best model of a run as a folder for other programs: weights, the tokenizer's "
                  "files, and a model card with data, scores, hashes and how to verify them.",
                  {{"exp export minilm_wnut17-s1 -o minilm-names",
                    "write a folder for transformers, or for model.from"},
                   {"exp export minilm_wnut17 --best dev/f1 -o best-names", "the best run of a sweep"},
                   {"exp export minilm_wnut17-s1 --dtype float16 -o half-names",
                    "write weights in half the space"},
                   {"exp export quickstart --format onnx -o names-onnx",
                    "write model.onnx for onnxruntime and others, with an example of its use"},
                   {"exp export quickstart --format encore -o quickstart-model",
                    "for exp serve quickstart-model on another machine, or for a C program"}}})
      .option("output,o", &R::output, "DIR", "the folder to write; it must be new or empty")
      .option("format", &R::format, "FORMAT",
              "huggingface: a folder as transformers saves it, of a BERT, RoBERTa, GPT-2, BART, T5 or "
              "MarianMT; other models are refused; "
              "onnx: a graph of ONNX, opset 17, of any model without a decoder; encore: for exp serve DIR "
              "elsewhere, and programs that embed the model with libencore_infer.so")
      .option("dtype", &R::dtype, "TYPE",
              "huggingface: round the weights to float32, bfloat16 or float16 (default: as the run has "
              "them)")
      .flag("external-data", &R::external_data,
            "onnx: write the weights into a separate file, model.onnx.data (always done from 2 GB on)")
      .flag("json", &R::json, "print a summary as JSON")
      .include(&R::model, model_options())
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        const std::string& format = request.format;
        if (format != "huggingface" && format != "onnx" && format != "encore")
          return "invalid --format \"" + format + "\": expected huggingface, onnx or encore";
        if (format != "huggingface" && request.dtype)
          return std::string("--dtype needs --format huggingface: ") +
                 (format == "onnx" ? "the weights of an ONNX graph are float32"
                                   : "a folder of Encore keeps the weights unchanged");
        if (format != "onnx" && request.external_data)
          return "--external-data needs --format onnx: the other formats have no size limit";
        if (request.output.empty())
          return "exp export needs -o DIR, the folder to write (exp export -h shows an example)";
        return "";
      });
}

}  // namespace encore::app

// The options of the verbs that write documents about runs.
#include "app/document_requests.hpp"

#include <cmath>

#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "report/section_choice.hpp"

namespace encore {

namespace {

/// "a, b, c"
std::string listed_words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

Form<ReportRequest> report_form() {
  using R = ReportRequest;
  return Form<R>("report",
                 {"report [RUN...] -o FILE [options]",
                  "Writes a document about a run, a sweep or all runs, made from the database alone: what "
                  "was asked and the answer with its uncertainty, all trials, curves, what each parameter "
                  "explains, examples, the method, the environment, and how to do it again. Equal "
                  "databases give equal bytes. The name of the file says the format. Without RUN all runs "
                  "are meant.",
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
                    "all runs, with older ones beside them; a date puts those finished before it there"}}})
      .option("output,o", &R::output, "FILE", "the file to write: .html, .md, .tex, .csv, .json")
      .option("format", &R::format, "NAME",
              "html, md, tex, csv, json, where the name of the file does not say it")
      .option("template", &R::templates, "FILE", "a template or a folder of templates of your own")
      .option("table", &R::table, "ID", "of csv: this table alone")
      .flag("brief", &R::brief, "two pages: abstract, one table, one picture, how to do it again")
      .option("sections", &R::sections, "A,B", "only these: " + listed_words(report_sections()))
      .option("without", &R::without, "A,B",
              "all but these. Examples are left out by themselves where [data] private = true, unless "
              "--sections names them")
      .option("metric", &R::metric, "NAME",
              "what the report is about: split/measure (default: the measure that chooses checkpoints, on "
              "test)")
      .option("against", &R::against, "OLD",
              "put other runs beside these: a run, a sweep, or a date such as 2026-11-01 (UTC)")
      .option("checklist", &R::checklist, "LIST",
              "in place of the report: the checklist of a venue, as far as the record answers it: neurips, "
              "acl, mlperf")
      .flag("json", &R::json, "of a checklist: as JSON, item by item")
      .flag("pool", &R::pool,
            "runs that differ in plugin files or numeric environments are one candidate too")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.json && !request.checklist)
          return "--json is for --checklist; a report is written as JSON with --format json";
        if (request.checklist)
          for (const auto& [option, written] :
               {std::pair("against", request.against.has_value()),
                std::pair("sections", request.sections.has_value()),
                std::pair("without", request.without.has_value()), std::pair("brief", request.brief)})
            if (written) return std::string("--checklist has no --") + option;
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
      .exclude("brief", "sections",
               "--brief and --sections exclude each other: --brief chooses what two pages hold")
      .exclude("brief", "against", "--brief has no room for --against; leave one of them out");
}

Form<CompareRequest> compare_form() {
  using R = CompareRequest;
  return Form<R>("compare",
                 {"compare RUN... [options]",
                  "Compares candidates over their seeds. Runs that differ in nothing but the seed, on one "
                  "backend, from the same plugin files and numeric environment, are one candidate. Each "
                  "gets n, mean, standard deviation and 95 % intervals by t and by bootstrap (BCa); each "
                  "pair a t-test (paired on shared seeds, else Welch's) and, where predictions are stored, "
                  "a permutation test on the examples, both with Holm's correction. What the seeds do not "
                  "tell apart is not ranked; how many would do is said. Runs without a value are shown and "
                  "not counted.",
                  {{"exp compare quickstart", "the candidates of one sweep, or one run"},
                   {"exp compare \"quick*\" --metric dev/f1 --detect 0.01",
                    "are there enough seeds to see one point of it?"},
                   {"exp compare --state completed --where \"epoch >= 1\"",
                    "all complete runs that trained at least one epoch"},
                   {"exp compare quickstart --json", "all of it for a program"}}})
      .option("metric", &R::metric, "NAME",
              "what is compared: split/measure (default: the measure that chooses checkpoints, on test)")
      .option("by", &R::by, "WAY", "what is one candidate: group (all seeds of a question) or run")
      .flag("pool", &R::pool,
            "runs of one question that differ in plugin files or numeric environments are one candidate "
            "too; without it they are shown apart")
      .option("detect", &R::detect, "DELTA",
              "the difference that matters, in the unit of the metric (0.01: one point of a metric in "
              "percent); without it the one that was seen decides how many seeds would do")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "the candidates as CSV")
      .flag("pairs", &R::pairs, "with --csv: the pairs instead")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .needs("pairs", "csv", "--pairs goes with --csv; --json has both")
      .refuse([](const R& request) -> std::string {
        const std::vector<std::string> ways = {"group", "run"};
        if (request.metric == "") return "--metric needs a name, such as dev/loss";
        if (request.by != "group" && request.by != "run")
          return "--by \"" + request.by + "\" is no way to make candidates" +
                 did_you_mean(request.by, ways, "; there are " + quoted_list(ways));
        if (request.detect && (!(*request.detect > 0.0) || !std::isfinite(*request.detect)))
          return "--detect is a difference that matters, greater than 0, in the unit of the metric: 0.01 is "
                 "one "
                 "point of a metric in percent";
        return "";
      });
}

Form<AttentionPageRequest> attention_form() {
  using R = AttentionPageRequest;
  return Form<R>("attention",
                 {"attention RUN TEXT [options]",
                  "Shows what the attention of a run's best model looks at in a text: a map of weights for "
                  "each layer and head, of the encoder, the decoder, and the decoder over the encoder. A "
                  "text is what exp predict takes as a line (a pair: the two texts with a tab between "
                  "them). What a decoder reads beside an encoder is what the model writes, the most "
                  "probable token each time, or --target. The weights are those of a pass without dropout.",
                  {{"exp attention quickstart \"Anna Berg lives in Lund .\"",
                    "a page with all maps, quickstart.attention.html"},
                   {"exp attention quickstart \"Anna Berg lives in Lund .\" --layer 0 --head 0 -o head.svg",
                    "one map as a picture"},
                   {"exp attention shakespeare \"monday tuesday\" --json", "the weights as numbers"}}})
      .option("output,o", &R::output, "FILE",
              "the file to write: .html, a page with the values under the pointer, or .svg, a picture "
              "(default: RUN.attention.html)")
      .option("target", &R::target, "TEXT",
              "what the decoder reads in place of the text that the model writes")
      .option("layer", &R::layer, "LAYER",
              "only this: the number of a block, from 0, or the beginning of a layer's path such as "
              "decoder.1 (may be repeated)")
      .option("head", &R::head, "N", "only this head of each layer, from 0 (may be repeated)")
      .flag("json", &R::json, "the weights as JSON, to the standard output")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .refuse([](const R& request) -> std::string {
        if (request.json && !request.output.empty())
          return "--json goes to the standard output; leave out -o or --json";
        if (request.text.empty())
          return "exp attention needs a text to look at (exp attention -h shows examples)";
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
                    "a folder for transformers, or for model.from"},
                   {"exp export minilm_wnut17 --best dev/f1 -o best-names", "the best run of a sweep"},
                   {"exp export minilm_wnut17-s1 --dtype float16 -o half-names", "weights in half the space"},
                   {"exp export quickstart --format onnx -o names-onnx",
                    "model.onnx for onnxruntime and others, and how to ask it"},
                   {"exp export quickstart --format encore -o quickstart-model",
                    "for exp serve quickstart-model on another machine, or a program of C"}}})
      .option("output,o", &R::output, "DIR", "the folder to write; it must not be there yet, or be empty")
      .option("format", &R::format, "FORMAT",
              "huggingface: a BERT, RoBERTa or GPT-2 as transformers saves it, another model is refused; "
              "onnx: a graph of ONNX, opset 17, of any model without a decoder; encore: for exp serve DIR "
              "elsewhere, and programs that embed the model with libencore_infer.so")
      .option("dtype", &R::dtype, "TYPE",
              "huggingface: round the weights to float32, bfloat16 or float16 (default: as the run has "
              "them)")
      .flag("external-data", &R::external_data,
            "onnx: weights in a file of their own, model.onnx.data, as they are from 2 GB on")
      .flag("json", &R::json, "what was written, as JSON")
      .include(&R::model, model_options())
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        const std::string& format = request.format;
        if (format != "huggingface" && format != "onnx" && format != "encore")
          return "--format is \"" + format + "\"; it must be huggingface, onnx or encore";
        if (format != "huggingface" && request.dtype)
          return std::string("--dtype is for --format huggingface; ") +
                 (format == "onnx" ? "the weights of an ONNX graph are float32"
                                   : "a folder of Encore has the weights as they are");
        if (format != "onnx" && request.external_data)
          return "--external-data is for --format onnx; no other format has such a limit";
        if (request.output.empty())
          return "exp export needs a folder to write (-o DIR) (exp export -h shows an example)";
        return "";
      });
}

}  // namespace encore

// SPDX-License-Identifier: BSD-3-Clause
// Implements export_to_onnx(): writes the folder of an ONNX export with the graph, the tokenizer's files and
// model.json (task, labels, inputs, outputs). The worker's export calls it. The keys of model.json are read
// by programs of users. Read onnx_export.hpp first, graph_writer.hpp next.
#include "onnx/onnx_export.hpp"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "data/vocabulary.hpp"
#include "infer/hugging_face_export.hpp"
#include "onnx/graph_writer.hpp"
#include "pretrained/family.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "world/atomic_file.hpp"

namespace encore::onnx {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Returns the family whose tokenizer files other programs read for this tokenizer; null if there is none.
const pretrained::Family* family_of_tokenizer(const std::string& type) {
  for (const char* name : {"bert", "roberta"})
    if (const pretrained::Family* family = pretrained::find_family(name); type == family->tokenizer->type)
      return family;
  return nullptr;
}

void write_tokenizer(const infer::Engine& engine, const fs::path& folder) {
  if (const pretrained::Family* family = family_of_tokenizer(engine.experiment().tokenizer.type)) {
    for (const auto& [name, text] :
         infer::tokenizer_texts(engine, *family->tokenizer, family->tokenizer_class))
      world::save_file(folder / name, text);
    return;
  }
  world::save_file(folder / infer::vocabulary_file, data::vocabulary_text(engine.vocabulary_lines()));
  if (const std::string model = data::sentencepiece_model(engine.vocabulary_lines(), "model"); !model.empty())
    world::save_file(folder / data::t5_model_file, model);
}

json ports_json(const std::vector<onnx_graph::OnnxPort>& ports) {
  json all = json::object();
  for (const onnx_graph::OnnxPort& port : ports) {
    json& shape = all[port.name] = json::array();
    for (const std::int64_t extent : port.shape)
      if (extent >= 0)
        shape.push_back(extent);
      else
        shape.push_back(extent == OnnxGraph::batch ? "batch" : "length");
  }
  return all;
}

json facts_json(const infer::Engine& engine, const onnx_graph::OnnxModel& graph) {
  const config::Experiment& experiment = engine.experiment();
  json specials = json::object();
  for (const Special role : all_specials)
    if (const std::optional<std::int32_t> token = engine.tokenizer().find(role))
      specials[std::string(name_of(role))] = *token;
  json facts = {{"task", experiment.task.type},
                {"labels", engine.task().labels()},
                {"max_length", experiment.data.max_length},
                {"tokenizer", experiment.tokenizer.type},
                {"special_pieces", specials},
                {"inputs", ports_json(graph.inputs)},
                {"outputs", ports_json(graph.outputs)},
                {"digest", engine.digest()}};
  if (!engine.tuned().empty()) facts["chosen_on_dev"] = engine.tuned();
  return facts;
}

const onnx_graph::OnnxPort* port_of(const std::vector<onnx_graph::OnnxPort>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, &onnx_graph::OnnxPort::name);
  return found == ports.end() ? nullptr : &*found;
}

std::string pipeline_of(const infer::Engine& engine, const onnx_graph::OnnxModel& graph) {
  if (port_of(graph.outputs, "start_logits") != nullptr) return "question-answering";
  if (port_of(graph.outputs, "embedding") != nullptr) return "sentence-similarity";
  const onnx_graph::OnnxPort* logits = port_of(graph.outputs, "logits");
  if (logits == nullptr) return "token-classification";  // emissions of a chain
  if (std::ranges::find(engine.model().outputs(), "candidates", &OutputRule::name) !=
      engine.model().outputs().end())
    return engine.model().network().is_causal() ? "text-generation" : "fill-mask";
  return logits->shape.size() == 3 ? "token-classification" : "text-classification";
}

/// Returns Python code that uses the model. Its input is text if `transformers` knows the tokenizer,
/// otherwise numbers of tokens.
std::string use_of(const infer::Engine& engine, const onnx_graph::OnnxModel& graph) {
  const bool known = family_of_tokenizer(engine.experiment().tokenizer.type) != nullptr;
  const bool plain = port_of(graph.inputs, "spans") == nullptr;
  std::string text = "import numpy, onnxruntime\n";
  if (known) text += "from transformers import AutoTokenizer\n";
  text += "\nsession = onnxruntime.InferenceSession(DIR + \"/" + std::string(onnx_graph::onnx_file) + "\")\n";
  if (known) {
    text +=
        "tokenizer = AutoTokenizer.from_pretrained(DIR)\n"
        "encoded = dict(tokenizer([\"a text\", \"another one\"], padding=True, truncation=True, "
        "return_tensors=\"np\"))\n";
  } else {
    const auto token = [&](Special role) { return std::to_string(engine.tokenizer().special(role)); };
    text += "# Each text: " + token(Special::start) + ", the numbers of its tokens (lines of " +
            infer::vocabulary_file + ", from 0), " + token(Special::end) + ", and " +
            token(Special::padding) + " up to the longest.\n" + "ids = numpy.array([[" +
            token(Special::start) + ", " + token(Special::unknown) + ", " + token(Special::end) + "]])\n" +
            "encoded = {\"" + onnx_graph::ids_input + "\": ids, \"" + onnx_graph::mask_input +
            "\": numpy.ones_like(ids)}\n";
  }
  if (!plain)
    text +=
        "# The first and last token of the span e1 of each text, then of e2.\n"
        "encoded[\"spans\"] = numpy.array([[1, 1, 2, 2]] * len(encoded[\"" +
        std::string(onnx_graph::ids_input) + "\"]))\n";
  return text +
         "given = {port.name: encoded[port.name].astype(\"int64\") for port in session.get_inputs()}\n"
         "outputs = dict(zip([port.name for port in session.get_outputs()], session.run(None, given)))\n"
         "print({name: values.shape for name, values in outputs.items()})\n";
}

}  // namespace

ExportedOnnx export_to_onnx(const infer::Engine& engine, const fs::path& folder,
                            onnx_graph::OnnxWeights weights) {
  onnx_graph::OnnxModel graph = GraphWriter(engine.model()).write();
  const json facts = facts_json(engine, graph);
  for (const char* name : {"task", "max_length", "labels"})
    graph.metadata[name] = facts[name].is_string()
                               ? facts[name].get<std::string>()
                               : facts[name].dump(-1, ' ', false, json::error_handler_t::replace);
  if (onnx_graph::constant_bytes(graph) > onnx_graph::most_onnx_bytes)
    weights = onnx_graph::OnnxWeights::beside;
  const record::SavedFile saved = onnx_graph::save_onnx(folder, graph, weights);
  world::save_file(folder / onnx_facts_file, pretrained::json_file_text(facts));
  write_tokenizer(engine, folder);
  return {.pipeline = pipeline_of(engine, graph),
          .tensors = static_cast<std::int64_t>(graph.constants.size()),
          .parameters = engine.model().parameters().count(),
          .weights_file =
              weights == onnx_graph::OnnxWeights::beside ? onnx_graph::onnx_data_file : onnx_graph::onnx_file,
          .weights_sha256 = saved.sha256,
          .use = use_of(engine, graph)};
}

}  // namespace encore::onnx

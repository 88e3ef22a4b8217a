// SPDX-License-Identifier: BSD-3-Clause
// The verb embed: computes vectors of inputs or words, or finds their nearest neighbours, for `exp embed`
// (app/embed.hpp). It reads one EmbedRequest from standard input and answers with one EmbedAnswer
// (record/embed_request.hpp has both). `exp embed --json` prints the answer, so its members keep their names.
#include <algorithm>
#include <iostream>
#include <iterator>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "infer/engine.hpp"
#include "infer/word_vectors.hpp"
#include "record/embed_request.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

using nlohmann::ordered_json;

/// The number of inputs that are embedded together. Inputs are sorted by length; larger groups would hardly
/// reduce the padding.
constexpr std::size_t texts_at_once = 256;

struct Embedded {
  infer::Vectors vectors = {};
  std::vector<tasks::InputUse> uses = {};  ///< of each text
};

/// Returns the vectors of the inputs, and reports progress meanwhile. Warns about an input that was cut;
/// `what` is the word for one.
Embedded embed_all(infer::Engine& engine, std::span<const std::string> texts, const std::string& what) {
  Embedded all;
  for (std::size_t first = 0; first < texts.size(); first += texts_at_once) {
    const std::size_t count = std::min(texts_at_once, texts.size() - first);
    const infer::EncodedTexts encoded = engine.encode_texts(texts.subspan(first, count));
    all.vectors.append(engine.embed(encoded));
    for (std::size_t i = 0; i < count; ++i) all.uses.push_back(encoded.use(i));
    tell_progress({.what = "embedded", .unit = "texts", .done = first + count, .all = texts.size()});
  }
  LeftOut(what, engine).look_at(all.uses);
  return all;
}

std::string dumped(const ordered_json& answer) {
  return answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Writes an EmbedAnswer with `vectors`, one line for each input. `exp embed --json` copies the lines
/// unchanged.
void write_vectors(infer::Engine& engine, const std::vector<std::string>& texts) {
  const auto [vectors, uses] = embed_all(engine, texts, "text");
  answer_stream() << "{\"step\":" << engine.step() << ",\"width\":" << vectors.width << ",\"vectors\":[";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ordered_json members = {{"text", texts[i]}};
    members.update(ordered_json(tasks::members_of(uses[i])));
    std::string object = dumped(members);
    object.pop_back();  // the brace: the vector is written without a JSON value for each number
    answer_stream() << (i > 0 ? ",\n" : "\n") << object << ",\"vector\":" << json_list(vectors[i]) << '}';
  }
  answer_stream() << "\n]}\n";
}

std::vector<record::NearText> named(const std::vector<infer::Neighbour>& neighbours,
                                    const std::vector<std::string>& texts) {
  std::vector<record::NearText> named;
  for (const infer::Neighbour& neighbour : neighbours)
    named.push_back({texts[neighbour.number], neighbour.number, neighbour.similarity});
  return named;
}

record::EmbedAnswer texts_answer(infer::Engine& engine, const record::EmbedRequest& request) {
  const infer::Vectors queries = embed_all(engine, request.queries, "query").vectors;
  record::EmbedAnswer answer{.step = engine.step(), .width = queries.width};
  const infer::Vectors texts = embed_all(engine, request.texts, "text").vectors;
  for (std::size_t i = 0; i < queries.size(); ++i)
    answer.nearest.push_back(
        {request.queries[i],
         named(infer::nearest(queries[i], texts, request.texts, request.count), request.texts)});
  return answer;
}

record::EmbedAnswer words_answer(const infer::Engine& engine, const record::EmbedRequest& request) {
  const infer::WordVectors words(engine);
  infer::Vectors queries;
  std::vector<std::set<std::size_t>> own;  // for each query, the words that it consists of
  for (const std::string& query : request.queries) {
    words.append(query, queries);
    own.emplace_back();
    for (const std::int32_t token : words.tokens(query)) own.back().insert(words.number_of(token));
  }
  record::EmbedAnswer answer{.step = engine.step(), .width = queries.width, .words = words.words().size()};
  const auto add = [&](const std::string& query, std::span<const float> vector,
                       const std::set<std::size_t>& without) {
    answer.nearest.push_back(
        {query, named(infer::nearest(vector, words.vectors(), words.words(), request.count, without),
                      words.words())});
  };
  if (request.of == record::EmbedRequest::Of::analogy) {
    own[0].merge(own[1]);
    own[0].merge(own[2]);
    const std::string& b = request.queries[1];
    add(request.queries[0] + " - " + b + " + " + request.queries[2],
        infer::analogy(queries[0], queries[1], queries[2]), own[0]);
    return answer;
  }
  for (std::size_t i = 0; i < queries.size(); ++i) add(request.queries[i], queries[i], own[i]);
  return answer;
}

}  // namespace

int embed_verb(const TrainedRunArguments& run) {
  std::ios::sync_with_stdio(false);
  const record::EmbedRequest request =
      record::EmbedRequest::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  const Device device;
  infer::Engine engine(run.folder, run.plugin_folders, device, run.weights);
  engine.make_batch_invariant();  // the vector of an input must not depend on the inputs beside it
  for (const std::string& note : engine.notes()) std::cerr << "encore-worker: " << note << '\n';
  if (request.asks_for_vectors()) {
    write_vectors(engine, request.queries);
    return 0;
  }
  const record::EmbedAnswer answer = request.of == record::EmbedRequest::Of::texts
                                         ? texts_answer(engine, request)
                                         : words_answer(engine, request);
  answer_stream() << dumped(to_json_object<ordered_json>(answer)) << '\n';
  return 0;
}

}  // namespace encore::worker

// SPDX-License-Identifier: BSD-3-Clause
// The verb serve: answers batches of inputs that the HTTP server of `exp serve` sends over a socket
// (record/serve_messages.hpp), until the socket is closed. serve/worker_link.cpp is the other end of the
// socket: a changed message needs a change there. An invalid input does not affect others: if a batch fails,
// its inputs are processed one by one, and each invalid one gets its own reason.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <set>
#include <span>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "apply/application.hpp"
#include "base/sha256.hpp"
#include "infer/decoded_text.hpp"
#include "infer/engine.hpp"
#include "infer/observe.hpp"
#include "record/dev_answers.hpp"
#include "record/generate_request.hpp"
#include "record/serve_messages.hpp"
#include "tasks/prediction_file.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"
#include "world/file_descriptor.hpp"

namespace encore::worker {
namespace {

/// Thrown to stop an output that is sent while it grows, when its client is gone.
struct Cancelled {};

/// The worker's end of the socket to the server.
class ServeSocket {
 public:
  explicit ServeSocket(int descriptor) : socket_(descriptor) {}

  void send(const record::ServeMessage& message) {
    const std::string frame = record::serve_frame(message);
    world::write_all(socket_.get(), std::as_bytes(std::span(frame)), "the socket of exp serve");
  }
  void send(record::ServeAnswer answer) {
    send(record::ServeMessage(record::ServeAnswers{{std::move(answer)}}));
  }

  /// Returns the next batch, or nothing after the socket is closed.
  std::optional<record::ServeBatch> next_batch() {
    while (batches_.empty())
      if (!receive()) return {};
    record::ServeBatch batch = std::move(batches_.front());
    batches_.pop_front();
    return batch;
  }
  /// Throws Cancelled if the client no longer waits for this item. Does not block. Ids of items grow.
  void require_wanted(std::uint64_t id) {
    pollfd watch = {socket_.get(), POLLIN, 0};
    while (::poll(&watch, 1, 0) > 0)
      if (!receive()) throw Cancelled();
    const bool cancelled = std::ranges::find(cancelled_, id) != cancelled_.end();
    std::erase_if(cancelled_, [&](std::uint64_t each) { return each <= id; });
    if (cancelled) throw Cancelled();
  }

 private:
  /// Reads what is available, or waits for it. Returns false at the end of the stream.
  bool receive() {
    char bytes[1 << 16];
    ssize_t count = 0;
    do count = ::read(socket_.get(), bytes, sizeof bytes);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    frames_.add({bytes, static_cast<std::size_t>(count)});
    while (std::optional<record::ServeMessage> message = frames_.next()) {
      if (auto* batch = std::get_if<record::ServeBatch>(&*message)) batches_.push_back(std::move(*batch));
      if (const auto* cancel = std::get_if<record::ServeCancel>(&*message)) cancelled_.push_back(cancel->id);
    }
    return true;
  }

  world::FileDescriptor socket_;
  record::ServeFrames frames_;
  std::deque<record::ServeBatch> batches_;
  std::vector<std::uint64_t> cancelled_;
};

using Items = std::vector<const record::ServeItem*>;

std::vector<std::string> texts_of(const Items& items) {
  std::vector<std::string> texts;
  for (const record::ServeItem* item : items) texts.push_back(item->text);
  return texts;
}

record::ServeAnswer refused(const record::ServeItem& item, const std::string& why) {
  return {.id = item.id, .outcome = record::ServeOutcome::refused, .text = why};
}

std::string too_long(const infer::Engine& engine, const std::string& what) {
  return "the text is longer than data.max_length = " + std::to_string(engine.experiment().data.max_length) +
         " of the model: " + what +
         "; shorten it, or ask with \"truncate\": true for what the model makes of the part that it reads";
}

/// What is needed to answer batches: the model and what it was loaded with.
struct Answering {
  infer::Engine& engine;
  record::EmbeddingCloud embeddings = {};  ///< vectors of the run's reference; empty: none
};

template <class Model>
using Work = std::vector<record::ServeAnswer> (*)(Model&, const Items&);

/// Calls the work for the items that are not refused. Returns the answers of all items, refused or not.
template <class Model>
std::vector<record::ServeAnswer> without_refused(Model& answering, const Items& items,
                                                 std::vector<record::ServeAnswer> refusals,
                                                 Work<Model> work) {
  Items left;
  for (const record::ServeItem* item : items)
    if (std::ranges::find(refusals, item->id, &record::ServeAnswer::id) == refusals.end())
      left.push_back(item);
  if (left.empty()) return refusals;
  for (record::ServeAnswer& answer : work(answering, left)) refusals.push_back(std::move(answer));
  return refusals;
}

/// Returns facts for each item if any item is to be observed (`exp monitor`). They have no labels if the task
/// cannot label such records.
std::vector<record::TextFacts> facts_of(const Answering& answering, const Items& items,
                                        const Records& records, const ExampleSet& set,
                                        const Outputs& outputs) {
  if (std::ranges::none_of(items, &record::ServeItem::observed)) return {};
  const infer::Engine& engine = answering.engine;
  Records labelled;
  try {
    labelled = engine.task().label(records, set, outputs);
  } catch (const Error&) {
  }
  return infer::observe({engine.task(), engine.tokenizer(), set, outputs, labelled}, answering.embeddings);
}

/// Returns the task's answer to each input. Either all items are scored or none. Throws Error if an input is
/// invalid.
std::vector<record::ServeAnswer> answer_texts(const Answering& answering, const Items& items) {
  infer::Engine& engine = answering.engine;
  const Records records = engine.task().from_text(texts_of(items));
  const tasks::EncodedSet set = engine.encode(records);
  const std::vector<tasks::InputUse> uses = uses_of(engine, set.set);
  std::vector<record::ServeAnswer> refusals;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!uses[i].left_out.empty() && !items[i]->allowed)
      refusals.push_back(refused(*items[i], too_long(engine, uses[i].left_out)));
  if (!refusals.empty()) return without_refused(answering, items, std::move(refusals), answer_texts);
  const infer::Scores scores = items.front()->scored ? infer::Scores::with : infer::Scores::without;
  const auto [outputs, answers] = engine.answer(records, set, scores);
  const std::vector<record::TextFacts> facts = facts_of(answering, items, records, set.set, outputs);
  std::vector<record::ServeAnswer> all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::int64_t tokens = 0;
    const Run of = set.set.sequences(i);
    for (std::size_t s = of.first; s < of.first + of.count; ++s)
      tokens += static_cast<std::int64_t>(set.set.ids(s).size());
    all.push_back({.id = items[i]->id,
                   .tokens = tokens,
                   .text = tasks::answer_json(answers, i, tasks::members_of(uses[i]))});
    if (items[i]->observed) all.back().facts = facts[i].json();
  }
  return all;
}

/// Returns the vector of each input. Throws Error if one of them is invalid.
std::vector<record::ServeAnswer> embed_texts(const Answering& answering, const Items& items) {
  infer::Engine& engine = answering.engine;
  const infer::EncodedTexts encoded = engine.encode_texts(texts_of(items));
  std::vector<record::ServeAnswer> refusals;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (const std::string what = encoded.use(i).left_out; !what.empty() && !items[i]->allowed)
      refusals.push_back(refused(*items[i], too_long(engine, what)));
  if (!refusals.empty()) return without_refused(answering, items, std::move(refusals), embed_texts);
  const infer::Vectors vectors = engine.embed(encoded);
  std::vector<record::ServeAnswer> all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::span<const std::byte> bytes = std::as_bytes(vectors[i]);
    all.push_back({.id = items[i]->id,
                   .tokens = encoded.tokens(i),
                   .text = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                   .members = tasks::members_of(encoded.use(i)).dump()});
  }
  return all;
}

/// An application, and the fields of its answers that name a class. Only their values may be stored: another
/// field may repeat a part of the input.
struct AnsweringApplication {
  apply::Application& application;
  std::filesystem::path dev_answers;  ///< read when the first answer is to be observed
  std::optional<std::map<std::string, std::set<std::string>>> classes = {};
};

/// Returns the fields of an application's answers that name a class, with their values. If the answers to the
/// development set cannot be read, prints why and returns none.
const std::map<std::string, std::set<std::string>>& classes_of(AnsweringApplication& answering) {
  if (!answering.classes) {
    answering.classes.emplace();
    try {
      *answering.classes = record::classes_in(record::read_dev_answers(answering.dev_answers));
    } catch (const Error& error) {
      std::cerr << "encore-worker: no classes are stored for exp monitor: " << error.what() << '\n';
    }
  }
  return *answering.classes;
}

/// Returns the classes in one answer, for `exp monitor`.
std::string facts_of(AnsweringApplication& answering, const Records& given, std::size_t record) {
  record::TextFacts facts;
  for (const auto& [name, values] : classes_of(answering))
    for (const Records::Field& field : given.fields())
      if (const auto* texts = std::get_if<Records::Texts>(&field.values);
          texts != nullptr && field.name == name && values.contains((*texts)[record]))
        facts.fields[name] = (*texts)[record];
  return facts.json();
}

/// Returns the application's answer to each input, as predict prints it. Throws Error if an input is invalid.
std::vector<record::ServeAnswer> answer_with_steps(AnsweringApplication& answering, const Items& items) {
  apply::Application& application = answering.application;
  const Records records = application.from_text(texts_of(items));
  std::vector<record::ServeAnswer> refusals;
  const std::vector<tasks::InputUse> uses = application.uses(records);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!uses[i].left_out.empty() && !items[i]->allowed)
      refusals.push_back(refused(
          *items[i],
          "the text is longer than a model of the application reads: " + uses[i].left_out +
              "; shorten it, or ask with \"truncate\": true for what it makes of the part that it reads"));
  if (!refusals.empty()) return without_refused(answering, items, std::move(refusals), answer_with_steps);
  const Records given = application.apply(records).given;
  const Records answers = apply::answers_with_inputs(
      application, records, given,
      items.front()->scored ? apply::ClassScores::with : apply::ClassScores::without);
  std::vector<record::ServeAnswer> all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    all.push_back({.id = items[i]->id, .text = tasks::answer_json(answers, i, tasks::members_of(uses[i]))});
    if (items[i]->observed) all.back().facts = facts_of(answering, given, i);
  }
  return all;
}

/// Processes all items at once; if that fails, one by one.
template <class Model>
std::vector<record::ServeAnswer> each_on_its_own(Model& answering, const Items& items, Work<Model> work) {
  if (items.empty()) return {};
  try {
    return work(answering, items);
  } catch (const Error& error) {
    if (items.size() == 1) return {refused(*items.front(), error.what())};
  }
  std::vector<record::ServeAnswer> all;
  for (const record::ServeItem* item : items)
    all.push_back(each_on_its_own(answering, Items{item}, work).front());
  return all;
}

record::ServeAnswer write_texts(infer::Engine& engine, const record::ServeItem& item,
                                ServeSocket& socket) try {
  const record::GenerateRequest request = record::GenerateRequest::parse(item.text);
  const Decoding decoding = request.decoding.over(engine.task().decoding().value_or(Decoding()));
  const tasks::EncodedSet set = engine.encode(engine.task().from_text(request.prompts));
  require_whole_prompts(engine, set.set, 0);
  infer::TextStreamer streamer(decoding.stop);
  const auto send_part = [&](std::string_view part) {
    if (!part.empty())
      socket.send({.id = item.id, .outcome = record::ServeOutcome::part, .text = std::string(part)});
  };
  const infer::Generator::Seen seen = [&](std::size_t, std::size_t, std::string_view said) {
    socket.require_wanted(item.id);
    if (item.allowed) send_part(streamer.next_of(said));
  };
  const auto texts = engine.generate(set, decoding, seen);
  if (item.allowed) send_part(streamer.rest_of(texts[0][0].text));
  record::ServeAnswer answer = {.id = item.id};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    all.push_back(written_json(texts[i]));
    answer.tokens += static_cast<std::int64_t>(set.set.ids(i).size());
  }
  answer.text = all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return answer;
} catch (const Cancelled&) {
  return refused(item, "no client waits for it");
} catch (const Error& error) {
  return refused(item, error.what());
}

/// Returns the items of a batch that ask for this work.
Items of_work(const record::ServeBatch& batch, record::ServeWork work, bool scored = false) {
  Items items;
  for (const record::ServeItem& item : batch.items)
    if (item.work == work && item.scored == scored) items.push_back(&item);
  return items;
}

constexpr const char* only_answers =
    "this is an application, which answers (POST /v1/predict); its steps' models are runs of their own";

void answer_application_batch(AnsweringApplication& answering, const record::ServeBatch& batch,
                              ServeSocket& socket) {
  record::ServeAnswers answers;
  for (const bool scored : {false, true})
    for (record::ServeAnswer& answer :
         each_on_its_own(answering, of_work(batch, record::ServeWork::answer, scored), answer_with_steps))
      answers.answers.push_back(std::move(answer));
  for (const record::ServeItem& item : batch.items)
    if (item.work != record::ServeWork::answer) answers.answers.push_back(refused(item, only_answers));
  if (!answers.answers.empty()) socket.send(record::ServeMessage(std::move(answers)));
}

void answer_batch(const Answering& answering, const record::ServeBatch& batch, ServeSocket& socket) {
  record::ServeAnswers answers{
      each_on_its_own(answering, of_work(batch, record::ServeWork::answer), answer_texts)};
  const auto add = [&](std::vector<record::ServeAnswer> more) {
    for (record::ServeAnswer& answer : more) answers.answers.push_back(std::move(answer));
  };
  add(each_on_its_own(answering, of_work(batch, record::ServeWork::answer, true), answer_texts));
  add(each_on_its_own(answering, of_work(batch, record::ServeWork::vector), embed_texts));
  if (!answers.answers.empty()) socket.send(record::ServeMessage(std::move(answers)));
  for (const record::ServeItem* item : of_work(batch, record::ServeWork::writing))
    socket.send(write_texts(answering.engine, *item, socket));
}

std::string why_not_asked(const infer::Engine& engine) try {
  static_cast<void>(engine.task().from_text({}));
  return {};
} catch (const Error& error) {
  return error.what();
}

/// Returns the text fields that the task reads from a line, in their order.
std::vector<std::string> fields_of_lines(const infer::Engine& engine) try {
  std::vector<std::string> names;
  const Records records = engine.task().from_text({});
  for (const Records::Field& field : records.fields())
    if (std::holds_alternative<Records::Texts>(field.values)) names.push_back(field.name);
  return names;
} catch (const Error&) {  // why_not_asked has the reason
  return {};
}

/// Returns the embeddings of the run's reference. If the reference cannot be read, adds a note and returns
/// none: requests are still answered.
record::EmbeddingCloud embeddings_of(const std::filesystem::path& folder,
                                     std::vector<std::string>& notes) try {
  const std::optional<record::TextReference> reference = record::find_reference(folder);
  return reference ? reference->embeddings : record::EmbeddingCloud();
} catch (const Error& error) {
  notes.push_back(error.what());
  return {};
}

/// Returns the description of an application for clients: its digest is that of its knowledge and its models.
record::ServeModel message_of(const apply::Application& application) {
  record::ServeModel message{.digest = {},
                             .no_vectors = only_answers,
                             .no_writing = only_answers,
                             .task = "application",
                             .fields = application.fields().structure};
  const apply::BandFields bands = application.band_fields();
  message.band = bands.band;
  message.proposal = bands.proposal;
  message.labels = application.labels();
  std::string digests = application.knowledge();
  for (const auto& [step, model] : application.models()) {
    digests += step + " " + model->engine().digest() + "\n";
    for (const std::string& note : model->engine().notes())
      message.notes.push_back("step " + step + ": " + note);
  }
  message.digest = sha256(digests);
  return message;
}

int serve_application(const TrainedRunArguments& run, ServeSocket& socket) {
  const Device device;
  apply::Application application = apply::Application::open(run.folder, run.plugin_folders, device);
  AnsweringApplication answering{.application = application,
                                 .dev_answers = run.folder / record::dev_answers_file};
  socket.send(record::ServeMessage(message_of(application)));
  while (const std::optional<record::ServeBatch> batch = socket.next_batch())
    answer_application_batch(answering, *batch, socket);
  return 0;
}

}  // namespace

int serve_verb(const TrainedRunArguments& run, int socket_fd) {
  if (socket_fd < 0) throw Error("serve needs --socket-fd FD, which exp serve gives it");
  ServeSocket socket(socket_fd);
  if (record::is_application(record::Specification::load(run.folder))) return serve_application(run, socket);
  const Device device;
  infer::Engine engine(run.folder, run.plugin_folders, device, run.weights);
  engine.make_batch_invariant();
  std::vector<std::string> notes = engine.notes();
  const Answering answering{engine, embeddings_of(run.folder, notes)};
  socket.send(record::ServeMessage(record::ServeModel{.digest = engine.digest(),
                                                      .step = engine.step(),
                                                      .no_answers = why_not_asked(engine),
                                                      .no_vectors = engine.no_vectors(),
                                                      .no_writing = engine.no_writing(),
                                                      .no_scores = engine.no_scores(),
                                                      .notes = notes,
                                                      .task = engine.experiment().task.type,
                                                      .fields = fields_of_lines(engine),
                                                      .labels = engine.task().labels()}));
  while (const std::optional<record::ServeBatch> batch = socket.next_batch())
    answer_batch(answering, *batch, socket);
  return 0;
}

}  // namespace encore::worker

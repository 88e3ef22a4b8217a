// SPDX-License-Identifier: BSD-3-Clause
// Service: finds the route of each request, checks the access token and the limits, and makes the answer.
// Each request must be answered exactly once, by judge(), answer(), refuse() or finish(). HttpServer calls
// judge() and handle(); ModelPool calls a job's functions when it has answers. Read service.hpp first.
#include "serve/service.hpp"

#include <algorithm>
#include <exception>

#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>
#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "serve/page.hpp"
#include "serve/refusal.hpp"

namespace encore::serve {
namespace {

using Json = nlohmann::ordered_json;

/// The seconds after which a refused client may try again.
constexpr const char* retry_after = "1";

const Refusal::Fields asks_for_token = {{"WWW-Authenticate", "Bearer"}};

std::vector<ServeWorkerStart> seats_of(const ServedRun& run) {
  std::vector<ServeWorkerStart> seats;
  for (const runner::WorkerPlace& place : run.places)
    seats.push_back({.program = run.worker, .arguments = run.arguments, .place = place, .files = run.files});
  return seats;
}

/// Compares tokens in a time that does not depend on how much of the token is right.
bool equal_tokens(const std::string& given, const std::string& token) {
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i % token.size()]);
  return difference == 0;
}

constexpr std::size_t session_digits = 12;

/// A longer body takes about a tenth of a millisecond to read.
constexpr std::size_t most_bytes_on_the_loop = std::size_t{16} << 10;

bool is_json(const std::string& content_type) {
  return boost::beast::iequals(content_type.substr(0, content_type.find_first_of("; \t")),
                               "application/json");
}

/// HEAD has the route of GET; the server leaves the body out.
const Route& route_of(const HttpRequest& request) {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::string allowed;
  std::vector<std::string> paths;
  for (const Route& route : routes()) {
    paths.emplace_back(route.path);
    if (request.path != route.path) continue;
    if (method == route.method) return route;
    allowed = route.method;
  }
  if (!allowed.empty())
    throw Refusal(405, request.path + " takes " + allowed,
                  {{"Allow", allowed == "GET" ? "GET, HEAD" : allowed}});
  throw Refusal(404, "there is no " + request.path +
                         did_you_mean(request.path, paths, "; GET /openapi.json lists the routes"));
}

}  // namespace

Service::Service(boost::asio::io_context& loop, const ServeOptions& options,
                 const std::vector<ServedRun>& runs)
    : loop_(loop),
      options_(options),
      session_(random_digits(session_digits)),
      desk_(options.review.empty()
                ? nullptr
                : std::make_unique<ReviewDesk>(loop, options.review, options.timeout, options.noticed)),
      pools_(make_pools(runs)),
      loopback_(is_loopback(options.host)) {}

Service::Pools Service::make_pools(const std::vector<ServedRun>& runs) {
  const PoolRules rules{
      .batch = {.texts = options_.batch_texts, .wait = options_.batch_wait, .queue = options_.queue_texts},
      .noticed = options_.noticed};
  Pools pools;
  for (const ServedRun& run : runs) {
    run_ids_[run.name] = run.id;
    if (desk_ && std::ranges::find(run.lineage, desk_->settings().application) != run.lineage.end())
      reviewed_.insert(run.name);
    if (auto& monitor = monitors_[run.name];
        options_.monitor_share > 0.0 && (!monitor || monitor->run_id() != run.id))
      monitor = std::make_shared<ServeMonitor>(run.folder, run.id, session_,
                                               MonitorRules{.share = options_.monitor_share,
                                                            .text_days = options_.monitor_text_days,
                                                            .noticed = options_.noticed});
    pools.push_back(
        std::make_shared<ModelPool>(loop_, run.name, seats_of(run), rules, metrics_.models[run.name]));
  }
  return pools;
}

void Service::start(const std::function<void(const std::string& why)>& cannot) {
  const auto one_ready = [this, cannot] {
    if (!ready()) return;
    if (const std::string why = prepare_review(pools_); !why.empty()) return cannot(why);
    if (options_.ready) options_.ready();
  };
  for (const auto& pool : pools_) pool->start(one_ready, cannot);
}

// --- replacing the models ---

void Service::replace(const std::vector<ServedRun>& runs, std::function<void(const std::string& why)> ended) {
  next_ = make_pools(runs);
  replacing_ended_ = std::move(ended);
  const auto cannot = [this](const std::string& why) {
    replacing_ended_(why);
    boost::asio::post(loop_, [this] { next_.clear(); });  // one of them is the caller
  };
  const auto one_ready = [this, cannot] {
    if (!std::ranges::all_of(next_, [](const auto& pool) { return pool->ready(); })) return;
    if (const std::string why = prepare_review(next_); !why.empty()) return cannot(why);
    change_over();
  };
  const Pools starting = next_;
  for (const auto& pool : starting) pool->start(one_ready, cannot);
}

void Service::change_over() {
  replaced_.insert(replaced_.end(), pools_.begin(), pools_.end());
  pools_ = std::exchange(next_, {});
  replacing_ended_("");
  forget_idle_later();
}

void Service::forget_idle_later() {
  if (replaced_.empty()) return;
  boost::asio::post(loop_,
                    [this] { std::erase_if(replaced_, [](const auto& pool) { return pool->idle(); }); });
}

bool Service::ready() const {
  return std::ranges::all_of(pools_, [](const auto& pool) { return pool->ready(); });
}

std::optional<HttpAnswer> Service::judge(const HttpRequest& request) {
  Call call;
  call.arrived = ServeClock::now();
  try {
    const Route& route = route_of(request);
    call.route = &route;
    allow(request, route);
    if (!route.fields.empty() && !is_json(request.content_type))
      throw Refusal(415, "the body must be JSON: Content-Type: application/json");
    if (route.work == RouteWork::feedback && options_.monitor_share <= 0.0)
      throw Refusal(404, "this server keeps no samples of requests; start it with --monitor");
    if (is_review(route.work) && !desk_)
      throw Refusal(404, "this server has no review queue; start it with --review QUEUE");
    return std::nullopt;
  } catch (const Refusal& refusal) {
    count(call, refusal.status());
    return answer_of(refusal);
  }
}

void Service::handle(HttpRequest request, std::shared_ptr<HttpReply> reply) {
  const auto call = std::make_shared<Call>(
      Call{.reply = std::move(reply), .arrived = ServeClock::now(), .number = ++requests_});
  carry_out(*call, [&] {
    const Route& route = route_of(request);
    call->route = &route;
    if (route.work == RouteWork::review_status) return review(call, {.work = route.work});
    if (route.fields.empty()) return answer(*call, answer_now(route));
    if (request.body.size() > most_bytes_on_the_loop) return read_aside(call, std::move(request.body));
    read(call, request.body)();
  });
}

void Service::carry_out(const Call& call, const Next& work) {
  try {
    work();
  } catch (const Refusal& refusal) {
    refuse(call, refusal);
  } catch (const std::exception& error) {
    refuse(call, Refusal(500, std::string("this is a fault of Encore itself: ") + error.what()));
  }
}

Service::Next Service::read(const CallPointer& call, const std::string& body) {
  if (call->route->work == RouteWork::feedback)
    return [this, call, feedback = parse_feedback(*call->route, body)] { take_feedback(*call, feedback); };
  if (is_review(call->route->work))
    return [this, call, action = parse_review(*call->route, body)] { review(call, action); };
  call->request =
      parse_request(*call->route, body, {.texts = options_.queue_texts, .max_tokens = options_.max_tokens});
  return [this, call] { ask(call); };
}

void Service::read_aside(CallPointer call, std::string body) {
  boost::asio::post(aside_, [this, call = std::move(call), body = std::move(body)]() mutable {
    Next next;
    try {
      next = read(call, body);
    } catch (...) {
      next = [why = std::current_exception()] { std::rethrow_exception(why); };
    }
    // This thread keeps nothing of the call: its reply ends on the loop.
    boost::asio::post(loop_,
                      [this, call = std::move(call), next = std::move(next)] { carry_out(*call, next); });
  });
}

void Service::allow(const HttpRequest& request, const Route& route) const {
  if (loopback_ && options_.token.empty()) {
    // A page of another host, whose name resolves to this machine, must not read the answers.
    const std::string& host = request.host;
    if (!boost::beast::iequals(host, "localhost") && host != "127.0.0.1" && host != "::1" &&
        host != options_.host && !host.empty())
      throw Refusal(
          403, "this server is for this machine only, as localhost or 127.0.0.1, not as \"" + host + "\"");
    // It must not send requests either, even if a browser would not let it read the answer.
    if (!request.origin.empty() && request.origin != "http://" + request.asked)
      throw Refusal(403, "a page of \"" + request.origin + "\" sent this; only the page of this server may");
  }
  if (route.open || options_.token.empty()) return;
  const std::string scheme = "Bearer ";
  if (!boost::beast::iequals(request.authorization.substr(0, scheme.size()), scheme))
    throw Refusal(401, "a token is required: Authorization: Bearer TOKEN", asks_for_token);
  if (!equal_tokens(request.authorization.substr(scheme.size()), options_.token))
    throw Refusal(401, "the token is wrong", asks_for_token);
}

// --- routes that are answered at once ---

HttpAnswer Service::answer_now(const Route& route) const {
  HttpAnswer answer{.content_type = route.content_type};
  switch (route.work) {
    case RouteWork::alive:
      answer.body = "ok\n";
      break;
    case RouteWork::ready:
      if (draining_) throw Refusal(503, "the server is about to end");
      if (!ready()) throw Refusal(503, "not every model has a worker yet");
      answer.body = "ok\n";
      break;
    case RouteWork::models:
      answer.body = models_body();
      break;
    case RouteWork::metrics:
      answer.body = metrics_text();
      break;
    case RouteWork::page:
    case RouteWork::review_page: {
      const ServePage& page = route.work == RouteWork::page ? serve_page() : review_page();
      answer.body = page.html;
      answer.fields = {{"Content-Security-Policy", page.policy}, {"X-Frame-Options", "DENY"}};
      break;
    }
    default:
      answer.body = openapi_document(options_.version);
  }
  return answer;
}

std::string Service::models_body() const {
  Json data = Json::array();
  for (const auto& pool : pools_) {
    Json model = {{"id", pool->name()}, {"object", "model"}, {"ready", pool->ready()}};
    if (const auto& facts = pool->model()) {
      model["digest"] = facts->digest;
      model["step"] = facts->step;
      model["task"] = facts->task;
      model["fields"] = facts->fields;
      model["labels"] = facts->labels;
      model["routes"] = Json::array();
      if (facts->no_answers.empty()) model["routes"].push_back("/v1/predict");
      if (facts->no_vectors.empty()) model["routes"].push_back("/v1/embeddings");
      if (facts->no_writing.empty()) model["routes"].push_back("/v1/completions");
    }
    data.push_back(std::move(model));
  }
  return Json{{"object", "list"}, {"version", options_.version}, {"data", data}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);  // labels are as a file has them
}

std::string Service::metrics_text() const {
  ServeMetrics now = metrics_;
  for (const Pools* pools : {&pools_, &replaced_})
    for (const auto& pool : *pools) {
      ModelMetrics& model = now.models.at(pool->name());
      model.workers += pools == &pools_ ? pool->ready_workers() : 0;
      model.waiting += pool->waiting_texts();
    }
  if (server_ != nullptr) {
    now.connections = server_->connections();
    now.refused_connections = server_->refused();
  }
  return now.text();
}

// --- routes that ask a model ---

ModelPool& Service::pool_of(const std::string& model) {
  std::vector<std::string> names;
  for (const auto& pool : pools_) {
    names.push_back(pool->name());
    if (pool->name() == model) return *pool;
  }
  if (model.empty() && pools_.size() == 1) return *pools_.front();
  if (model.empty()) throw Refusal(400, "\"model\" is missing: several are served, " + quoted_list(names));
  throw Refusal(404, "no model \"" + model + "\" is served; there is " + quoted_list(names));
}

void Service::ask(const CallPointer& call) {
  ModelPool& pool = pool_of(call->request.model);
  call->pool = &pool;
  if (!pool.model()) throw Refusal(503, "the model is being loaded");
  const record::ServeModel& model = *pool.model();
  const std::string& cannot = call->request.work == record::ServeWork::answer   ? model.no_answers
                              : call->request.work == record::ServeWork::vector ? model.no_vectors
                                                                                : model.no_writing;
  if (!cannot.empty()) throw Refusal(400, cannot);
  if (call->request.scored && !model.no_scores.empty()) throw Refusal(400, model.no_scores);

  const auto job = std::make_shared<Job>();
  job->work = call->request.work;
  job->allowed = job->work == record::ServeWork::writing ? call->request.streams : call->request.truncates;
  job->scored = call->request.scored;
  job->texts = job->work == record::ServeWork::writing ? std::vector{std::move(call->request.writing)}
                                                       : std::move(call->request.texts);
  if (!pool.has_room(job->texts.size()))
    throw Refusal(429,
                  "the queue is full (" + std::to_string(options_.queue_texts) + " inputs); try again later");
  if (pool.ends_workers(*job))
    throw Refusal(503,
                  "two workers have ended while they computed this a short time ago; try again after "
                  "a minute");
  job->arrived = call->arrived;
  job->deadline = call->arrived + options_.timeout;
  Job* const raw = job.get();  // the job holds this function
  job->ended = [this, call, raw] { finish(call, *raw); };
  if (call->request.streams) stream(call, job);
  if (job->work == record::ServeWork::answer) {
    call->is_reviewed = reviewed_.contains(pool.name());
    if (call->is_reviewed) call->id = session_ + "-" + std::to_string(call->number);
    observe(*call, *job);
  }
  pool.submit(job);
}

// --- the monitor ---

void Service::observe(Call& call, Job& job) {
  const auto found = monitors_.find(call.pool->name());
  if (found == monitors_.end() || !found->second) return;
  std::string id = session_ + "-" + std::to_string(call.number);
  if (!found->second->samples(id)) return;
  job.observed = true;
  call.monitor = found->second;
  call.id = std::move(id);
}

// --- reviews ---

std::string Service::prepare_review(const Pools& pools) {
  if (!desk_) return "";
  bool is_served = false;
  for (const auto& pool : pools) {
    if (!reviewed_.contains(pool->name())) continue;
    is_served = true;
    if (pool->model()->band.empty())
      return "no step of " + pool->name() +
             " gives the field band, so no request comes to reviewers; leave out --review";
    desk_->add_classes(pool->model()->labels);
  }
  if (is_served) return "";
  return "the review queue " + options_.review.string() + " is of application " +
         desk_->settings().application + ", which is not served; serve it, or leave out --review";
}

void Service::review(const CallPointer& call, ReviewAction action) {
  desk_->act(std::move(action), [this, call](const std::string& body, const std::exception_ptr& failure) {
    carry_out(*call, [&] {
      if (failure) std::rethrow_exception(failure);
      answer(*call, {.body = body});
    });
  });
}

void Service::answer_reviewed(const CallPointer& call, const Job& job, HttpAnswer whole) {
  const record::ServeModel& model = *call->pool->model();
  desk_->take(review_items({.id = call->id, .run = run_ids_[call->pool->name()], .model = model}, job,
                           desk_->settings().audit),
              [this, call, whole = std::move(whole)](const std::string& failure) mutable {
                if (failure.empty()) return answer(*call, std::move(whole));
                refuse(*call,
                       Refusal(503, "the review queue cannot be written, so the request was not accepted: " +
                                        failure));
              });
}

void Service::take_feedback(const Call& call, const FeedbackRequest& feedback) {
  const auto knowing = std::ranges::find_if(
      monitors_, [&](const auto& each) { return each.second && each.second->knows(feedback.id); });
  const auto& monitor = knowing == monitors_.end() ? monitors_.begin()->second : knowing->second;
  const bool correct = monitor->feedback(feedback);
  answer(call, {.body = Json{{"id", feedback.id}, {"text", feedback.text}, {"correct", correct}}.dump()});
}

void Service::write_later() {
  if (std::exchange(writing_, true)) return;
  boost::asio::post(loop_, [this] {
    writing_ = false;
    for (const auto& [name, monitor] : monitors_)
      if (monitor) monitor->flush();
  });
}

void Service::stream(const CallPointer& call, const std::shared_ptr<Job>& job) {
  job->part = [this, call](std::string_view part) {
    begin_stream(*call);
    call->reply->part(stream_part(named(*call->pool), call->completion_id(), part));
  };
  call->reply->when_gone([pool = call->pool, weak = std::weak_ptr(job)] {
    if (const auto job = weak.lock()) pool->cancel(job);
  });
}

/// Called with the first part: before it an error still has a status of its own.
void Service::begin_stream(Call& call) {
  if (std::exchange(call.streaming, true)) return;
  call.reply->begin({.content_type = "text/event-stream", .fields = {{"Cache-Control", "no-store"}}});
}

void Service::finish(const CallPointer& call, const Job& job) {
  const bool refused = !job.answers.empty() && job.answers.front().outcome == record::ServeOutcome::refused;
  try {
    if (!call->request.streams || (!call->streaming && (refused || !job.failure.empty()))) {
      if (!job.failure.empty()) throw Refusal(503, job.failure);
      HttpAnswer whole{.body = answer_body(named(*call->pool), call->request, job, call->completion_id())};
      if (!call->id.empty()) whole.fields.emplace_back("X-Request-Id", call->id);
      if (call->monitor) {
        call->monitor->add(call->id, call->pool->model()->digest, job,
                           std::chrono::duration<double>(ServeClock::now() - call->arrived).count(),
                           call->request.group);
        write_later();
      }
      if (call->is_reviewed) return answer_reviewed(call, job, std::move(whole));
      return answer(*call, std::move(whole));
    }
    begin_stream(*call);
    call->reply->part(!job.failure.empty() ? stream_failure(503, job.failure)
                      : refused            ? stream_failure(400, job.answers.front().text)
                                           : stream_end(named(*call->pool), call->completion_id(), job));
    count(*call, job.failure.empty() ? 200 : 503);
    call->reply->end();
    forget_idle_later();
  } catch (const Refusal& refusal) {
    refuse(*call, refusal);
  } catch (const std::exception& error) {  // the answer of a worker is not JSON
    refuse(*call, Refusal(500, std::string("the answer of the worker cannot be read: ") + error.what()));
  }
}

ServedModel Service::named(const ModelPool& pool) const {
  return {.name = pool.name(), .version = options_.version, .facts = *pool.model()};
}

void Service::count(const Call& call, int status) {
  metrics_.add_request(call.route != nullptr ? call.route->path : "none", status,
                       std::chrono::duration<double>(ServeClock::now() - call.arrived).count());
}

void Service::answer(const Call& call, HttpAnswer answer) {
  count(call, answer.status);
  call.reply->answer(std::move(answer));
  forget_idle_later();
}

HttpAnswer Service::answer_of(const Refusal& refusal) {
  HttpAnswer answer{.status = refusal.status(),
                    .body = error_body(refusal.status(), refusal.what()),
                    .fields = refusal.fields()};
  if (refusal.status() == 429 || refusal.status() == 503)
    answer.fields.push_back({"Retry-After", retry_after});
  return answer;
}

void Service::refuse(const Call& call, const Refusal& refusal) {
  answer(call, answer_of(refusal));
}

}  // namespace encore::serve

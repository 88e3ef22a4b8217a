// SPDX-License-Identifier: BSD-3-Clause
// WorkerLink: starts a worker with a socket, writes messages to it and reads its answers, in two coroutines
// on the loop. The coroutines must hold the state, so that a link may be destroyed while they wait.
// model_pool.cpp owns the links. Read worker_link.hpp first.
#include "serve/worker_link.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <encore/error.hpp>

#include "world/file_descriptor.hpp"

namespace encore::serve {

struct WorkerLink::State {
  explicit State(boost::asio::io_context& loop) : socket(loop) {}

  boost::asio::local::stream_protocol::socket socket;
  std::unique_ptr<runner::WorkerProcess> process;
  WorkerLinkEvents events;
  std::deque<std::string> outbox;
  bool writing = false, closed = false;
};

namespace {

namespace asio = boost::asio;

/// The time in which a worker must end after its socket was closed.
constexpr std::chrono::milliseconds last_moment{2000};

struct SocketPair {
  world::FileDescriptor ours, theirs;
};

SocketPair make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(std::string("cannot make a socket for a worker: ") + std::strerror(errno));
  return {world::FileDescriptor(ends[0]), world::FileDescriptor(ends[1])};
}

/// Writes the queued messages until none is left or the socket is closed.
template <class State>
asio::awaitable<void> write_outbox(std::shared_ptr<State> state) {
  boost::system::error_code failed;
  while (!state->outbox.empty() && !failed && !state->closed) {
    const std::string frame = std::move(state->outbox.front());
    state->outbox.pop_front();
    co_await asio::async_write(state->socket, asio::buffer(frame),
                               asio::redirect_error(asio::use_awaitable, failed));
  }
  state->writing = false;
}

/// Calls the event of a message.
template <class State>
void pass_on(State& state, record::ServeMessage message) {
  if (auto* model = std::get_if<record::ServeModel>(&message))
    state.events.ready(std::move(*model));
  else if (auto* answers = std::get_if<record::ServeAnswers>(&message))
    state.events.answered(std::move(*answers));
}

/// Ends the link once: waits for the process, kills it if it stays, and reports its end.
template <class State>
void end(State& state, std::string why) {
  if (state.closed) return;
  std::optional<runner::ProcessEnd> end = state.process->wait_for(last_moment);
  if (!end) {
    state.process->kill();
    end = state.process->wait_for(last_moment);
  }
  state.closed = true;
  state.socket.close();
  if (why.empty()) why = "the worker ended with " + (end ? end->text() : std::string("its socket closed"));
  const auto ended = std::move(state.events.ended);
  ended(end.value_or(runner::ProcessEnd{}), why);
}

/// Reads messages until the worker closes the socket or sends something else.
template <class State>
asio::awaitable<void> read_messages(std::shared_ptr<State> state) {
  record::ServeFrames frames;
  std::vector<char> bytes(1 << 16);
  std::string why;
  for (;;) {
    boost::system::error_code failed;
    const std::size_t count = co_await state->socket.async_read_some(
        asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, failed));
    if (state->closed) co_return;
    if (failed) break;
    try {
      frames.add({bytes.data(), count});
      while (std::optional<record::ServeMessage> message = frames.next()) {
        pass_on(*state, std::move(*message));
        if (state->closed) co_return;
      }
    } catch (const Error& error) {
      why = error.what();
      state->process->kill();
      break;
    }
  }
  end(*state, why);
}

}  // namespace

WorkerLink::WorkerLink(asio::io_context& loop, const ServeWorkerStart& start, WorkerLinkEvents events)
    : state_(std::make_shared<State>(loop)) {
  SocketPair pair = make_socket_pair();
  state_->events = std::move(events);
  state_->process =
      std::make_unique<runner::WorkerProcess>(start.program, start.arguments, pair.theirs, start.place);
  state_->socket.assign(asio::local::stream_protocol(), pair.ours.release());
  asio::co_spawn(loop, read_messages(state_), asio::detached);
}

WorkerLink::~WorkerLink() {
  state_->closed = true;
  boost::system::error_code ignored;
  state_->socket.close(ignored);
}

void WorkerLink::send(const record::ServeMessage& message) {
  if (state_->closed) return;
  state_->outbox.push_back(record::serve_frame(message));
  if (std::exchange(state_->writing, true)) return;
  asio::co_spawn(state_->socket.get_executor(), write_outbox(state_), asio::detached);
}

void WorkerLink::kill() {
  if (!state_->closed) state_->process->kill();
}

}  // namespace encore::serve

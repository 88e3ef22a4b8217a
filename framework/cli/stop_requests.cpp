// See stop_requests.hpp.
#include "cli/stop_requests.hpp"

#include <signal.h>

namespace encore {

namespace {

/// Only a signal handler raises it, so it cannot belong to an object.
std::atomic<int> count{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may raise it");

void count_request(int) {
  count.fetch_add(1);
}

}  // namespace

std::atomic<int>& stop_requests() {
  return count;
}

/// Without SA_RESTART: a wait in progress is cut short, so that the request is passed on at once.
void listen_for_stop_requests() {
  struct sigaction action {};
  action.sa_handler = count_request;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

}  // namespace encore

// Ctrl-C, counted: the verbs that work for long (run, verify) ask the count, whatever they wait for.
#pragma once

#include <atomic>

namespace encore {

/// How often the user asked to stop since listen_for_stop_requests.
std::atomic<int>& stop_requests();
/// From here on SIGINT, SIGTERM and SIGHUP are counted instead of ending the process.
void listen_for_stop_requests();

}  // namespace encore

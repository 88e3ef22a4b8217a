// SPDX-License-Identifier: BSD-3-Clause
// The requests of serve and monitor. exp reads them from the command line; the component exp-serve does the
// work (cli/components.hpp; cli/serve_verb.cpp, cli/monitor_verb.cpp). Units are those of the options:
// milliseconds, seconds, KiB. A new option is a member here and a line in its form in serving_requests.cpp.
#pragma once

#include <optional>
#include <string>

#include "app/run_plugins.hpp"

namespace encore::app {

struct ServingRequest {
  std::string host = "127.0.0.1";  ///< address to listen on
  int port = 8080;                 ///< 0: any free port
  std::string token_file;          ///< file with the token of clients; empty: $ENCORE_SERVE_TOKEN or none
  int workers = 0;                 ///< processes for each model; 0: chosen by the number of cores
  int batch = 32;                  ///< most inputs that are computed together
  double batch_wait = 0.0;         ///< milliseconds that an input waits for others while a worker is idle
  int queue = 1024;                ///< most inputs that wait
  double timeout = 30.0;           ///< seconds from a request to its answer
  int body_kib = 1024;             ///< most KiB in a body
  int max_tokens = 4096;           ///< most tokens that a request may generate
  int connections = 1024;          ///< most open connections
  double receive_timeout = 10.0;   ///< seconds for a client to send its request
  double drain = 30.0;             ///< seconds for the last answers after a request to end
  std::optional<double> monitor;   ///< share of the requests whose numbers are stored; not given: none
  std::optional<double> monitor_texts;  ///< days for which their inputs and answers are stored too
  std::string review;                   ///< file of the review queue of one of the models; empty: none
  ModelRequest model;
  SelectionRequest selection;  ///< its words may also be folders and bundles
};

struct MonitorRequest {
  int window = 1000;                    ///< number of the last inputs that are described
  double alpha = 0.001;                 ///< largest probability of a false alarm
  std::optional<std::string> on_alert;  ///< command for /bin/sh
  int alert_timeout = 60;               ///< seconds without output after which the command is stopped
  std::optional<std::string> alerts;    ///< file with rules of the user (monitor/alert_rules.hpp)
  std::optional<std::string> replay;    ///< file with events to which they apply; "-": standard input
  bool follow = false;                  ///< evaluate the alerts each second until Ctrl-C
  std::optional<std::string> forget;    ///< id of a request whose data are removed
  bool json = false;
  bool csv = false;
  SelectionRequest selection;
};

Form<ServingRequest> serve_form();
Form<MonitorRequest> monitor_form();

}  // namespace encore::app

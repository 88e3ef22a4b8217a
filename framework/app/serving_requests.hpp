// SPDX-License-Identifier: BSD-3-Clause
// The requests of serve and monitor. exp reads them from the command line; the component exp-serve does the
// work (cli/components.hpp).
#pragma once

#include <optional>
#include <string>

#include "app/run_plugins.hpp"

namespace encore::app {

struct ServingRequest {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string token_file;
  int workers = 0;
  int batch = 32;
  double batch_wait = 0.0;
  int queue = 1024;
  double timeout = 30.0;
  int body_kib = 1024;
  int max_tokens = 4096;
  int connections = 1024;
  double receive_timeout = 10.0;
  double drain = 30.0;
  std::optional<double> monitor;
  std::optional<double> monitor_texts;
  ModelRequest model;
  SelectionRequest selection;
};

struct MonitorRequest {
  int window = 1000;
  double alpha = 0.001;
  std::optional<std::string> on_alert;
  int alert_timeout = 60;
  std::optional<std::string> forget;
  bool json = false;
  bool csv = false;
  SelectionRequest selection;
};

Form<ServingRequest> serve_form();
Form<MonitorRequest> monitor_form();

}  // namespace encore::app

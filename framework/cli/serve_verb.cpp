// SPDX-License-Identifier: BSD-3-Clause
// exp serve: serves models over HTTP until a signal. app/served_models.hpp finds the models, serve/serve.hpp
// answers requests. It is linked into the program exp-serve, which exp becomes for this verb
// (serve_main.cpp). The token must never come from or get into a command line, a log or a message.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "app/served_models.hpp"
#include "base/load_file.hpp"
#include "base/shell_word.hpp"
#include "cli/components.hpp"
#include "serve/serve.hpp"

namespace encore::cli {

namespace {

/// The variable with the token. The token is not an option's value, because every user of the machine can
/// read command lines.
constexpr const char* token_variable = "ENCORE_SERVE_TOKEN";

/// The least length of the token, because shorter tokens can be guessed.
constexpr std::size_t least_token_bytes = 16;

/// Refuses a file of this user that others may read, write or run, as ssh does for a private key. A file of
/// another user, such as a mounted secret, is accepted: its owner has chosen who reads it.
void require_private(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::getuid()) return;
  constexpr mode_t of_others = S_IRWXG | S_IRWXO;
  if ((about.st_mode & of_others) == 0) return;
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(about.st_mode & 07777));
  throw app::UsageError("--token-file " + path + ": other users have access to the file (mode " + mode +
                        "), expected mode 0600; run " + shell_command({"chmod", "600", path}) +
                        ", and make a new token if other users had access");
}

/// Warns if other users can read the database, which keeps the inputs of --monitor-texts.
void warn_where_others_read(Console& console, const std::filesystem::path& database) {
  struct stat about {};
  if (::stat(database.c_str(), &about) != 0 || (about.st_mode & (S_IRGRP | S_IROTH)) == 0) return;
  console.noticed("--monitor-texts stores inputs of clients in " + database.string() +
                  ", which other users of this machine can read; run " +
                  shell_command({"chmod", "600", database.string()}) + " to prevent this");
}

std::string token_of(const std::string& file) {
  std::string token;
  if (!file.empty()) {
    require_private(file);
    token = load_text(file, "token");
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  } else if (const char* value = std::getenv(token_variable)) {
    token = value;
  }
  const bool asked = !file.empty() || !token.empty();
  if (asked && (token.size() < least_token_bytes || token.find_first_of(" \t\r\n") != std::string::npos))
    throw app::UsageError("the token has " + std::to_string(token.size()) +
                          " bytes: expected one word of at least " + std::to_string(least_token_bytes) +
                          " bytes, such as the output of `openssl rand -hex 32`");
  return token;
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

serve::ServeOptions options_of(const app::ServingRequest& request) {
  serve::ServeOptions options;
  options.host = request.host;
  options.port = static_cast<std::uint16_t>(request.port);
  options.token = token_of(request.token_file);
  options.version = ENCORE_VERSION;
  options.batch_texts = static_cast<std::size_t>(request.batch);
  options.queue_texts = static_cast<std::size_t>(request.queue);
  options.connections = static_cast<std::size_t>(request.connections);
  options.body_bytes = static_cast<std::size_t>(request.body_kib) << 10;
  options.max_tokens = request.max_tokens;
  options.batch_wait = std::chrono::microseconds(static_cast<std::int64_t>(request.batch_wait * 1000.0));
  options.timeout = milliseconds_of(request.timeout);
  options.drain = milliseconds_of(request.drain);
  options.receiving = milliseconds_of(request.receive_timeout);
  options.monitor_share = request.monitor.value_or(options.monitor_share);
  options.monitor_text_days = request.monitor_texts.value_or(options.monitor_text_days);
  options.review = request.review;
  if (!serve::is_loopback(options.host) && options.token.empty())
    throw app::UsageError(
        "--host " + options.host +
        " accepts requests from other machines, so it needs a token: pass --token-file FILE or set $" +
        token_variable + " (openssl rand -hex 32 makes one)");
  return options;
}

int serve_models(const app::ServingRequest& request, app::App& app, Console& console) {
  serve::ServeOptions options = options_of(request);
  app::HeldSignals signals;  // a signal now would leave the folders of unpacked bundles behind
  std::vector<serve::ServedRun> models = app::served_models(request, app);
  if (options.monitor_text_days > 0.0) warn_where_others_read(console, app.database);
  std::string names = app::names_of(models);
  options.listening = [&](const std::string& url) {
    signals.release();
    console.out << "listening on " << url << std::endl;
  };
  std::mutex noticing;
  options.noticed = [&](const std::string& text) {
    const std::lock_guard<std::mutex> lock(noticing);
    console.noticed(text);
  };
  options.ready = [&] { console.out << "serving " << names << std::endl; };
  if (::isatty(STDIN_FILENO) == 0)  // on a terminal, SIGHUP means that the terminal was closed
    options.runs_now = [&] {
      std::vector<serve::ServedRun> now = app::served_models(request, app);
      names = app::names_of(now);
      return now;
    };
  if (serve::serve(options, std::move(models))) return exit_done;
  console.noticed("ended before all requests were answered");
  return exit_failed;
}

}  // namespace

std::vector<Verb> verbs_of_serve() {
  std::vector<Verb> verbs = verbs_of_review();
  verbs.insert(verbs.end(), {make_verb("serve", "", app::serve_form, serve_models), monitor_of_component()});
  return verbs;
}

}  // namespace encore::cli

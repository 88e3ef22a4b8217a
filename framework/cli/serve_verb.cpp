// serve: models behind HTTP, until a signal ends it. Which they are is in served_models.hpp.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "base/load_file.hpp"
#include "base/shell_word.hpp"
#include "cli/components.hpp"
#include "cli/held_signals.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/served_models.hpp"
#include "cli/verbs.hpp"
#include "serve/serve.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

/// Not an option's value: every user of the machine can read command lines.
constexpr const char* token_variable = "ENCORE_SERVE_TOKEN";

/// Shorter ones can be guessed.
constexpr std::size_t least_token_bytes = 16;

/// As ssh treats a private key: a file of this user that others may read, write or run is refused. One of
/// another user is not judged: its owner has chosen who reads it (a mounted secret).
void require_private(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::getuid()) return;
  constexpr mode_t of_others = S_IRWXG | S_IRWXO;
  if ((about.st_mode & of_others) == 0) return;
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(about.st_mode & 07777));
  throw UsageError("--token-file " + path + ": other users have access to the file (mode " + mode +
                   "), expected mode 0600; run " + shell_command({"chmod", "600", path}) +
                   ", and make another token if others were on this machine");
}

/// The database keeps the texts of --monitor-texts.
void warn_where_others_read(const std::filesystem::path& database) {
  struct stat about {};
  if (::stat(database.c_str(), &about) != 0 || (about.st_mode & (S_IRGRP | S_IROTH)) == 0) return;
  std::cerr << "exp: --monitor-texts keeps texts of clients in " << database.string()
            << ", which other users of this machine can read; "
            << shell_command({"chmod", "600", database.string()}) << " keeps them out\n";
}

std::string token_of(const CommandLine& line) {
  std::string token;
  if (line.has("token-file")) {
    require_private(line.text("token-file"));
    token = load_text(line.text("token-file"), "token");
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  } else if (const char* value = std::getenv(token_variable)) {
    token = value;
  }
  const bool asked = line.has("token-file") || !token.empty();
  if (asked && (token.size() < least_token_bytes || token.find_first_of(" \t\r\n") != std::string::npos))
    throw UsageError("the token has " + std::to_string(token.size()) +
                     " bytes; it must be one word of at least " + std::to_string(least_token_bytes) +
                     ", such as `openssl rand -hex 32` prints");
  return token;
}

/// A whole number from `least`.
std::size_t count_of(const CommandLine& line, const std::string& option, int least = 1,
                     int most = std::numeric_limits<int>::max()) {
  const int count = line.integer(option);
  if (count < least || count > most)
    throw UsageError(
        "--" + option + " is " + std::to_string(count) + "; it must be from " + std::to_string(least) +
        (most == std::numeric_limits<int>::max() ? std::string(" up") : " to " + std::to_string(most)));
  return static_cast<std::size_t>(count);
}

std::chrono::milliseconds seconds_of(const CommandLine& line, const std::string& option) {
  const double seconds = line.number(option);
  if (!(seconds >= 0.001 && seconds <= 86400.0))
    throw UsageError("--" + option + " must be from 0.001 to 86400 seconds");
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

ServeOptions options_of(const CommandLine& line) {
  ServeOptions options;
  options.host = line.text("host");
  options.port = static_cast<std::uint16_t>(count_of(line, "port", 0, 65535));
  options.token = token_of(line);
  options.version = ENCORE_VERSION;
  options.batch_texts = count_of(line, "batch");
  options.queue_texts = count_of(line, "queue");
  options.connections = count_of(line, "connections");
  options.body_bytes = count_of(line, "body-kib", 1, 1 << 20) << 10;
  options.max_tokens = static_cast<std::int64_t>(count_of(line, "max-tokens"));
  const double wait = line.number("batch-wait");
  if (!(wait >= 0.0 && wait <= 1000.0)) throw UsageError("--batch-wait must be from 0 to 1000 milliseconds");
  options.batch_wait = std::chrono::microseconds(static_cast<std::int64_t>(wait * 1000.0));
  options.timeout = seconds_of(line, "timeout");
  options.drain = seconds_of(line, "drain");
  options.receiving = seconds_of(line, "receive-timeout");
  if (line.has("monitor")) options.monitor_share = line.number("monitor");
  if (line.has("monitor") && !(options.monitor_share > 0.0 && options.monitor_share <= 1.0))
    throw UsageError("--monitor must be a share of the requests, above 0 and up to 1");
  if (line.has("monitor-texts")) options.monitor_text_days = line.number("monitor-texts");
  if (line.has("monitor-texts") && !(options.monitor_text_days > 0.0 && options.monitor_text_days <= 3650.0))
    throw UsageError("--monitor-texts must be a number of days, above 0 and up to 3650");
  if (line.has("monitor-texts") && !line.has("monitor"))
    throw UsageError(
        "--monitor-texts says for how long texts are kept, and --monitor of which requests; "
        "give both");
  if (!is_loopback(options.host) && options.token.empty())
    throw UsageError("--host " + options.host +
                     " lets other machines in, and whoever asks would be answered; give "
                     "a token with --token-file FILE or $" +
                     token_variable + " (openssl rand -hex 32 makes one)");
  return options;
}

}  // namespace

int serve_in_component(const Arguments& arguments) {
  CommandLine line = make_serve_line();
  if (!line.parse(arguments)) return exit_done;
  require_threads(line.integer("threads"));
  count_of(line, "workers", 0, 256);
  ServeOptions options = options_of(line);
  HeldSignals signals;  // bundles are unpacked into folders that must not stay
  std::vector<ServedRun> models = served_models(line);
  if (options.monitor_text_days > 0.0) warn_where_others_read(line.database());
  std::string names = names_of(models);
  options.listening = [&](const std::string& url) {
    signals.release();
    std::cout << "listening on " << url << std::endl;
  };
  options.ready = [&] { std::cout << "serving " << names << std::endl; };
  if (::isatty(STDIN_FILENO) == 0)  // of a terminal that is closed it says that everything there is to end
    options.runs_now = [&] {
      std::vector<ServedRun> now = served_models(line);
      names = names_of(now);
      return now;
    };
  if (serve(options, std::move(models))) return exit_done;
  std::cerr << "exp: ended before every request was answered\n";
  return exit_failed;
}

}  // namespace encore

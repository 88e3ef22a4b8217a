// SPDX-License-Identifier: BSD-3-Clause
// The actions of `exp review`: print what a review queue has, claim and decide its items, and write its
// decisions. app/review.hpp and review/queue.hpp do the work. It is linked into the program exp-serve, which
// exp becomes for these actions (serve_main.cpp). Programs read the JSON: members may be added, none
// renamed.
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/review.hpp"
#include "base/readable_text.hpp"
#include "cli/components.hpp"
#include "cli/review_loop.hpp"
#include "cli/table.hpp"
#include "review/queue_items.hpp"
#include "world/atomic_file.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;
using review::Opinions;
using review::Queue;

std::string number_cell(const std::optional<double>& value, int digits = 3) {
  return value ? fixed(*value, digits) : "-";
}

std::string state_of(const review::Item& item) {
  if (item.label) return "decided";
  if (!item.holder.empty()) return "claimed";
  return item.opinions.empty() ? "waiting" : "waiting, " + counted(item.opinions.size(), "opinion");
}

// --- new ---

int review_new(const app::ReviewNewRequest& request, app::App& app, Console& console) {
  const Queue queue = app::make_review_queue(request, app);
  const review::QueueSettings& settings = queue.settings();
  if (request.json) {
    console.print({{"version", 1},
                   {"queue", request.queue},
                   {"application", settings.application},
                   {"run", settings.run},
                   {"audit", settings.audit},
                   {"lease", settings.lease_seconds},
                   {"text_days", settings.text_days},
                   {"opinions", settings.opinions}});
    return exit_done;
  }
  console.out << request.queue << ": a review queue of application " << settings.application << "; "
              << (settings.text_days > 0.0 ? "inputs are kept for " + fixed(settings.text_days, 0) + " days"
                                           : std::string("inputs are not kept"))
              << "\nStart " << console.suggestion({"serve", settings.application, "--review", request.queue})
              << '\n';
  return exit_done;
}

// --- ls and trail ---

Table table_of(const std::vector<review::Item>& items) {
  Table table({{"ITEM"},
               {"STATE"},
               {"REASON"},
               {"PROPOSED"},
               {"CONFIDENCE", Align::right},
               {"QUEUED", Align::left, true},
               {"LABEL"},
               {"BY", Align::left, true}});
  for (const review::Item& item : items) {
    std::string by = item.holder;
    for (const review::Opinion& opinion : item.opinions) by += (by.empty() ? "" : ", ") + opinion.reviewer;
    table.add({item.id, state_of(item), review::name_of(item.reason),
               item.proposed.empty() ? "-" : printable(item.proposed), number_cell(item.confidence),
               time_text(item.queued), item.label ? printable(*item.label) : "-",
               by.empty() ? "-" : printable(by)});
  }
  return table;
}

int review_ls(const app::ReviewListRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  const std::vector<review::Item> items = queue.list(
      {.waiting = !request.done, .done = request.done, .most = static_cast<std::size_t>(request.limit)});
  const review::QueueCounts counts = queue.counts();
  if (request.json) {
    Json list = Json::array();
    for (const review::Item& item : items) list.push_back(review::item_json(item, Opinions::shown));
    Json json = {{"version", 1}, {"application", queue.settings().application}};
    json.update(review::counts_json(counts));
    json["items"] = list;
    console.print(json);
  } else if (request.csv) {
    table_of(items).print_csv(console.out);
  } else {
    console.out << queue.settings().application << ": " << counts.waiting << " waiting, " << counts.done
                << " decided\n";
    if (!items.empty()) table_of(items).print(console.out, console.terminal);
  }
  return exit_done;
}

int review_trail(const app::ReviewTrailRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  const std::vector<review::TrailEntry> trail = queue.trail(request.item);
  if (request.json) {
    Json list = Json::array();
    for (const review::TrailEntry& entry : trail)
      list.push_back({{"time", entry.time},
                      {"person", entry.person},
                      {"event", review::name_of(entry.event)},
                      {"label", entry.label.empty() ? Json() : Json(entry.label)}});
    console.print({{"version", 1}, {"item", request.item}, {"trail", list}});
    return exit_done;
  }
  Table table({{"TIME"}, {"EVENT"}, {"BY"}, {"LABEL"}});
  for (const review::TrailEntry& entry : trail)
    table.add({time_text(entry.time), review::name_of(entry.event), printable(entry.person),
               entry.label.empty() ? "-" : printable(entry.label)});
  if (request.csv)
    table.print_csv(console.out);
  else
    table.print(console.out, console.terminal);
  return exit_done;
}

// --- next, decide, undo, release ---

void print_json(Console& console, Queue& queue, const std::optional<review::Item>& item) {
  Json json = {{"version", 1}, {"item", item ? review::item_json(*item, Opinions::hidden) : Json()}};
  json.update(review::counts_json(queue.counts()));
  console.print(json);
}

int review_next(const app::ReviewNextRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  const std::string reviewer = app::reviewer_of(request.by);
  const review::Order order = *review::order_from(request.order);
  if (console.can_ask() && !request.json) {
    const std::size_t decided =
        review_on_terminal(queue, reviewer, order, console.out, console.terminal,
                           [&](const std::string& question) { return console.line(question); });
    console.out << counted(decided, "item") << " decided\n";
    return exit_done;
  }
  const std::optional<review::Item> item = queue.claim(reviewer, order);
  if (request.json)
    print_json(console, queue, item);
  else if (item)
    print_item(*item, queue.counts().waiting, console.out, console.terminal);
  else
    console.out << "no item waits for " << printable(reviewer) << '\n';
  return exit_done;
}

/// Prints the item after an action on it.
int print_outcome(Console& console, Queue& queue, bool json, const std::string& id) {
  const review::Item item = queue.find(id);
  if (json)
    print_json(console, queue, item);
  else
    console.out << item.id << ": " << state_of(item) << (item.label ? " as " + printable(*item.label) : "")
                << (item.holder.empty() ? "" : " by " + printable(item.holder)) << '\n';
  return exit_done;
}

int review_decide(const app::ReviewDecideRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  queue.decide(request.item, request.label, app::reviewer_of(request.by), request.new_label);
  return print_outcome(console, queue, request.json, request.item);
}

int review_undo(const app::ReviewUndoRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  queue.undo(request.item, request.by);
  return print_outcome(console, queue, request.json, request.item);
}

int review_release(const app::ReviewReleaseRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  queue.release(request.item, app::reviewer_of(request.by), request.skip);
  return print_outcome(console, queue, request.json, request.item);
}

// --- report ---

std::string percent_cell(const app::ReviewFigure& figure, double value) {
  return figure.name == "kappa" ? fixed(value, 3) : percent(value) + " %";
}

Table table_of(const app::ReviewReport& report, bool raw) {
  Table table({{"FIGURE"},
               {"VALUE", Align::right},
               {"LOW", Align::right},
               {"HIGH", Align::right},
               {"OF", Align::right}});
  for (const app::ReviewFigure& figure : report.figures) {
    const auto cell = [&](double value) {
      if (!figure.value) return std::string("-");
      return raw ? fixed(value, 6) : percent_cell(figure, value);
    };
    table.add({raw ? figure.name : figure.title, cell(figure.value.value_or(0.0)), cell(figure.interval.low),
               cell(figure.interval.high), std::to_string(figure.of)});
  }
  return table;
}

Json json_of(const app::ReviewReport& report) {
  const review::QueueNumbers& numbers = report.numbers;
  Json json = {{"version", 1}, {"application", report.settings.application}};
  json.update(review::counts_json(report.counts));
  json["claimed"] = numbers.claimed;
  json["disputed"] = numbers.disputed;
  json["texts"] = numbers.texts;
  json["queued_day"] = numbers.queued_day;
  json["queued_week"] = numbers.queued_week;
  json["decided_day"] = numbers.decided_day;
  json["decided_week"] = numbers.decided_week;
  json["oldest_waiting_seconds"] =
      numbers.oldest_waiting ? Json(numbers.time - *numbers.oldest_waiting) : Json();
  json["reviewers"] = Json::object();
  for (const auto& [reviewer, opinions] : numbers.by_reviewer) json["reviewers"][reviewer] = opinions;
  json["figures"] = Json::object();
  for (const app::ReviewFigure& figure : report.figures)
    json["figures"][figure.name] = {{"value", figure.value ? Json(*figure.value) : Json()},
                                    {"low", figure.value ? Json(figure.interval.low) : Json()},
                                    {"high", figure.value ? Json(figure.interval.high) : Json()},
                                    {"of", figure.of}};
  return json;
}

void print_report(Console& console, const app::ReviewReport& report) {
  const review::QueueNumbers& numbers = report.numbers;
  std::ostream& out = console.out;
  const auto seen = [&](review::Band band) {
    const auto found = numbers.seen.find(band);
    return found == numbers.seen.end() ? 0 : found->second;
  };
  const auto opinions = [](std::int64_t count) {
    return counted(static_cast<std::size_t>(count), "opinion");
  };
  out << report.settings.application << ": " << report.counts.waiting << " waiting, " << report.counts.done
      << " decided\n  waiting   " << numbers.claimed << " claimed, " << numbers.disputed << " disputed";
  if (numbers.oldest_waiting)
    out << ", the oldest " << document::duration_text(numbers.time - *numbers.oldest_waiting);
  out << "\n  24 hours  " << numbers.queued_day << " queued, " << opinions(numbers.decided_day)
      << "\n  7 days    " << numbers.queued_week << " queued, " << opinions(numbers.decided_week)
      << "\n  requests  " << seen(review::Band::answer) << " answered, " << seen(review::Band::review)
      << " for review, " << seen(review::Band::refuse) << " refused\n  audit     "
      << percent(report.settings.audit) << " % of the answered and refused requests\n";
  const char* title = "  reviewers ";
  for (const auto& [reviewer, count] : numbers.by_reviewer) {
    out << title << printable(reviewer) << ": " << opinions(count) << '\n';
    title = "            ";
  }
  out << '\n';
  table_of(report, false).print(out, console.terminal, 2);
}

int review_report(const app::ReviewReportRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  const app::ReviewReport report = app::review_report(queue);
  if (request.json)
    console.print(json_of(report));
  else if (request.csv)
    table_of(report, true).print_csv(console.out);
  else
    print_report(console, report);
  return exit_done;
}

// --- export and forget ---

int review_export(const app::ReviewExportRequest& request, app::App&, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  if (request.output.empty()) {
    app::export_decisions(queue, request, console.out);
    return exit_done;
  }
  std::ostringstream text;
  const std::size_t records = app::export_decisions(queue, request, text);
  world::save_file(request.output, text.str());
  const auto left_out = static_cast<std::size_t>(queue.counts().done) - records;
  if (request.json) {
    console.print({{"version", 1}, {"file", request.output}, {"records", records}, {"left_out", left_out}});
    return exit_done;
  }
  console.out << request.output << ": " << counted(records, "record") << '\n';
  if (left_out > 0)
    console.noticed(counted(left_out, "decided item") + " without a text " + (left_out == 1 ? "is" : "are") +
                    " left out");
  return exit_done;
}

int review_forget(const app::ReviewForgetRequest& request, app::App& app, Console& console) {
  Queue queue = app::open_review_queue(request.queue);
  const std::string person = app::reviewer_of(request.by);
  const app::ProgressEnd end{app.events};
  const std::size_t inputs = request.older_than
                                 ? queue.forget_older(*request.older_than * review::seconds_of_day, person,
                                                      [&](std::size_t done, std::size_t all) {
                                                        app.events.progressed("removed", done, all, "inputs");
                                                      })
                                 : queue.forget(request.items, person);
  if (request.json)
    console.print({{"version", 1}, {"inputs", inputs}});
  else
    console.out << counted(inputs, "input") << " removed\n";
  return exit_done;
}

}  // namespace

std::vector<Verb> verbs_of_review() {
  return {make_verb("review new", "", app::review_new_form, review_new),
          make_verb("review ls", "", app::review_ls_form, review_ls),
          make_verb("review next", "", app::review_next_form, review_next),
          make_verb("review decide", "", app::review_decide_form, review_decide),
          make_verb("review undo", "", app::review_undo_form, review_undo),
          make_verb("review release", "", app::review_release_form, review_release),
          make_verb("review report", "", app::review_report_form, review_report),
          make_verb("review export", "", app::review_export_form, review_export),
          make_verb("review forget", "", app::review_forget_form, review_forget),
          make_verb("review trail", "", app::review_trail_form, review_trail)};
}

}  // namespace encore::cli

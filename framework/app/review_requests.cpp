// SPDX-License-Identifier: BSD-3-Clause
// The options of the actions of `exp review`, and their rules (Form, form.hpp). exp checks the command line
// by these forms and then replaces itself by exp-serve (cli/components.cpp). Names of options must not
// change; help may. Read next: review_requests.hpp.
#include "app/review_requests.hpp"

namespace encore::app {

namespace {

constexpr const char* queue_argument = "a review queue";
constexpr const char* item_argument = "the id of an item";
constexpr const char* by_help = "name of the reviewer (default: $USER)";

}  // namespace

Form<ReviewNewRequest> review_new_form() {
  using R = ReviewNewRequest;
  return Form<R>("review new",
                 {"review new QUEUE --app RUN [options]",
                  "Makes the file QUEUE for the requests to an application that people must decide. exp "
                  "serve RUN "
                  "--review QUEUE adds to it. The settings are fixed from then on.",
                  {{"exp review new requests.queue --app desk --keep-texts 30",
                    "keep the input of each request for 30 days, so that reviewers can read it here"}}})
      .option("app", &R::app, "RUN", "the run of the application")
      .option(
          "audit", &R::audit, "SHARE",
          "also review this share of the requests that are answered or refused, chosen at random; it shows "
          "the error of these answers")
      .option("lease", &R::lease, "S",
              "seconds for which a reviewer has a claimed item; then others can claim it")
      .option("keep-texts", &R::keep_texts, "DAYS",
              "keep the input of each request for DAYS days (default: it is not kept, and reviewers find the "
              "request elsewhere by its id)")
      .option("opinions", &R::opinions, "N", "number of people who must give an item the same label, 1 or 2")
      .option("label", &R::label, "LABEL",
              "a label to choose from beside those of the application's model (may be repeated)")
      .flag("json", &R::json, "as JSON")
      .argument("queue", &R::queue, "the file of the new queue")
      .range("audit", 0.0, 1.0, "invalid --audit {}: expected a share from 0 to 1")
      .range("lease", 1.0, 604800.0, "invalid --lease {}: expected 1 to 604800 seconds")
      .range("keep-texts", 0.001, 3650.0, "invalid --keep-texts {}: expected 0.001 to 3650 days")
      .range("opinions", 1, 2, "invalid --opinions {}: expected 1 or 2")
      .refuse([](const R& request) -> std::string {
        if (request.app.empty()) return "--app is missing: name the run of the application";
        for (const std::string& label : request.label)
          if (label.empty()) return "invalid --label \"\": expected a label";
        return "";
      });
}

Form<ReviewListRequest> review_ls_form() {
  using R = ReviewListRequest;
  return Form<R>("review ls",
                 {"review ls QUEUE [options]",
                  "Lists the items that wait, in the order in which reviewers get them, and counts "
                  "all of them.",
                  {{"exp review ls desk.queue", "list the next 20 items"}}})
      .flag("done", &R::done, "list decided items, the newest first")
      .option("limit,n", &R::limit, "N", "list at most N items")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .argument("queue", &R::queue, queue_argument)
      .exclude("json", "csv")
      .least("limit", 1, "invalid --limit {}: expected at least 1");
}

Form<ReviewNextRequest> review_next_form() {
  using R = ReviewNextRequest;
  return Form<R>(
             "review next",
             {"review next QUEUE [options]",
              "Claims the next item and prints it. On a terminal, asks for its label, and continues with the "
              "next item until none is left or the reviewer quits.",
              {{"exp review next desk.queue --by anna", "review the items as anna"},
               {"exp review next desk.queue --by anna --json", "claim an item, for a program"}}})
      .option("by", &R::by, "NAME", by_help)
      .option(
          "order", &R::order, "ORDER",
          "uncertainty: the lowest confidence first; age: the oldest first. Items of the audit come first in "
          "the order uncertainty")
      .flag("json", &R::json, "as JSON; do not ask")
      .argument("queue", &R::queue, queue_argument)
      .refuse([](const R& request) -> std::string {
        return request.order == "uncertainty" || request.order == "age"
                   ? ""
                   : "invalid --order \"" + request.order + "\": expected uncertainty or age";
      });
}

Form<ReviewDecideRequest> review_decide_form() {
  using R = ReviewDecideRequest;
  return Form<R>(
             "review decide",
             {"review decide QUEUE ITEM LABEL [options]",
              "Records the label that a reviewer gives an item.",
              {{"exp review decide desk.queue 5b1f0c2a9e44-1 billing --by anna", "decide without a claim"}}})
      .option("by", &R::by, "NAME", by_help)
      .flag("new-label", &R::new_label, "accept a label that the queue does not have yet")
      .flag("json", &R::json, "as JSON")
      .argument("queue", &R::queue, queue_argument)
      .argument("item", &R::item, item_argument)
      .argument("label", &R::label, "a label");
}

Form<ReviewUndoRequest> review_undo_form() {
  using R = ReviewUndoRequest;
  return Form<R>("review undo",
                 {"review undo QUEUE ITEM [options]",
                  "Takes back the newest decision about an item, which then waits again.",
                  {{"exp review undo desk.queue 5b1f0c2a9e44-1", "take back the last decision"}}})
      .option("by", &R::by, "NAME", "only the decision of this reviewer, who then has the item again")
      .flag("json", &R::json, "as JSON")
      .argument("queue", &R::queue, queue_argument)
      .argument("item", &R::item, item_argument);
}

Form<ReviewReleaseRequest> review_release_form() {
  using R = ReviewReleaseRequest;
  return Form<R>("review release", {"review release QUEUE ITEM [options]",
                                    "Gives back an item that the reviewer has claimed.",
                                    {{"exp review release desk.queue 5b1f0c2a9e44-1 --by anna --skip",
                                      "leave the item to others, and come to it last"}}})
      .option("by", &R::by, "NAME", by_help)
      .flag("skip", &R::skip, "put the item behind all that were skipped less often")
      .flag("json", &R::json, "as JSON")
      .argument("queue", &R::queue, queue_argument)
      .argument("item", &R::item, item_argument);
}

Form<ReviewReportRequest> review_report_form() {
  using R = ReviewReportRequest;
  return Form<R>(
             "review report",
             {"review report QUEUE [options]",
              "Prints the load, how often people decide as proposed, the error of automatic answers by the "
              "audit, and the agreement of two reviewers, with 95 % intervals.",
              {{"exp review report desk.queue", "print the figures"}}})
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print the shares as CSV")
      .argument("queue", &R::queue, queue_argument)
      .exclude("json", "csv");
}

Form<ReviewExportRequest> review_export_form() {
  using R = ReviewExportRequest;
  return Form<R>(
             "review export",
             {"review export QUEUE [options]",
              "Writes decided items as records with the text and its label, to train with. Items without a "
              "text are left out.",
              {{"exp review export desk.queue -o decided.tsv", "write a file of text and label"}}})
      .option("output,o", &R::output, "FILE", "the file to write (default: standard output)")
      .option("format", &R::format, "FORMAT",
              "tsv: text and label with a tab between them; jsonl: objects with the members text and label "
              "(default: the format of the application's data, else jsonl)")
      .flag("json", &R::json, "print as JSON what was written; needs --output")
      .argument("queue", &R::queue, queue_argument)
      .refuse([](const R& request) -> std::string {
        if (request.json && request.output.empty())
          return "--json describes the written file: add --output FILE, or --format jsonl for records as "
                 "JSON";
        return !request.format || *request.format == "tsv" || *request.format == "jsonl"
                   ? ""
                   : "invalid --format \"" + *request.format + "\": expected tsv or jsonl";
      });
}

Form<ReviewForgetRequest> review_forget_form() {
  using R = ReviewForgetRequest;
  return Form<R>("review forget",
                 {"review forget QUEUE [ITEM...] [options]",
                  "Overwrites the input of items in the queue and its journal. The items and their decisions "
                  "stay, "
                  "for the figures.",
                  {{"exp review forget desk.queue 5b1f0c2a9e44-1 --by anna", "remove the input of one item"},
                   {"exp review forget desk.queue --older-than 7 --by anna",
                    "remove all inputs older than 7 days"}}})
      .option("older-than", &R::older_than, "DAYS", "the inputs of all items older than DAYS days")
      .option("by", &R::by, "NAME", "who removes them, for the trail (default: $USER)")
      .flag("json", &R::json, "as JSON")
      .argument("queue", &R::queue, queue_argument)
      .argument("item", &R::items)
      .range("older-than", 0.0, 36500.0, "invalid --older-than {}: expected a number of days from 0")
      .refuse([](const R& request) -> std::string {
        return request.items.empty() == request.older_than.has_value()
                   ? ""
                   : "name the items whose input is removed, or give --older-than DAYS";
      });
}

Form<ReviewTrailRequest> review_trail_form() {
  using R = ReviewTrailRequest;
  return Form<R>("review trail",
                 {"review trail QUEUE ITEM [options]",
                  "Prints what happened to an item: who did it, and when.",
                  {{"exp review trail desk.queue 5b1f0c2a9e44-1", "print the trail of an item"}}})
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .argument("queue", &R::queue, queue_argument)
      .argument("item", &R::item, item_argument)
      .exclude("json", "csv");
}

}  // namespace encore::app

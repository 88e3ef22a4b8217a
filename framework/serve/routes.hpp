// SPDX-License-Identifier: BSD-3-Clause
// Route: a row of the table of routes of `exp serve`. From this table come the requests that the server
// takes, the checks of bodies, the OpenAPI document and docs/reference/serving_api.md. service.cpp looks up
// the route of a request; requests.cpp checks bodies by its fields. Paths and names are an interface for
// clients: add, never rename. Read next: routes.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encore::serve {

/// What the server does for a route.
enum class RouteWork : std::uint8_t {
  predict,
  embeddings,
  completions,
  feedback,
  review_claim,
  review_decide,
  review_undo,
  review_release,
  review_status,
  review_page,
  models,
  alive,
  ready,
  metrics,
  page,
  openapi
};

/// `neutral`: a member of OpenAI's interface that is not supported, and is accepted with the values of
/// RouteField::neutral and null, which request nothing.
enum class FieldType : std::uint8_t { text, texts, integer, number, flag, object, neutral };

/// A member of a request's body.
struct RouteField {
  const char* name;
  FieldType type;
  bool required;
  const char* help;          ///< for the OpenAPI document and the page
  const char* neutral = "";  ///< for FieldType::neutral: the accepted values, as a JSON array
};

/// A member of the JSON object that a route answers with. "a.b" is the member b of the object a, and "a[].b"
/// that of each object in the list a.
struct AnswerMember {
  const char* name;
  const char* help;  ///< for the OpenAPI document and the page
};

/// Returns whether the work needs the review queue of the server.
inline bool is_review(RouteWork work) {
  return work >= RouteWork::review_claim && work <= RouteWork::review_page;
}

struct Route {
  const char *method, *path;
  RouteWork work;
  bool open;                                      ///< needs no token
  const char* summary;                            ///< one line, for the OpenAPI document and the page
  std::vector<RouteField> fields = {};            ///< of the body; none: it has no body
  const char* content_type = "application/json";  ///< of the answer
  const char* answer = "";                        ///< what the answer is
  /// The members of the answer, if the page lists them. Routes with the same answer share the list.
  const std::vector<AnswerMember>* members = nullptr;
};

/// Returns all routes, in the order of the documentation.
const std::vector<Route>& routes();

/// Returns the OpenAPI 3.0 document, as JSON.
std::string openapi_document(const std::string& version);
/// Returns the content of docs/reference/serving_api.md.
std::string routes_page();

}  // namespace encore::serve

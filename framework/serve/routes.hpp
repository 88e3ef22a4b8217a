// The routes of `exp serve`, one row each: the requests that the server takes, the OpenAPI document,
// docs/reference/serving_api.md and the checks of bodies come from this table. Place in the
// flow: service.cpp looks a request's route up here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encore {

enum class RouteWork : std::uint8_t {
  predict,
  embeddings,
  completions,
  feedback,
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
  const char* help;
  const char* neutral = "";  ///< a JSON array
};

struct Route {
  const char *method, *path;
  RouteWork work;
  bool open;  ///< needs no token
  const char* summary;
  std::vector<RouteField> fields = {};            ///< of the body; none: it has no body
  const char* content_type = "application/json";  ///< of the answer
  const char* answer = "";                        ///< what the answer is
};

const std::vector<Route>& routes();

/// The OpenAPI 3.0 document, as JSON.
std::string openapi_document(const std::string& version);
/// docs/reference/serving_api.md
std::string routes_page();

}  // namespace encore

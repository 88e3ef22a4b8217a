// The page at `/` of a server: sends inputs to its models, and loads nothing from elsewhere. Place in the
// flow: service.cpp.
#pragma once

#include <string>

namespace encore {

struct ServePage {
  std::string html;
  std::string policy;  ///< its Content-Security-Policy
};

/// The page sends its requests to the routes of its own server.
const ServePage& serve_page();

}  // namespace encore

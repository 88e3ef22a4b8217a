// The page at `/` of a server: asks its models, with nothing loaded from elsewhere. Place in the flow:
// service.cpp.
#pragma once

#include <string>

namespace encore {

struct ServePage {
  std::string html;
  std::string policy;  ///< its Content-Security-Policy
};

/// What it asks are the routes of the server that it comes from.
const ServePage& serve_page();

}  // namespace encore

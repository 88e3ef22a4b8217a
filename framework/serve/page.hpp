// SPDX-License-Identifier: BSD-3-Clause
// ServePage: the page at `/` of a server, from which a user sends inputs to its models. service.cpp sends it.
// It loads nothing from other servers. Its source is in page/.
#pragma once

#include <string>

namespace encore::serve {

struct ServePage {
  std::string html;
  std::string policy;  ///< its Content-Security-Policy
};

/// Returns the page. It sends its requests to the routes of its own server.
const ServePage& serve_page();

}  // namespace encore::serve

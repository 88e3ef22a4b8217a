// SPDX-License-Identifier: BSD-3-Clause
// serve_page(): the page at `/` of a server, from which a user sends inputs to its models. service.cpp sends
// it. Place in the flow: CMake fills page_files.cpp.in with the files in page/ -> page.cpp joins them. They
// are compiled in so that a server has its page without an installation, and so that no other user of the
// machine can change the script that browsers get. The page loads nothing from other servers; keep that.
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

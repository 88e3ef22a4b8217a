// SPDX-License-Identifier: BSD-3-Clause
// serve_page(): the page at `/` of a server, from which a user sends inputs to its models; review_page(): the
// page at `/review`, on which people decide the items of its review queue. service.cpp sends them. Place in
// the flow: CMake fills page_files.cpp.in with the files in page/ -> page.cpp joins them. They are compiled
// in so that a server has its page without an installation, and so that no other user of the machine can
// change the script that browsers get. The page loads nothing from other servers; keep that.
#pragma once

#include <string>

namespace encore::serve {

/// The page and the header that must be sent with it. Without the header, text of clients that the page shows
/// could run as a script in the browser.
struct ServePage {
  std::string html;    ///< with style and script in it
  std::string policy;  ///< its Content-Security-Policy: allows only this style and this script
};

/// Returns the page. It sends its requests to the routes of its own server. Made at the first call, and valid
/// until the process ends.
const ServePage& serve_page();
const ServePage& review_page();

// The files of page/ as strings of the program, which CMake makes of page_files.cpp.in. Only page.cpp uses
// them: other code sends the page with its policy.
extern const char* const page_frame;     ///< page.html, with {{style}} and {{script}}
extern const char* const page_style;     ///< page.css
extern const char* const page_script;    ///< common.js, answers.js and page.js
extern const char* const review_frame;   ///< review.html, with the same placeholders
extern const char* const review_style;   ///< page.css and review.css
extern const char* const review_script;  ///< common.js and review.js

}  // namespace encore::serve

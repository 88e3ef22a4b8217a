// SPDX-License-Identifier: BSD-3-Clause
// The files of page/ as strings of the program. Place in the flow: CMake fills page_files.cpp.in -> page.cpp
// joins them. They are compiled in so that a server has its page without an installation, and so that no
// other user of the machine can change the script that browsers get.
#pragma once

namespace encore::serve {

extern const char* const page_frame;   ///< page.html, with {{style}} and {{script}}
extern const char* const page_style;   ///< page.css
extern const char* const page_script;  ///< answers.js and page.js

}  // namespace encore::serve

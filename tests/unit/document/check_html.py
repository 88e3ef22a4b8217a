# SPDX-License-Identifier: BSD-3-Clause
"""Checks the HTML file of a report (check_html.py FILE): tags that do not nest, duplicate ids, links to missing ids,
headings out of order, pictures without a title, tables without headers, attributes that the page's policy forbids.
Prints at most 20 problems and exits with 1 if there are any. writer_test.cpp beside it and
tests/system/control/report_test.cpp run it on what framework/document/html.cpp writes; it needs no package.
"""
import sys
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr", "wbr"}


class Checker(HTMLParser):
    """Collects in `problems` what is wrong, each with line and column, and the links of the page in `links`."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.ids, self.links, self.scripts = [], [], set(), [], 0
        self.heading, self.wants_title, self.table = 0, False, None

    def problem(self, text):
        self.problems.append("%d:%d: %s" % (*self.getpos(), text))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            if values["id"] in self.ids:
                self.problem("id %s stands twice" % values["id"])
            self.ids.add(values["id"])
        if tag == "a":
            self.links.append(values.get("href", ""))
        for name in values:
            if name.startswith("on") or name == "style":
                self.problem("attribute %s" % name)
        if self.wants_title and tag != "title":
            self.problem("svg without a title")
        self.wants_title = tag == "svg"
        if tag == "svg" and values.get("role") != "img":
            self.problem("svg without role img")
        if tag == "html" and not values.get("lang"):
            self.problem("html without lang")
        if tag == "script":
            self.scripts += 1
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            level = int(tag[1])
            if level > self.heading + 1:
                self.problem("h%d after h%d" % (level, self.heading))
            self.heading = level
        if tag == "table":
            self.table = set()
        if self.table is not None:
            self.table.add(tag)
        if tag == "th" and values.get("scope") not in ("col", "row"):
            self.problem("th without scope")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problem("</%s> closes <%s>" % (tag, self.open[-1] if self.open else ""))
        else:
            self.open.pop()
        if tag == "table":
            if not {"caption", "thead", "th"} <= self.table:
                self.problem("table without caption or header")
            self.table = None


text = open(sys.argv[1], encoding="utf-8").read()
checker = Checker()
checker.feed(text)
checker.close()
if checker.open:
    checker.problem("not closed: %s" % checker.open)
if checker.scripts != 1:
    checker.problem("%d scripts" % checker.scripts)
for link in checker.links:
    if not link.startswith("#") or link[1:] not in checker.ids:
        checker.problem("link to %s" % link)
print("\n".join(checker.problems[:20]))
sys.exit(1 if checker.problems else 0)

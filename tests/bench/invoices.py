#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates invoices and letters as words with tags, to measure the extraction of documents of 1 to 8 pages.

    python3 tests/bench/invoices.py invoices
    ENCORE_INVOICES=$PWD/invoices ./exp run experiments/apps/invoices.toml
    python3 tests/bench/invoices.py typed --types
    ENCORE_INVOICES=$PWD/typed ./exp run experiments/apps/invoices_types.toml

Called by hand; docs/guides/extract.md has the results, and invoices_test.py tests it.

It writes train.conll, dev.conll, test.conll and unseen.conll, one word and its tag (IOB2) in each row, with the word "|"
between two lines, and the same words as train.txt and so on with one document in each line. A template decides the words
in front of values, the order of blocks and columns, the formats of dates and amounts, and what stands on each page. Each
set has templates of its own, so no template of the test set is known to the model or to the threshold. The templates of
"unseen" also have words in front of values that no other set has, such as "Please remit" for the total.

An invoice has a number, a company, a customer, a date, a due date, items (quantity, description, price, amount), a net
amount, a tax and a total. One invoice in eight has a wrong net amount, tax or total. A letter reminds a customer of an
invoice: it has a number, a company, a customer, a date and the claimed amount. Other dates and amounts stand between
them, such as carried sums, delivery dates and prices in the terms. With one seed it writes the same files each time. With
--types a line "# type = invoice" or "# type = letter" stands in front of each document; the rows are the same.
"""
import argparse, os, random

from receipts import words_of

TEMPLATES = {"train": 60, "dev": 30, "test": 40, "unseen": 40}
PAGES = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8)
LETTERS = 0.25      # share of the documents
WRONG = 0.125       # share of the invoices with a wrong sum
ROWS = 14           # lines of items on a page

NAMES = ("Abbott Calder Dunmore Ellis Farrow Greaves Holt Irving Jarvis Keller Lindqvist Marchetti Novak Osborne Petrov Quinn "
         "Rossi Schaefer Tanaka Ulrich Vance Weber Xander Yates Zeller Brandt Costa Dupont Engel Fischer").split()
TRADES = ["Tools", "Logistics", "Office Supplies", "Metal Works", "Electric", "Printing", "Software", "Catering", "Timber",
          "Glass", "Engineering", "Cleaning Services", "Textiles", "Chemicals", "Garden Centre"]
FORMS = ["Ltd", "Ltd.", "GmbH", "Inc.", "LLC", "B.V.", "S.A.", "& Co", "AG", "plc", "Partners"]
THINGS = ["bolt", "bracket", "cable", "valve", "filter", "cartridge", "toner", "paper", "shelf", "lamp", "hinge", "pump", "hose",
          "gasket", "relay", "sensor", "switch", "panel", "bearing", "battery", "monitor", "keyboard", "licence", "support",
          "installation", "maintenance", "delivery service", "training day", "consulting hour", "paint", "primer", "cleaner"]
KINDS = ["steel", "brass", "copper", "black", "blue", "large", "small", "heavy duty", "standard", "outdoor", "spare", "digital",
         "galvanised", "type A", "type B", "40 mm", "M8", "2.5 m", "A4", "USB", "12 V", "annual", "on site", "recycled"]
STREETS = ["High Street", "Station Road", "Mill Lane", "Church Road", "Park Avenue", "Market Square", "Harbour Way"]
TOWNS = ["Leith", "Arles", "Delft", "Graz", "Porto", "Lund", "Bath", "Trier", "Siena", "Gouda", "Ghent", "Turku"]
MONTHS = "January February March April May June July August September October November December".split()

SAYINGS = ["All prices are in {currency} and do not include shipping unless stated.",
           "Goods remain our property until they are paid in full.",
           "Please quote the reference above in all correspondence.",
           "Offers made before {date} are no longer valid.",
           "Late payment is subject to interest of {percent} % a year.",
           "Our office is closed from {date} to {date}.",
           "The minimum order value is {money} since {date}.",
           "Returns are accepted within {days} days and cost {money} for each parcel.",
           "Deliveries leave our warehouse every Tuesday and Friday before noon.",
           "Questions are answered by our service desk at {phone}.",
           "The warranty covers material and labour for {days} months.",
           "A reminder fee of {money} is charged for each letter after the first.",
           "Our general terms of {date} apply to this document.",
           "Thank you for your confidence in our work.",
           "Partial deliveries are invoiced separately and may arrive on different days.",
           "The court at the seat of our company is competent for all disputes."]

CHOICES = {    # what a template chooses once, for all its documents
    "title": ["Invoice", "INVOICE", "Tax invoice", "Commercial invoice", "Bill"],
    "number": ["Invoice no. :", "Invoice number", "No.", "Invoice #", "Document no. :", "Our reference :", "Bill number :",
               "Reference", "Inv. no."],
    "date": ["Date :", "Invoice date", "Date of issue :", "Issued on", "Dated", "Issue date :", "Billing date"],
    "due": ["Due date :", "Payable by", "Please pay before", "Payment due", "Due on", "Pay until :"],
    "other_date": ["Delivery date :", "Order date", "Date of supply :", "Shipped on", "Ordered on", "Your order of"],
    "customer": ["Bill to :", "Customer :", "To :", "Sold to", "Invoice to :", "Client :", "Messrs."],
    "ship": ["Ship to :", "Delivery address :", "Contact :", ""],
    "net": ["Subtotal", "Net amount", "Net total :", "Sum", "Total net", "Amount before tax", "Total excl. VAT"],
    "tax": ["VAT", "Tax", "Sales tax :", "Plus VAT", "GST", "Value added tax"],
    "total": ["Total", "Total due :", "Amount due", "Grand total", "Invoice total", "Total incl. VAT", "To pay :", "Balance due"],
    "carry": ["Carried forward", "Sum of page", "Transfer", "Brought forward :", "Interim total"],
    "claim": ["the amount of", "the sum of", "a balance of", "an outstanding amount of", "a total of"],
    "columns": ["qdpa", "dqpa", "nqdpa", "ndqpa", "dpqa", "qudpa", "dqupa", "ndpqa"],
    "names": [["Qty", "Description", "Price", "Amount"], ["Quantity", "Article", "Unit price", "Total"],
              ["Units", "Item", "Rate", "Sum"], ["Pcs", "Product", "Each", "Value"], ["Number", "Service", "Price each", "Line total"]],
    "unit": ["pcs", "x", "units", "ea.", "h"],
    "format_of_date": ["slash", "point", "iso", "name", "name first", "short year", "dashes"],
    "format_of_money": ["point", "comma", "plain point", "plain comma", "apostrophe"],
    "currency": ["EUR", "GBP", "CHF", "USD", "SEK"],
    "place_of_currency": ["front", "behind", "none", "totals front", "totals behind"],
    "head": ["company number customer", "company customer number", "number company customer", "customer company number"],
    "order": ["number date due", "date number due", "number date other due", "other number date due", "date other due number"],
    "one_line": [False, False, True],        # values of the head in one line or one below the other
    "page_head": ["company number", "company", "number", "none"],
    "page_foot": ["page", "carry page", "company page", "none"],
    "sums": ["net tax total", "net tax total", "total net tax"],
    "percent": ["7", "19", "20", "21", "25"],
    "number_form": ["INV-{:05d}", "{:06d}", "R{:04d}/24", "2024-{:04d}", "AB{:06d}", "{:04d}-X", "F-{:04d}-B"],
    "letter": ["reminder", "statement", "request"],
}
UNSEEN = {    # words in front of values that only the set "unseen" has
    "title": ["Statement of charges", "Sales note"],
    "number": ["Document ID", "File :", "Voucher no. :"],
    "date": ["Drawn up on", "Written on :", "Day of billing"],
    "due": ["Settle before", "To be paid by", "Deadline :"],
    "other_date": ["Goods left on", "Agreed on :", "Service performed on"],
    "customer": ["Buyer :", "Charged to", "Account of :"],
    "net": ["Goods value", "Value of services :", "Before duties"],
    "tax": ["Levy", "Turnover tax", "Duties"],
    "total": ["Final amount", "Please remit", "Payable in full :"],
    "carry": ["Running total", "From the page before"],
    "claim": ["a debt of", "an open item of", "your arrears of"],
    "names": [["Count", "Goods", "Single", "Position value"], ["How many", "What", "Price of one", "Together"]],
    "unit": ["pkg", "m"],
}


class Template:
    def __init__(self, rng, choices):
        for name, values in choices.items():
            setattr(self, name, rng.choice(values))

    def date_text(self, day, month, year):
        return {"slash": f"{day:02d}/{month:02d}/{year}", "point": f"{day:02d}.{month:02d}.{year}",
                "iso": f"{year}-{month:02d}-{day:02d}", "name": f"{day} {MONTHS[month - 1]} {year}",
                "name first": f"{MONTHS[month - 1]} {day}, {year}", "short year": f"{day:02d}/{month:02d}/{year % 100:02d}",
                "dashes": f"{day:02d}-{MONTHS[month - 1][:3]}-{year}"}[self.format_of_date]

    def money_text(self, cents):
        whole, decimals = divmod(cents, 100)
        thousands, mark = {"point": (",", "."), "comma": (".", ","), "plain point": ("", "."), "plain comma": ("", ","),
                           "apostrophe": ("'", ".")}[self.format_of_money]
        return f"{whole:,}".replace(",", thousands) + f"{mark}{decimals:02d}"

    def amount(self, cents, label, is_sum=False):
        """Returns the parts of an amount; the currency is outside of the field."""
        value, place = (self.money_text(cents), label), self.place_of_currency
        if place == "front" or (place == "totals front" and is_sum):
            return [(self.currency, ""), value]
        if place == "behind" or (place == "totals behind" and is_sum):
            return [value, (self.currency, "")]
        return [value]


class Document:
    """Makes the lines of one document; a line has parts (text, label), and the label "" is outside of fields."""

    def __init__(self, rng, template):
        self.rng, self.t = rng, template
        self.company = f"{rng.choice(NAMES)} {rng.choice(TRADES)} {rng.choice(FORMS)}"
        self.customer = f"{rng.choice(NAMES)} {rng.choice(['', rng.choice(TRADES) + ' '])}{rng.choice(FORMS)}"
        self.number = template.number_form.format(rng.randrange(1000, 9999))
        self.pages = rng.choice(PAGES)

    def date(self):
        return self.t.date_text(self.rng.randint(1, 28), self.rng.randint(1, 12), self.rng.randint(2018, 2026))

    def address(self):
        return [[(f"{self.rng.randint(1, 180)} {self.rng.choice(STREETS)}", "")],
                [(f"{self.rng.randint(10000, 99999)} {self.rng.choice(TOWNS)}", "")]]

    def phone(self):
        return f"+44 {self.rng.randint(1000, 9999)} {self.rng.randint(100000, 999999)}"

    def saying(self):
        text = self.rng.choice(SAYINGS)
        while "{date}" in text:
            text = text.replace("{date}", self.date(), 1)
        return text.format(currency=self.t.currency, percent=self.rng.randint(2, 12), days=self.rng.choice([7, 14, 30, 60]),
                           money=self.t.money_text(self.rng.randint(200, 9000)), phone=self.phone())

    def sayings(self, count):
        return [[(self.saying(), "")] for _ in range(count)]

    def page_head(self):
        parts = {"company": (self.company, "company"), "number": (self.number, "number")}
        return [[parts[name] for name in self.t.page_head.split()]] if self.t.page_head != "none" else []

    def page_foot(self, page, carried=None):
        line = []
        for name in self.t.page_foot.split():
            if name == "page":
                line.append((f"Page {page} of {self.pages}", ""))
            elif name == "company":
                line.append((self.company, "company"))
            elif name == "carry" and carried is not None and page < self.pages:
                line += [(self.t.carry, "")] + self.t.amount(carried, "")
        return [line] if line else []

    def head(self, kind):
        rng, t = self.rng, self.t
        blocks = {"company": [[(self.company, "company")]] + (self.address() if rng.random() < 0.7 else []) +
                             ([[("Tel.", ""), (self.phone(), "")]] if rng.random() < 0.5 else []),
                  "customer": [[(t.customer, ""), (self.customer, "customer")]] + (self.address() if rng.random() < 0.7 else [])}
        values = {"number": [(t.number, ""), (self.number, "number")], "date": [(t.date, ""), (self.date(), "date")],
                  "due": [(t.due, ""), (self.date(), "due")], "other": [(t.other_date, ""), (self.date(), "")]}
        names = t.order.split()
        if kind == "letter":
            names = [name for name in names if name == "date"]
        lines = [values[name] for name in names]
        blocks["number"] = [sum(lines, [])] if t.one_line else lines
        if kind == "invoice":
            blocks["number"] = [[(t.title, "")]] + blocks["number"]
            if t.ship and rng.random() < 0.3:
                blocks["customer"] += [[(t.ship, ""), (f"{rng.choice(NAMES)} {rng.choice(TRADES)}", "")]]
        return sum((blocks[name] for name in t.head.split()), [])

    def row(self, number, quantity, description, price):
        t, parts = self.t, []
        for column in t.columns:
            parts += {"q": lambda: [(str(quantity), "item.quantity")], "d": lambda: [(description, "item.description")],
                      "p": lambda: t.amount(price, "item.price"), "a": lambda: t.amount(quantity * price, "item.amount"),
                      "n": lambda: [(str(number), "")], "u": lambda: [(t.unit, "")]}[column]()
        return parts

    def table_head(self):
        names = dict(zip("qdpa", self.t.names))
        names.update(n="Pos.", u="Unit")
        return [[(" ".join(names[column] for column in self.t.columns), "")]]

    def invoice(self):
        rng, t = self.rng, self.t
        lines, net, number = self.head("invoice"), 0, 0
        for page in range(1, self.pages + 1):
            if page > 1:
                lines += self.page_head()
            lines += self.table_head()
            for _ in range(rng.randint(1, 6) if self.pages == 1 else rng.randint(ROWS // 2, ROWS)):
                number += 1
                quantity, price = rng.choice([1, 1, 2, 3, 4, 5, 8, 10, 12, 25, 100]), rng.randint(50, 60000)
                words = [rng.choice(KINDS)] * (rng.random() < 0.6) + [rng.choice(THINGS)]
                words += [rng.choice(KINDS)] * (rng.random() < 0.3)
                net += quantity * price
                lines.append(self.row(number, quantity, " ".join(words), price))
            if page < self.pages:
                lines += self.page_foot(page, net)
        tax = (net * int(t.percent) + 50) // 100
        sums = {"net": net, "tax": tax, "total": net + tax}
        if rng.random() < WRONG:
            sums[rng.choice(list(sums))] += rng.choice([-1, 1]) * rng.choice([1, 10, 100, 900, 1000]) * rng.randint(1, 9)
        names = {"net": t.net, "tax": f"{t.tax} {t.percent} %", "total": t.total}
        lines += [[(names[name], "")] + t.amount(abs(sums[name]), name, True) for name in t.sums.split()]
        lines += self.sayings(rng.randint(0, 4))
        return lines + self.page_foot(self.pages)

    def letter(self):
        rng, t = self.rng, self.t
        lines = self.head("letter")
        amount = [(t.claim, "")] + t.amount(rng.randint(1000, 2000000), "claim", True)
        invoice = [("our invoice", ""), (self.number, "number"), ("of", ""), (self.date(), "")]
        lines += [[(f"Dear {rng.choice(['customer', 'Sir or Madam', 'Mr ' + rng.choice(NAMES), 'Ms ' + rng.choice(NAMES)])},", "")]]
        lines += {"reminder": [[("we have not yet received the payment for", "")] + invoice, [("Please transfer", "")] + amount +
                               [("before", ""), (self.date(), "due"), (".", "")]],
                  "statement": [[("according to our books,", "")] + invoice + [("is open with", "")] + amount + [(".", "")],
                                [("We expect your payment until", ""), (self.date(), "due"), (".", "")]],
                  "request": [[("please pay", "")] + amount + [("for", "")] + invoice,
                              [("The payment is due on", ""), (self.date(), "due"), (".", "")]]}[t.letter]
        for page in range(1, self.pages + 1):
            lines += (self.page_head() if page > 1 else []) + self.sayings(rng.randint(2, 4) if self.pages == 1 else 10)
            lines += self.page_foot(page)
        return lines + [[("Yours sincerely", "")], [(f"{rng.choice(NAMES)}", "")]]

    def lines(self):
        """Returns the type of the document and its lines."""
        return ("letter", self.letter()) if self.rng.random() < LETTERS else ("invoice", self.invoice())


def tagged(lines):
    """Returns the words and their tags, with "|" between two lines."""
    words, tags = [], []
    for line in lines:
        if words:
            words.append("|")
            tags.append("O")
        for text, label in line:
            for place, (begin, end) in enumerate(words_of(text)):
                words.append(text[begin:end])
                tags.append("O" if not label else ("I-" if place else "B-") + label)
    return words, tags


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the folder to write")
    parser.add_argument("--train", type=int, default=500, help="documents to train on (default: 500)")
    parser.add_argument("--dev", type=int, default=600, help="documents to choose the threshold on (default: 600)")
    parser.add_argument("--test", type=int, default=2000, help="documents to measure on (default: 2000)")
    parser.add_argument("--unseen", type=int, default=500, help="documents with other words in front of values (default: 500)")
    parser.add_argument("--types", action="store_true", help="write the type of each document into the .conll files")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: 1)")
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    for name, count in TEMPLATES.items():
        rng = random.Random(f"{a.seed} {name}")
        choices = CHOICES | UNSEEN if name == "unseen" else CHOICES
        templates = [Template(rng, choices) for _ in range(count)]
        with open(f"{a.out}/{name}.conll", "w", encoding="utf-8") as file, \
                open(f"{a.out}/{name}.txt", "w", encoding="utf-8") as plain:
            for _ in range(getattr(a, name)):
                kind, lines = Document(rng, rng.choice(templates)).lines()
                words, tags = tagged(lines)
                if a.types:
                    file.write(f"# type = {kind}\n")
                file.writelines(f"{word}\t{tag}\n" for word, tag in zip(words, tags))
                file.write("\n")
                plain.write(" ".join(words) + "\n")


if __name__ == "__main__":
    main()

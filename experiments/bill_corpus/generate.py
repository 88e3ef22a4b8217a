#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the corpora of experiments/bills.toml, experiments/mail.toml and their applications: train.conll, dev.conll and
test.conll, and mail_train.conll and so on, beside this file or in the folder that is named.

    python3 experiments/bill_corpus/generate.py [FOLDER]

Invented bills of shops, one word and its tag in each row; the word "|" stands for the end of a line. A bill has a number,
a company, a date, one to three items with quantity, description, price and amount, and a total. Other dates and amounts
stand beside them, so only the words around a value decide which one it is. One total in ten is wrong: it is not the sum
of the amounts.

The mail has documents of four types, and a line "# type = bill" with the type in front of each. A reminder has a number, a
company, a date, the sum of a bill that is still open, a fee and their sum, the claim. An order has a number, a company, a
date, a day of delivery, and items with quantity and description. A leaflet has none of them, but dates, prices and names of
shops. The same words stand in front of values of different fields: what a bill calls "total due" is its total, and in a
reminder it is the claim. One reminder in ten has a wrong claim.

It writes the same bytes on every machine: it has its own generator of integers and does not use Python's random numbers.
"""
import pathlib
import sys

SEED = 55
SIZES = {"train": 300, "dev": 300, "test": 200}
MAIL_SEED = 56
MAIL_SIZES = {"mail_train": 400, "mail_dev": 400, "mail_test": 300}
WRONG = 10    # one total in WRONG

NAMES = "Calbury Harbour Northgate Oakfield Linden Marlow Porter Quay Redhill Stanton Tilbury Westbrook".split()
TRADES = ["Tools", "Stationery", "Garden Supplies", "Lighting", "Paper Mill", "Hardware", "Kitchen Store"]
FORMS = ["Ltd", "Inc", "and Sons", "Cooperative", "Trading"]
THINGS = ["steel lamp", "paper clips", "garden hose", "desk", "wall clock", "blue ink", "door handle", "lamp oil", "ladder",
          "kitchen scale", "oak shelf", "radio", "water filter", "copper wire", "screw set", "paint brush"]
MONTHS = "January February March April May June July August September October November December".split()
GREETINGS = ["thank you for your order", "goods remain ours until paid", "please keep this bill", "we hope to see you again"]


class Numbers:
    """SplitMix64 (Steele et al. 2014)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % limit

    def one_of(self, choices):
        return choices[self.below(len(choices))]


def money(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def date(numbers):
    day, month, year = 1 + numbers.below(28), 1 + numbers.below(12), 2019 + numbers.below(7)
    return numbers.one_of([f"{day:02d}/{month:02d}/{year}", f"{day} {MONTHS[month - 1]} {year}", f"{year}-{month:02d}-{day:02d}",
                           f"{day:02d}.{month:02d}.{year % 100:02d}"])


def bill(numbers):
    """Returns the lines of a bill; a line has parts (text, label), and the label "" is outside of fields."""
    company = f"{numbers.one_of(NAMES)} {numbers.one_of(TRADES)} {numbers.one_of(FORMS)}"
    number = f"{numbers.one_of('ABKR')}{numbers.one_of('CDX')}-{1000 + numbers.below(9000)}"
    items, total = [], 0
    for _ in range(1 + numbers.below(3)):
        quantity, price = 1 + numbers.below(9), 25 * (1 + numbers.below(200))
        total += quantity * price
        count = (str(quantity), "item.quantity")
        what = (numbers.one_of(THINGS), "item.description")
        each, amount = (money(price), "item.price"), (money(quantity * price), "item.amount")
        items.append([count, what, ("at", ""), each, ("=", ""), amount])
    if numbers.below(WRONG) == 0:
        total += 100 * (1 + numbers.below(9))
    customer = f"{numbers.one_of(NAMES)} {numbers.one_of(TRADES)}"
    bill_date = [(numbers.one_of(["date :", "bill date", "issued on"]), ""), (date(numbers), "date")]
    order_date = [(numbers.one_of(["ordered on", "delivery", "due by"]), ""), (date(numbers), "")]
    lines = [[(company, "company")],
             [(numbers.one_of(["bill no .", "invoice", "number :"]), ""), (number, "number")], bill_date]
    if numbers.below(2) == 0:
        lines.append(order_date)
    if numbers.below(2) == 0:
        lines.append([(numbers.one_of(["to", "customer :", "sold to"]), ""), (customer, "")])
    if numbers.below(3) == 0:
        lines[0], lines[1] = lines[1], lines[0]
    foot = []
    if numbers.below(2) == 0:
        foot.append([("goods", ""), (str(len(items)), "")])
    foot.append([(numbers.one_of(["total", "to pay", "total due :", "amount due"]), ""), (money(total), "total")])
    if numbers.below(2) == 0:
        cash = (total // 1000 + 1) * 1000
        foot.append([("cash", ""), (money(cash), ""), ("change", ""), (money(cash - total), "")])
    foot.append([(numbers.one_of(GREETINGS), "")])
    return lines + items + foot


def head(numbers, title, company, number, first_date):
    """Returns the first lines of a reminder or an order, the company or the number first."""
    lines = [[(company, "company")], [(numbers.one_of(title), ""), (number, "number")], first_date]
    return [lines[1], lines[0], lines[2]] if numbers.below(3) == 0 else lines


def names_of(numbers):
    company = f"{numbers.one_of(NAMES)} {numbers.one_of(TRADES)} {numbers.one_of(FORMS)}"
    return company, f"{numbers.one_of('ABKR')}{numbers.one_of('CDX')}-{1000 + numbers.below(9000)}"


def reminder(numbers):
    company, number = names_of(numbers)
    open_sum, fee = 25 * (1 + numbers.below(4000)), 100 * (1 + numbers.below(9))
    claim = open_sum + fee
    if numbers.below(WRONG) == 0:
        claim += 100 * (1 + numbers.below(9))
    lines = head(numbers, ["reminder for bill", "invoice", "bill no ."], company, number,
                 [(numbers.one_of(["date :", "issued on"]), ""), (date(numbers), "date")])
    lines.append([(numbers.one_of(["bill date", "delivery", "due by"]), ""), (date(numbers), "")])
    lines.append([(numbers.one_of(["total of the bill", "still open", "amount of", "total"]), ""), (money(open_sum), "open")])
    lines.append([(numbers.one_of(["fee", "costs of this letter", "interest"]), ""), (money(fee), "fee")])
    lines.append([(numbers.one_of(["to pay", "total due :", "amount due", "total now"]), ""), (money(claim), "claim")])
    return lines + [[(numbers.one_of(["please pay at once", "please ignore this letter if you have paid", *GREETINGS]), "")]]


def order(numbers):
    company, number = names_of(numbers)
    lines = head(numbers, ["order", "order no .", "number :"], company, number,
                 [(numbers.one_of(["date :", "ordered on"]), ""), (date(numbers), "date")])
    lines.append([(numbers.one_of(["delivery", "please deliver on", "due by"]), ""), (date(numbers), "delivery")])
    for _ in range(1 + numbers.below(3)):
        count, price = str(1 + numbers.below(9)), money(25 * (1 + numbers.below(200)))
        lines.append([(count, "item.quantity"), (numbers.one_of(THINGS), "item.description"), ("at", ""), (price, "")])
    return lines + [[(numbers.one_of(["please confirm this order", "bill to our office", *GREETINGS]), "")]]


def leaflet(numbers):
    company, _ = names_of(numbers)
    lines = [[(company, "")], [(numbers.one_of(["new in our shop", "offers of this month", "only until"]), ""), (date(numbers), "")]]
    for _ in range(2 + numbers.below(3)):
        lines.append([(numbers.one_of(THINGS), ""), (numbers.one_of(["at", "now", "only"]), ""),
                      (money(25 * (1 + numbers.below(200))), "")])
    return lines + [[(numbers.one_of(["come and see", *GREETINGS]), "")]]


MAIL = {"bill": bill, "reminder": reminder, "order": order, "leaflet": leaflet}
MAIL_SHARES = ["bill"] * 4 + ["reminder"] * 3 + ["order"] * 2 + ["leaflet"]


def rows_of(lines):
    rows = []
    for line in lines:
        if rows:
            rows.append("|\tO\n")
        for text, label in line:
            for place, word in enumerate(text.split()):
                rows.append(f"{word}\t{'O' if not label else ('I-' if place else 'B-') + label}\n")
    return "".join(rows) + "\n"


def typed_rows(numbers):
    kind = numbers.one_of(MAIL_SHARES)
    return f"# type = {kind}\n" + rows_of(MAIL[kind](numbers))


def write(folder, seed, sizes, make):
    """Writes files with documents that `make` draws; no document stands twice."""
    numbers, seen = Numbers(seed), set()
    for name, size in sizes.items():
        documents = []
        while len(documents) < size:
            rows = make(numbers)
            if rows not in seen:
                seen.add(rows)
                documents.append(rows)
        (folder / f"{name}.conll").write_text("".join(documents), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    write(folder, SEED, SIZES, lambda numbers: rows_of(bill(numbers)))
    write(folder, MAIL_SEED, MAIL_SIZES, typed_rows)


if __name__ == "__main__":
    main()

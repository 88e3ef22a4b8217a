#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the corpus of experiments/notices.toml and of its application, experiments/apps/notices.toml: train, dev and test
(.en and .de), a glossary (terms.tsv) and a translation memory (memory.tsv), beside this file or in the folder that is named.

    python3 experiments/notice_corpus/generate.py [FOLDER]

Invented notices of a program in English, with German translations. The training sentences translate "button", "user" and
"folder" in one of two ways, as sentences of several translators do; the development and the test set use the way of the
glossary. Only these two sets have tags, placeholders and numbers. A part of their sentences has a noun that training never
shows, so a model cannot translate it.

It writes the same bytes on every machine: it has its own generator of integers and does not use Python's random numbers.
"""
import pathlib
import sys

SEED = 56
SIZES = {"train": 2000, "dev": 300, "test": 200}

# English, German, gender, genitive. The second German noun is that of the glossary.
NOUNS = [("file", "Datei", "f", "Datei"), ("folder", "Verzeichnis", "n", "Verzeichnisses"), ("user", "Benutzer", "m", "Benutzers"),
         ("button", "Knopf", "m", "Knopfes"), ("window", "Fenster", "n", "Fensters"), ("password", "Passwort", "n", "Passworts"),
         ("account", "Konto", "n", "Kontos"), ("invoice", "Rechnung", "f", "Rechnung"), ("order", "Bestellung", "f", "Bestellung"),
         ("message", "Nachricht", "f", "Nachricht"), ("printer", "Drucker", "m", "Druckers"), ("image", "Bild", "n", "Bildes"),
         ("table", "Tabelle", "f", "Tabelle"), ("key", "Schlüssel", "m", "Schlüssels"), ("page", "Seite", "f", "Seite"),
         ("address", "Adresse", "f", "Adresse"), ("list", "Liste", "f", "Liste"), ("report", "Bericht", "m", "Berichts"),
         ("project", "Projekt", "n", "Projekts"), ("device", "Gerät", "n", "Geräts"), ("letter", "Brief", "m", "Briefs")]
OTHERS = {"folder": ("Ordner", "m", "Ordners"), "user": ("Nutzer", "m", "Nutzers"), "button": ("Schaltfläche", "f", "Schaltfläche")}
UNSEEN = [("camera", "Kamera", "f", "Kamera"), ("scanner", "Scanner", "m", "Scanners"), ("receipt", "Quittung", "f", "Quittung"),
          ("calendar", "Kalender", "m", "Kalenders"), ("drawing", "Zeichnung", "f", "Zeichnung")]
ADJECTIVES = [("new", "neu"), ("empty", "leer"), ("ready", "bereit"), ("too large", "zu groß"), ("locked", "gesperrt"),
              ("damaged", "beschädigt"), ("complete", "vollständig"), ("out of date", "veraltet")]
VERBS = [("Open", "Öffnen"), ("Delete", "Löschen"), ("Save", "Speichern"), ("Replace", "Ersetzen"), ("Check", "Prüfen"),
         ("Print", "Drucken"), ("Select", "Wählen"), ("Copy", "Kopieren")]
ARTICLES = {"nominative": {"m": "der", "f": "die", "n": "das"}, "accusative": {"m": "den", "f": "die", "n": "das"},
            "genitive": {"m": "des", "f": "der", "n": "des"}}


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


def noun(numbers, is_train):
    """Returns a noun: English, German, gender, genitive."""
    english, german, gender, genitive = numbers.one_of(NOUNS) if is_train or numbers.below(8) else numbers.one_of(UNSEEN)
    if english in OTHERS and (not is_train or numbers.below(3) == 0):
        return (english, *OTHERS[english])
    return english, german, gender, genitive


def with_article(of, case, tagged):
    english, german, gender, genitive = of
    word = genitive if case == "genitive" else german
    start, end = ("<b>", "</b>") if tagged else ("", "")
    return f"the {start}{english}{end}", f"{ARTICLES[case][gender]} {start}{word}{end}"


def notice(numbers, is_train):
    """Returns a notice in English and in German."""
    tagged = not is_train and numbers.below(4) == 0
    first, second = noun(numbers, is_train), noun(numbers, is_train)
    adjective, verb, form = numbers.one_of(ADJECTIVES), numbers.one_of(VERBS), numbers.below(5)
    subject, thing = with_article(first, "nominative", tagged), with_article(first, "accusative", tagged)
    owner, other = with_article(second, "genitive", False), with_article(second, "accusative", False)
    if form == 0:
        pair = (f"{subject[0]} is {adjective[0]}", f"{subject[1]} ist {adjective[1]}")
    elif form == 1:
        pair = (f"{verb[0]} {thing[0]}", f"{verb[1]} Sie {thing[1]}")
    elif form == 2:
        pair = (f"{verb[0]} {thing[0]} of {owner[0]}", f"{verb[1]} Sie {thing[1]} {owner[1]}")
    elif form == 3:
        pair = (f"{subject[0]} of {owner[0]} is {adjective[0]}", f"{subject[1]} {owner[1]} ist {adjective[1]}")
    else:
        pair = (f"{verb[0]} {thing[0]} and {other[0]}", f"{verb[1]} Sie {thing[1]} und {other[1]}")
    pair = [text[0].upper() + text[1:] for text in pair]
    has_value = not is_train and form in (1, 2, 4) and numbers.below(2) == 0    # behind a noun at the end
    value = numbers.one_of(["{name}", "%s", str(10 + numbers.below(900)), "www.example.org"]) if has_value else ""
    return tuple(f"{text} {value} ." if value else f"{text} ." for text in pair)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    numbers, seen = Numbers(SEED), set()
    stored = []
    for name, size in SIZES.items():
        pairs = []
        while len(pairs) < size:
            english, german = notice(numbers, name == "train")
            if name != "train" and english in seen:
                continue
            seen.add(english)
            pairs.append((english, german))
        for side, language in enumerate(("en", "de")):
            (folder / f"{name}.{language}").write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
        if name != "train":
            stored += pairs[:10]
    terms = [(english, german, *([genitive] if genitive != german else [])) for english, (german, _, genitive) in OTHERS.items()]
    (folder / "terms.tsv").write_text("".join("\t".join(term) + "\n" for term in sorted(terms)), encoding="utf-8")
    (folder / "memory.tsv").write_text("".join(f"{english}\t{german}\n" for english, german in stored), encoding="utf-8")


if __name__ == "__main__":
    main()

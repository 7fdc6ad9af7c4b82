#!/usr/bin/env python3
"""Finds comments of C, C++ and CUDA sources that a formatter has damaged: lists, tables and formulas that were joined into prose or broken.

  comments.py FOLDER...     prints FILE:LINE: what is wrong: the line; ends with 1 where there is any

The style that it keeps is that of lib/README.md, section Comments: one entry a line, each beginning with a mark that formatters know
(`@param NAME  text`, `- text`, `1. text`), what continues an entry indented deeper than its mark, a formula whole on its line.
"""

import dataclasses
import os
import re
import sys

ENDINGS = (".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh")
# An entry or a table must stay clear of the column at which formatters break lines.
LONGEST_ENTRY = 110
# What is indented by so many blanks is laid out by hand: code, a table, a formula.
LAID_OUT = 3

ENTRY = re.compile(r"(@\w+|[-*] |\d{1,2}\. )")
ENTRY_GAP = re.compile(r"@\w+ +\S+( {2,})")
GAP = re.compile(r"\S( {2,})\S")
SENTENCE_END = re.compile(r"[.;:] \S")
JOINED_ENTRY = re.compile(r"\S.*\s@(param|return|tparam)\b")
JOINED_BULLET = re.compile(r"[.;:] - \S|[.;:] [1-9]\. [A-Za-z]")
OPERATOR_LAST = re.compile(r"(^|\s)([*+/<>|&-]|[<>=!]=|=)$")
OPERATOR_FIRST = re.compile(r"([*+/<>|&]|[<>=!]=|=) ")


@dataclasses.dataclass(frozen=True)
class Line:
    number: int
    column: int  # of the comment's mark
    indent: int  # blanks between the mark and the text
    text: str

    @property
    def end(self):
        return self.column + 2 + self.indent + len(self.text)

    @property
    def is_entry(self):
        return ENTRY.match(self.text) is not None

    @property
    def is_laid_out(self):
        return self.indent >= LAID_OUT


def comments(source):
    """The comments of a source as blocks of lines: neighbouring // comments of one column are a block, and so is a /* */."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    blocks = []
    for match in token.finditer(source):
        text = match.group()
        if not text.startswith(("//", "/*")):
            continue
        number = source.count("\n", 0, match.start()) + 1
        column = match.start() - (source.rfind("\n", 0, match.start()) + 1)
        if text.startswith("/*"):
            lines = text[2:-2].split("\n")
            bare = [lines[0]] + [re.sub(r"^\s*\*? ?", " " if line.strip() not in ("", "*") else "", line, count=1) for line in lines[1:]]
            blocks.append([made(number + index, column, line) for index, line in enumerate(bare)])
            continue
        line = made(number, column, text[2:])
        alone = source[match.start() - column:match.start()].strip() == ""
        follows = blocks and alone and blocks[-1][-1].number == number - 1 and blocks[-1][-1].column == column
        if follows:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def made(number, column, text):
    return Line(number, column, len(text) - len(text.lstrip()), text.strip())


def faults_of_line(line):
    if JOINED_ENTRY.search(line.text):
        yield "an entry in the middle of a line"
    if JOINED_BULLET.search(line.text):
        yield "a bullet in the middle of a line"
    gap_of_entry = ENTRY_GAP.match(line.text)
    gaps = [gap.span(1) for gap in GAP.finditer(line.text) if not (gap_of_entry and gap.start(1) == gap_of_entry.start(1))]
    between = [line.text[first[1]:second[0]] for first, second in zip(gaps, gaps[1:])]
    if gaps and not line.is_laid_out or any(SENTENCE_END.search(text) for text in between):
        yield "columns of a table in prose"
    if OPERATOR_LAST.search(line.text):
        yield "a formula broken behind an operator"
    if OPERATOR_FIRST.match(line.text) and not line.is_laid_out:
        yield "a formula broken before an operator"
    if (line.is_entry or line.is_laid_out) and line.end > LONGEST_ENTRY:
        yield f"an entry or a table wider than {LONGEST_ENTRY} columns"


def faults_of_neighbours(before, after, entry_indent, width):
    """What is wrong between a line and the next one. `entry_indent` is that of the list entry that `before` belongs to, or None; `width` is
    how far the paragraph reaches."""
    if entry_indent is not None and after.indent == entry_indent and not after.is_entry:
        yield "a list entry whose continuation has lost its indentation"
    elif entry_indent is None and after.indent > before.indent and re.search(r"\w$", before.text) and not GAP.search(before.text):
        yield "indentation in the middle of a sentence"
    elif after.indent == before.indent and not after.is_entry and not before.is_laid_out:
        fits = before.end + 1 + len(after.text.split()[0])
        if fits <= width - 30 and re.search(r"[\w,]$", before.text):
            yield "a line broken in the middle of a phrase"


def faults_of_block(block):
    entry_indents = []  # of the entries that the line is inside of, the outermost first
    for index, line in enumerate(block):
        if not line.text:
            entry_indents = []
            continue
        yield from ((line, fault) for fault in faults_of_line(line))
        while entry_indents and line.indent < entry_indents[-1]:
            entry_indents.pop()
        if line.is_entry and (not entry_indents or line.indent > entry_indents[-1]):
            entry_indents.append(line.indent)
        after = block[index + 1] if index + 1 < len(block) else None
        if after is not None and after.text:
            inside = entry_indents[-1] if entry_indents else None
            yield from ((after, fault) for fault in faults_of_neighbours(line, after, inside, width_of_paragraph(block, index)))


def width_of_paragraph(block, index):
    """How far the lines around reach that have the same indentation and no blank line between them."""
    first = last = index
    while first > 0 and block[first - 1].text and block[first - 1].indent == block[index].indent:
        first -= 1
    while last + 1 < len(block) and block[last + 1].text and block[last + 1].indent == block[index].indent:
        last += 1
    return max(line.end for line in block[first:last + 1])


def faults(source):
    """Pairs of a line's number and what is wrong there."""
    found = [(line.number, fault) for block in comments(source) for line, fault in faults_of_block(block)]
    return sorted(set(found))


def main(folders):
    count = 0
    for folder in folders:
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if not name.endswith(ENDINGS):
                    continue
                file = os.path.join(path, name)
                with open(file, encoding="utf-8") as stream:
                    source = stream.read()
                for number, fault in faults(source):
                    count += 1
                    print(f"{file}:{number}: {fault}: {source.splitlines()[number - 1].strip()}")
    if count:
        print(f"{count} faults in comments")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

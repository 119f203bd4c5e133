#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Prints file:line for every word of words.txt that the sources and documents use.

    check_words.py [--root TREE] [--words FILE]

The exit code is 1 if there is any. The list itself, the glossary and the changelog, which name such
words, and recorded measurements are not read.
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = (".c", ".h", ".cpp", ".hpp", ".in", ".inc", ".py", ".pyi", ".R", ".sh", ".cmake", ".txt",
        ".md", ".toml", ".map")
SKIPPED = re.compile(r"^(CHANGELOG\.md|docs/from_0\.1_to_0\.2\.md|cmake/(words\.txt|check_words\.py)|docs/glossary\.md|docs/performance/"
                     r"(figures/|.*\.json)|tests/layers/check_words_test\.py|tests/fuzz/.*\.dict|"
                     r"tests/bits/manifest\.txt)")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_words(path):
    """The rules: (kind, folder, compiled expression, what to use instead)."""
    rules = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            match = re.fullmatch(r"(name|phrase)(?:@(\S+))?\s+(.+?)\s+->\s+(.+)", line)
            if not match:
                sys.exit(f"{path}:{number}: not a rule: {line}")
            kind, folder, expression, instead = match.groups()
            flags = re.IGNORECASE if kind == "phrase" else 0
            rules.append((kind, folder or "", re.compile(expression, flags), instead))
    return rules


def files_of(root):
    """The tracked files and new ones; without git, all of the tree."""
    found = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], capture_output=True, check=False)
    if found.returncode == 0 and found.stdout:
        return sorted(set(found.stdout.decode().split("\0")) - {""})
    paths = []
    for folder, _, names in os.walk(root):
        paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(paths)


def code_of(line, path):
    """The part of a line in which identifiers count: not its comment, nor its string literals."""
    if path.endswith(".md"):
        return " ".join(re.findall(r"`([^`]*)`", line))
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    marker = "//" if path.endswith((".c", ".h", ".cpp", ".hpp", ".inc", ".in")) else "#"
    if marker == "#" and line.lstrip().startswith("#include"):
        return line
    return line.split(marker)[0]


def check(path, text, rules):
    problems = []
    here = [(kind, e, i) for kind, folder, e, i in rules if path.startswith(folder)]
    names = [(e, i) for kind, e, i in here if kind == "name"]
    phrases = [(e, i) for kind, e, i in here if kind == "phrase"]
    for part in path.split("/"):
        stem = part.split(".")[0]
        for expression, instead in names:
            if expression.fullmatch(stem):
                problems.append(f"{path}:1: the name '{part}'; use: {instead}")
    for number, line in enumerate(text.splitlines(), 1):
        for word in sorted(set(IDENTIFIER.findall(code_of(line, path)))):
            for expression, instead in names:
                if expression.fullmatch(word):
                    problems.append(f"{path}:{number}: '{word}'; use: {instead}")
        for expression, instead in phrases:
            match = expression.search(line)
            if match:
                problems.append(f"{path}:{number}: '{match.group(0).strip()}'; use: {instead}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(HERE))
    parser.add_argument("--words", default=os.path.join(HERE, "words.txt"))
    options = parser.parse_args()
    rules = read_words(options.words)
    problems, count = [], 0
    for path in files_of(options.root):
        full = os.path.join(options.root, path)
        if SKIPPED.match(path) or not path.endswith(TEXT) or not os.path.isfile(full):
            continue
        with open(full, encoding="utf-8") as file:
            problems += check(path, file.read(), rules)
        count += 1
    for problem in problems:
        print(problem)
    print(f"check_words: {len(problems)} problem(s) in {count} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

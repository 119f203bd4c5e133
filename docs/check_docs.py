#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the documents true.

  docs/check_docs.py snippets [--write]       code in documents is cut from what is compiled
  docs/check_docs.py links                    links, anchors, paths and names point to something
  docs/check_docs.py commands --stepwell X    commands run, and print what the document shows
  docs/check_docs.py options --stepwell X     verbs and options exist in the command's own help

Prints file:line: rule: what is wrong, for all of them, and fails if there is any.

snippets  A source has '//---- begin LABEL' and '//---- end LABEL' ('#---- ...' in CMake). A document
          has '<!-- snippet: FILE LABEL -->' and then a block with the lines between, dedented. FILE
          is in examples/, or a path from the root if it has a slash. Every cpp and cmake block is
          one; every label is shown somewhere. --write renews the blocks.
commands  Every sh block of README.md and docs/guide/ runs (bash -eu), document by document, in an
          empty directory, with 'stepwell' in PATH. '<!-- exit 20 -->' above it: that is its exit
          code, and it is one command. '<!-- by .ci/run -->': not run here; the presets, packages,
          targets and paths it names are those of .ci/run. '<!-- installed -->': not run here, but by
          tests/install/readme.py. A text block is what the block before it
          prints, on standard output and then on standard error; '...' stands for anything within a
          line, or for any number of lines where it is alone on one.
links     docs/README.md must link every document under docs/. Paths of the tree in `code` exist, and
          in docs/howto/ and docs/design/ so do functions, `name()`; 'foo' stands for a new one. A
          `symbol` in `path`, or `symbol` (`path`), is a word of that file.
options   Every verb of the command is mentioned somewhere, too, and in docs/command.md.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(\s*)```(\S*)\s*$")
NOTE = re.compile(r"^\s*<!--\s*(.*?)\s*-->\s*$")
MARK = re.compile(r"^\s*(?://|#)---- (begin|end) (\S+)\s*$")
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")  # its text may begin a line earlier
PATH = re.compile(r"(?:include|src|tests|tools|cmake|bench|examples|docs)/[\w./-]*\w")
NAME = re.compile(r"(?:\w+::)*(\w+)\(\)")
PLACE = re.compile(r"`([^`]+)`(?:,? (?:in|of) |,? \()\[?`([^`]+)`")  # a symbol and its file
SYMBOL = re.compile(r"(?:\w+::)*(\w+)(?:\(\))?")
OTHER_PROGRAMS = {"--enable-maxcpus"}  # options named without the program they belong to
COMMAND_PAGE = "docs/command.md"  # names every verb
TIMEOUT = 300  # seconds for a block of commands

problems = 0


def problem(where, rule, text):
    global problems
    problems += 1
    print(f"{where}: {rule}: {text}")


@dataclass
class Block:
    language: str
    line: int  # of the opening fence, from 1
    indent: str
    lines: list = field(default_factory=list)  # without the indent
    notes: list = field(default_factory=list)  # comments right above

    def note(self, key):
        """What follows 'key' in a note, or None."""
        for note in self.notes:
            if note == key or note.startswith(key + " "):
                return note[len(key):].strip()
        return None


class Document:
    """A Markdown file in blocks of code and lines of prose."""

    def __init__(self, root, path):
        self.path, self.name = path, str(path.relative_to(root))
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.blocks, self.prose = [], []  # prose: (line number, text)
        block, notes = None, []
        for number, line in enumerate(self.lines, 1):
            fence = FENCE.match(line)
            if block is not None:
                if fence and not fence[2]:
                    self.blocks.append(block)
                    block = None
                else:
                    block.lines.append(line.removeprefix(block.indent))
            elif fence:
                block, notes = Block(fence[2], number, fence[1], notes=notes), []
            elif NOTE.match(line):
                notes.append(NOTE.match(line)[1])
            elif line.strip():
                notes = []
                self.prose.append((number, line))
        if block is not None:
            problem(f"{self.name}:{block.line}", "fence", "the block is never closed")

    def at(self, block):
        return f"{self.name}:{block.line}"


def documents(root):
    skipped = {".git", "build"}
    return [Document(root, p) for p in sorted(root.rglob("*.md"))
            if not skipped & set(p.relative_to(root).parts)]


# ---- snippets

def cut(path, name):
    """The labelled parts of a source."""
    parts, label, start = {}, None, 0
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        mark = MARK.match(line)
        if not mark:
            continue
        if mark[1] == "begin" and label is None and mark[2] not in parts:
            label, start = mark[2], number
        elif mark[1] == "end" and mark[2] == label:
            parts[label] = textwrap.dedent("\n".join(lines[start:number - 1])).splitlines()
            label = None
        else:
            problem(f"{name}:{number}", "snippet", f"'{mark[1]} {mark[2]}' does not belong here")
    if label is not None:
        problem(f"{name}:{start}", "snippet", f"'begin {label}' has no end")
    return parts


def check_snippets(root, write):
    sources, shown = {}, set()
    for path in [*root.glob("examples/*.cpp"), *root.glob("examples/*.c"),
                 *root.glob("tests/install/*/CMakeLists.txt")]:
        sources[str(path.relative_to(root))] = cut(path, str(path.relative_to(root)))
    for document in documents(root):
        text, moved = list(document.lines), 0
        for block in document.blocks:
            note = block.note("snippet:")
            if note is None:
                if block.language in ("c", "cpp", "cmake"):
                    problem(document.at(block), "snippet",
                            "code that is not cut from a source; use '<!-- snippet: FILE LABEL -->'")
                continue
            file, _, label = note.partition(" ")
            file = file if "/" in file else f"examples/{file}"
            if label not in sources.get(file, {}):
                problem(document.at(block), "snippet", f"{file} has no part '{label}'")
                continue
            shown.add((file, label))
            wanted = sources[file][label]
            if block.lines == wanted:
                continue
            if write:
                first = block.line + moved
                text[first:first + len(block.lines)] = [(block.indent + w).rstrip() for w in wanted]
                moved += len(wanted) - len(block.lines)
            else:
                problem(document.at(block), "snippet", f"differs from '{label}' in {file}; "
                        "run docs/check_docs.py snippets --write")
        if text != document.lines:
            document.path.write_text("\n".join(text) + "\n", encoding="utf-8")
            print(f"{document.name}: renewed")
    for file, parts in sources.items():
        for label in parts:
            if (file, label) not in shown:
                problem(file, "snippet", f"no document shows '{label}'")


# ---- links

def anchors(document):
    """As GitHub makes them of headings."""
    found = []
    for _, line in document.prose:
        heading = re.match(r"^#{1,6}\s+(.*?)\s*$", line)
        if not heading:
            continue
        text = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
        repeats = sum(1 for f in found if re.fullmatch(re.escape(text) + r"(-\d+)?", f))
        found.append(f"{text}-{repeats}" if repeats else text)
    return found


def check_names(root, document, number, line, words):
    """Paths and functions that a line has in code."""
    extends = document.name.startswith(("docs/howto/", "docs/design/"))
    for span in SPAN.findall(line):
        name = NAME.fullmatch(span)
        if "foo" in span:
            continue
        if PATH.fullmatch(span) and not (root / span).exists():
            problem(f"{document.name}:{number}", "name", f"there is no {span}")
        elif extends and name and name[1] not in words:
            problem(f"{document.name}:{number}", "name", f"no source has {span}")
    for symbol, path in PLACE.findall(line):
        name, file = SYMBOL.fullmatch(symbol), root / path
        if not name or "foo" in symbol or not PATH.fullmatch(path) or not file.is_file():
            continue
        if not re.search(rf"\b{name[1]}\b", file.read_text(encoding="utf-8")):
            problem(f"{document.name}:{number}", "name", f"{path} has no {symbol}")


def check_links(root):
    all_documents = {d.path.resolve(): d for d in documents(root)}
    linked, words = {}, set()
    for folder in ("include", "src", "tests", "tools", "bench"):
        for source in (root / folder).rglob("*.[ch]pp"):
            words.update(re.findall(r"\w+", source.read_text(encoding="utf-8")))
    for path, document in all_documents.items():
        for number, line in document.prose:
            check_names(root, document, number, line, words)
            for target in LINK.findall(SPAN.sub("", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                to = (path.parent / file).resolve() if file else path
                linked.setdefault(document.name, set()).add(to)
                if not to.exists():
                    problem(f"{document.name}:{number}", "link", f"{target}: there is no {file}")
                elif anchor and (to not in all_documents
                                 or anchor not in anchors(all_documents[to])):
                    problem(f"{document.name}:{number}", "link", f"{target}: no such heading")
    for path, document in all_documents.items():
        if document.name.startswith("docs/") and document.name != "docs/README.md":
            if path not in linked.get("docs/README.md", ()):
                problem(document.name, "link", "docs/README.md does not link this document")


# ---- commands

def commands_of(block):
    """The commands of a block, continued lines joined."""
    joined = "\n".join(block.lines).replace("\\\n", " ").splitlines()
    return [line for line in joined if line.strip() and not line.lstrip().startswith("#")]


def by_ci(root, command, tool):
    """What is wrong with a command that .ci/run is said to execute; None: nothing."""
    ci = (root / ".ci/run").read_text(encoding="utf-8")
    presets = set(re.findall(r"^stage \S+ build (\w+)(?: .*)?$", ci, re.M))
    words = shlex.split(command)
    match words:
        case ["sudo", *rest]:
            return by_ci(root, shlex.join(rest), tool)
        case ["apt" | "apt-get", "install", *wanted]:
            packages = set(re.search(r"^packages=\((.*?)^\)", ci, re.M | re.S)[1].split())
            missing = [w for w in wanted if not w.startswith("-") and w not in packages]
            if missing:
                return f"not among its packages: {' '.join(missing)}"
            needed = root / "cmake/dependencies.cmake"
            for package in re.findall(r"^ *stepwell_need\(.* (\S+)\)$", needed.read_text(), re.M):
                if package not in wanted:
                    return f"without {package}, which {needed.name} needs"
            return None
        case ["cmake", "--preset", preset, *options]:
            line = re.search(rf"^stage \S+ build {preset}\b.*$", ci, re.M)
            configured = line is not None and set(options) <= set(line[0].split())
            return None if configured else f"does not configure '{shlex.join([preset, *options])}'"
        case ["cmake", "--build", "--preset", preset]:
            return None if preset in presets else f"does not build '{preset}'"
        case ["cmake", "--build", "--preset", preset, "--target", target]:
            lists = "".join(p.read_text() for p in root.glob("*/**/CMakeLists.txt"))
            return (by_ci(root, f"cmake --build --preset {preset}", tool) if
                    f"add_executable({target}\n" in lists or f"add_executable({target} " in lists
                    else f"there is no target '{target}' for it to build")
        case ["ctest", "--preset", preset]:
            return None if f"ctest --preset {preset} " in ci else f"does not test '{preset}'"
        case ["cmake", "--install", tree, "--prefix", _]:
            installs = "--install" in (root / "tests/install/install.cmake").read_text()
            return None if installs and tree in {f"build/{p}" for p in presets} else (
                f"does not install {tree}")
        case ["export", path] if path.startswith("PATH="):
            wanted = {f"PATH=$PWD/build/{p}/{tool.parent.name}:$PATH" for p in presets}
            return None if path in wanted else "the command is not built there"
        case [".ci/run"]:
            return None
    return "it has nothing like this"


def matches(shown, printed):
    """Whether the lines that a document shows are those that were printed."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(matches(shown[1:], printed[k:]) for k in range(len(printed) + 1))
    pattern = ".*".join(re.escape(part) for part in shown[0].rstrip().split("..."))
    return bool(printed) and re.fullmatch(pattern, printed[0].rstrip()) is not None and matches(
        shown[1:], printed[1:])


def run_block(document, block, folder, environment):
    """Runs a block; its output, or None where it did not end as it should."""
    code = int(block.note("exit") or 0)
    if code != 0 and len(commands_of(block)) != 1:
        problem(document.at(block), "command", "a block that ends with a code is one command")
        return None
    try:
        done = subprocess.run(["bash", "-eu", "-c", "\n".join(block.lines)], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT, text=True, check=False)
    except subprocess.TimeoutExpired:
        problem(document.at(block), "command", f"takes more than {TIMEOUT} s")
        return None
    printed = done.stdout + done.stderr
    if done.returncode == code:
        return printed.splitlines()
    problem(document.at(block), "command",
            f"exit code {done.returncode} instead of {code}; it printed\n{printed}")
    return None


def check_commands(root, tool):
    environment = dict(os.environ)
    environment["PATH"] = f"{tool.parent}:{environment['PATH']}"
    for document in documents(root):
        if document.name != "README.md" and not document.name.startswith("docs/guide/"):
            continue
        with tempfile.TemporaryDirectory(prefix="stepwell-docs-") as folder:
            environment["XDG_CACHE_HOME"] = f"{folder}/.cache"
            printed = None  # by the block before
            elsewhere = False
            for block in document.blocks:
                if block.language == "sh":
                    elsewhere = block.note("installed") is not None
                if elsewhere:
                    continue
                if block.language == "sh" and block.note("by") == ".ci/run":
                    printed = None
                    for command in commands_of(block):
                        wrong = by_ci(root, command, tool)
                        if wrong:
                            problem(document.at(block), "command", f".ci/run: {wrong}: {command}")
                elif block.language == "sh":
                    printed = run_block(document, block, folder, environment)
                    if printed is None:
                        break  # what follows may need its files
                elif block.language == "text":
                    if printed is None or not matches(block.lines, printed):
                        problem(document.at(block), "output", "the block before it prints\n" +
                                "\n".join(printed or ["nothing that was run"]))


# ---- options

class Help:
    """The command's verbs and their options, as its own --help has them."""

    def __init__(self, tool):
        self.options, self.verbs = {}, {}  # by words: ("bench", "solve")
        self.read(tool, ())

    def read(self, tool, words):
        text = subprocess.run([tool, *words, "--help"], capture_output=True, text=True,
                              check=True, timeout=TIMEOUT).stdout
        section = re.search(r"^Subcommands:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
        self.options[words] = set()
        for names in re.findall(r"^  (-\S+)", text, re.M):
            self.options[words] |= set(names.split(","))
        self.verbs[words] = re.findall(r"^  (\w\S*)", section[1], re.M) if section else []
        for verb in self.verbs[words]:
            self.read(tool, (*words, verb))

    def anywhere(self, option):
        return any(option in options for options in self.options.values())


def invocations(document):
    """(line number, words) of what looks like the command or its options in code."""
    for block in document.blocks:
        if block.language in ("sh", "text", ""):
            for offset, line in enumerate("\n".join(block.lines).replace("\\\n", "  ").splitlines()):
                yield block.line + 1 + offset, line.strip(), True
    for number, line in document.prose:
        if line.startswith("    "):
            yield number, line.strip(), True
        for span in SPAN.findall(line):
            yield number, span.strip(), False


def check_options(root, tool):
    known = Help(tool)
    mentioned, listed = set(), set()
    for document in documents(root):
        for number, text, is_line in invocations(document):
            where = f"{document.name}:{number}"
            words = re.split(r"\s[|;&>#]|\s&&", text)[0].split()
            while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] in ("$", "export")):
                words = words[1:]
            if not words:
                continue
            named = words[0] == "stepwell" or words[0].endswith("/bin/stepwell")
            if named:
                words = words[1:]
            elif is_line or not any(w.startswith("--") for w in words):
                continue
            elif words[0] in known.verbs[("bench",)]:
                words = ["bench", *words]
            elif not words[0].startswith("--") and words[0] not in known.verbs[()]:
                continue  # another program's
            verbs = [()]
            while words and known.verbs.get(verbs[0]):
                wanted = words[0].split("|")
                if words[0].startswith("-"):
                    break
                for verb in wanted:
                    if verb not in known.verbs[verbs[0]] and verb != "VERB":
                        problem(where, "verb", f"stepwell {' '.join((*verbs[0], verb))}: there is "
                                f"none; there are {', '.join(known.verbs[verbs[0]])}")
                verbs = [(*verbs[0], v) for v in wanted if (*verbs[0], v) in known.options]
                mentioned.update(verbs)
                listed.update(verbs if document.name == COMMAND_PAGE else [])
                words = words[1:]
                if not verbs:
                    break
            for word in words:
                option = re.match(r"\[?(--?[a-zA-Z][\w-]*)", word)
                if not option or option[1] in OTHER_PROGRAMS:
                    continue
                if not named and verbs == [()]:
                    if not known.anywhere(option[1]):
                        problem(where, "option", f"no verb of stepwell has {option[1]}")
                elif any(option[1] not in known.options[v] for v in verbs):
                    problem(where, "option", f"stepwell {' '.join(verbs[0])} has no {option[1]}")
    for words in known.options:
        if words and words not in mentioned:
            problem("docs", "verb", f"no document mentions 'stepwell {' '.join(words)}'")
        elif words and words not in listed and (root / COMMAND_PAGE).exists():
            problem(COMMAND_PAGE, "verb", f"it does not mention 'stepwell {' '.join(words)}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["snippets", "links", "commands", "options"])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--stepwell", type=Path, help="the command, for commands and options")
    parser.add_argument("--write", action="store_true", help="renew the snippets")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.check in ("commands", "options") and not arguments.stepwell:
        parser.error("--stepwell is missing")
    tool = arguments.stepwell.resolve() if arguments.stepwell else None
    if arguments.check == "snippets":
        check_snippets(root, arguments.write)
    elif arguments.check == "links":
        check_links(root)
    elif arguments.check == "commands":
        check_commands(root, tool)
    else:
        check_options(root, tool)
    if problems:
        print(f"check_docs {arguments.check}: {problems} problem(s)")
        return 1
    print(f"check_docs {arguments.check}: no problem")
    return 0


if __name__ == "__main__":
    sys.exit(main())

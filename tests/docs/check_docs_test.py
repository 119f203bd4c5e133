# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that check_docs.py detects each kind of error: writes small trees and runs it on them.

  check_docs_test.py <check_docs.py> <stepwell>
"""
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT, TOOL = sys.argv[1:]
CI = """packages=(
  g++ cmake
)
build() { cmake --preset "$1" && cmake --build --preset "$1"; }
stage build-release build release
ctest --preset release --parallel 2
"""
NEEDS = 'macro(stepwell_need found)\n  stepwell_need(CMAKE_FOUND "a builder" cmake)\n'
SOURCE = """int main() {
  //---- begin answer
  int answer = 42;
    if (answer) return 0;
  //---- end answer
}
"""
SNIPPET = "<!-- snippet: ex.cpp answer -->\n```cpp\nint answer = 42;\n  if (answer) return 0;\n```\n"
failures = 0


def run(check, files, *options):
    with tempfile.TemporaryDirectory(prefix="stepwell-docs-") as folder:
        root = Path(folder)
        for name, text in {".ci/run": CI, "cmake/dependencies.cmake": NEEDS, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run(
            [sys.executable, SCRIPT, check, "--root", root, "--stepwell", TOOL, *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout, {n: (root / n).read_text() for n in files}


def expect(name, check, files, expected):
    """'expected' is the text that the output must contain; empty if the tree is good."""
    global failures
    code, output, _ = run(check, files)
    good = expected in output and code == (1 if expected else 0)
    if not good:
        failures += 1
        print(f"{name}: expected {expected or 'no problem'!r}; exit code {code}:\n{output}")


def sh(text, note=""):
    return {"README.md": f"{note}\n```sh\n{text}\n```\n"}


def shows(text, output):
    return {"README.md": f"```sh\n{text}\n```\nprints\n```text\n{output}\n```\n"}


def snippet_cases():
    def tree(document, source=SOURCE):
        return {"examples/ex.cpp": source, "README.md": document}
    expect("snippet", "snippets", tree(SNIPPET), "")
    expect("indented", "snippets", tree("- list\n\n" + "".join(
        f"  {line}\n" for line in SNIPPET.splitlines())), "")
    expect("changed code", "snippets", tree(SNIPPET.replace("42", "43")), "README.md:2: snippet: diff")
    expect("changed source", "snippets", tree(SNIPPET, SOURCE.replace("42", "43")), "differs")
    expect("no label", "snippets", tree(SNIPPET.replace(" answer -->", " question -->")),
           "examples/ex.cpp has no part 'question'")
    expect("no note", "snippets", tree(SNIPPET + "```cpp\nint x;\n```\n"),
           "README.md:6: snippet: code that is not cut")
    expect("no end", "snippets", tree(SNIPPET, SOURCE.replace("//---- end answer", "")),
           "examples/ex.cpp:2: snippet: 'begin answer' has no end")
    expect("not shown", "snippets", tree("nothing"), "no document shows 'answer'")
    expect("open fence", "snippets", tree(SNIPPET + "```sh\nls\n"), "README.md:6: fence: ")
    _, _, after = run("snippets", tree(SNIPPET.replace("42;", "43;\n\n\n") + "end\n"), "--write")
    if after["README.md"] != SNIPPET + "end\n":
        global failures
        failures += 1
        print(f"--write made\n{after['README.md']}")


def link_cases():
    def tree(text, other="# One `two`: three\n# Same\n# Same\n"):
        return {"README.md": text, "docs/README.md": "[a](a.md)", "docs/a.md": other}
    expect("link", "links", tree("[a](docs/a.md) [b](docs/a.md#one-two-three) [c](docs)\n"
                                 "[d](docs/a.md#same-1) [e](https://example.org/none)"), "")
    expect("no file", "links", tree("x\n[a](docs/b.md)"), "README.md:2: link: docs/b.md: there is no")
    expect("no heading", "links", tree("[a](docs/a.md#two)"), "docs/a.md#two: no such heading")
    expect("third of two", "links", tree("[a](docs/a.md#same-2)"), "no such heading")
    expect("two lines", "links", tree("[a\nb](docs/b.md)"), "README.md:2: link")
    expect("path", "links", {**tree("`src/a.cpp`, `src/foo.cpp`, `src/`"), "src/a.cpp": ""}, "")
    expect("no path", "links", tree("`src/a.cpp`"), "README.md:1: name: there is no src/a.cpp")
    howto = {"docs/README.md": "[a](howto/a.md)", "docs/howto/a.md": "`b::go()` `add_foo()`"}
    expect("function", "links", {**howto, "src/a.cpp": "void go();"}, "")
    expect("no function", "links", {**howto, "src/a.cpp": "gone"}, "name: no source has b::go()")
    place = {"docs/README.md": "`go()` in `src/a.cpp`, `b::Go` (`src/a.cpp`)"}
    expect("symbol", "links", {**place, "src/a.cpp": "void go(Go);"}, "")
    expect("no symbol", "links", {**place, "src/a.cpp": "void gone(Go);"}, "src/a.cpp has no go()")
    expect("not on the map", "links", {**tree("x"), "docs/guide/b.md": "b"},
           "docs/guide/b.md: link: docs/README.md does not link")


def command_cases():
    expect("command", "commands", sh("stepwell --version > v.txt\ntest -s v.txt"), "")
    expect("failing", "commands", sh("false\ntrue"), "README.md:2: command: exit code 1 instead of 0")
    expect("unset variable", "commands", sh("echo $UNSET_VARIABLE"), "exit code 1 instead of 0")
    expect("code", "commands", sh("stepwell frobnicate", "<!-- exit 2 -->"), "")
    expect("other code", "commands", sh("stepwell frobnicate", "<!-- exit 3 -->"), "code 2 instead of 3")
    expect("no failure", "commands", sh("true", "<!-- exit 2 -->"), "code 0 instead of 2")
    expect("two commands", "commands", sh("false\ntrue", "<!-- exit 1 -->"), "is one command")
    expect("output", "commands", shows("printf 'a\\nb 12 c\\nd\\n'", "a\nb ... c\n..."), "")
    expect("other output", "commands", shows("echo 1", "2"), "README.md:5: output: ")
    expect("more output", "commands", shows("echo 1; echo 2", "1"), "output: ")
    expect("less output", "commands", shows("echo 1", "1\n2"), "output: ")
    expect("files stay", "commands", {"docs/guide/a.md": sh("touch f")["README.md"] +
                                      sh("test -e f")["README.md"]}, "")
    expect("documents apart", "commands", {"docs/guide/a.md": sh("touch f")["README.md"],
                                           "docs/guide/b.md": sh("test -e f")["README.md"]},
           "docs/guide/b.md:2: command")
    by = "<!-- by .ci/run -->"
    expect("by ci", "commands", sh("sudo apt install g++ \\\n  cmake\ncmake --preset release\n"
                                   "cmake --build --preset release\nctest --preset release\n"
                                   "export PATH=$PWD/build/release/bin:$PATH", by), "")
    for command, wrong in (("apt install g++ emacs", "not among its packages: emacs"),
                           ("apt install g++", "without cmake, which dependencies.cmake needs"),
                           ("cmake --preset fast", "does not configure 'fast'"),
                           ("cmake --build --preset fast", "does not build 'fast'"),
                           ("cmake --build --preset release --target x", "no target 'x'"),
                           ("ctest --preset asan", "does not test 'asan'"),
                           ("export PATH=$PWD/bin:$PATH", "not built there"),
                           ("make", "nothing like this")):
        expect(command, "commands", sh(command, by), wrong)


def option_cases():
    verbs = subprocess.run([TOOL, "--help"], capture_output=True, text=True, check=True).stdout
    verbs = [line.split()[0] for line in
             verbs.split("Subcommands:\n")[1].split("\n\n")[0].splitlines() if line[2:3] != " "]
    bench = "solve factor syrk trsm kernel"
    rest = "\n".join(f"`stepwell {v}`" for v in verbs) + "\n" + "\n".join(
        f"`stepwell bench {v}`" for v in bench.split())

    def tree(text):
        return {"README.md": f"{rest}\n{text}\n"}
    for text, wrong in (("`stepwell doctor --jsonn`", "stepwell doctor has no --jsonn"),
                        ("`stepwell frobnicate`", "stepwell frobnicate: there is none"),
                        ("`stepwell bench kernel|cake`", "stepwell bench cake: there is none"),
                        ("`bench solve --cake 3`", "stepwell bench solve has no --cake"),
                        ("`factor --n 8 --cake`", "stepwell bench factor has no --cake"),
                        ("a `--cake` b", "no verb of stepwell has --cake"),
                        ("    STEPWELL_ISA=avx2 x/bin/stepwell doctor --cake", "has no --cake"),
                        ("```sh\nstepwell bench solve \\\n  --cake 3\n```", "has no --cake")):
        expect(text, "options", tree(text), wrong)
    code, output, _ = run("options", tree("`stepwell doctor --json`, `--json`, `cmake --fresh`"))
    global failures
    if "README.md:" in output:
        failures += 1
        print(f"options: refused what is right:\n{output}")
    expect("page", "options", {**tree(""), "docs/command.md": rest.replace("`stepwell doctor`", "")},
           "docs/command.md: verb: it does not mention 'stepwell doctor'")
    expect("silent", "options", {"README.md": "nothing"}, "no document mentions 'stepwell doctor'")


snippet_cases()
link_cases()
command_cases()
option_cases()
print(f"check_docs_test: {failures} failure(s)")
sys.exit(1 if failures else 0)

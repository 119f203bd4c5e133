#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""A compiler launcher that copies an object from a build that has already compiled the same source.

  reuse.py BUILD/compile_commands.json COMPILER ARGUMENTS...

The same means: the same source with the same options in the same order, where a source or an
include directory inside either build is compared by its contents. Warnings and precompiled headers, which change no
object, are not compared. Everything else is compiled.
"""
import hashlib
import json
import os
import shlex
import shutil
import sys
from pathlib import Path


def contents(folder):
    """A digest of the names and bytes of all files in a directory."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def source(file, builds):
    """What identifies a source: its path, or the text of a file that CMake has written."""
    path = Path(file)
    return path.read_text(encoding="utf-8") if any(b in path.parents for b in builds) else file


def split(words, builds):
    """Splits a compiler's arguments into options that affect the object, and its files."""
    options, files = [], dict.fromkeys(["-c", "-o", "-MF", "-MT"])
    compiler = next(i for i, word in enumerate(words) if word.startswith("-")) - 1
    words = iter(words[compiler:])  # skip a launcher in front of the compiler
    for word in words:
        if word in files:
            files[word] = next(words)
        elif word.startswith("-I") and any(b in Path(word[2:]).parents for b in builds):
            options.append("-I" + contents(Path(word[2:])))
        elif word == "-include":
            header = next(words)
            if not header.endswith("cmake_pch.hxx"):
                options += [word, header]
        elif word != "-MD" and not word.startswith("-W"):
            options.append(word)
    return options, files


def main():
    database, command = Path(sys.argv[1]), sys.argv[2:]
    builds = [database.parent, Path.cwd()]
    options, files = split(command, builds)
    if database.exists() and files["-c"] and files["-o"]:
        wanted = source(files["-c"], builds)
        for entry in json.loads(database.read_text(encoding="utf-8")):
            if source(entry["file"], builds) != wanted:
                continue
            same, other = split(shlex.split(entry["command"]), builds)
            made = Path(entry["directory"], other["-o"])
            if same == options and made.exists():
                shutil.copyfile(made, files["-o"])
                if files["-MF"]:
                    Path(files["-MF"]).write_text(f"{files['-o']}:\n", encoding="utf-8")
                return
    os.execvp(command[0], command)


main()

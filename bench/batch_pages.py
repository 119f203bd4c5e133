# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Merges results and writes the tables of docs/performance/batch.md for bench/plot_batch.py."""
import json

TYPES = ("fp32", "fp64")
BEGIN = "<!-- made by bench/plot_batch.py from here -->"
END = "<!-- to here -->"


def merge(batch, path):
    """Merges the results of a file of `bench paper` or `bench batch`."""
    news = json.loads(path.read_text(encoding="utf-8"))
    if news.get("bench") == "paper":
        batch["machine"], batch["batch"] = news["machine"], news["batch"]
        return
    keys = ("n", "bytes", "gigabytes_per_second", "copy", "in_place", "error_in_u",
            "baseline_error_in_u", "tuning")
    cases = []
    for case in news["cases"]:
        kept = {key: case[key] for key in keys}
        for side in ("candidate", "baseline"):
            kept[side] = {"name": case[side]["name"], "seconds": case[side]["seconds"],
                          "rate": case[side]["rate"]["median"]}
        kept["ratio"] = {key: case["ratio"][key] for key in ("median", "best", "p10", "windows")}
        if news["against"] == "untuned":  # all orders: the ratios are enough
            kept = {"n": kept["n"], "ratio": kept["ratio"]}
        cases.append(kept)
    name = f"{news['type']} {news['operation']} {news['against']}"
    batch.setdefault("contests", {})[name] = {
        "geometric_mean": news["geometric_mean"], "least": news["least"], "count": news["count"],
        "cases": cases}


def dump(value, indent=""):
    """JSON with indentation, except for values that fit on one line."""
    line = json.dumps(value)
    if len(indent) + len(line) <= 118 or not isinstance(value, (dict, list)) or (
            isinstance(value, list) and not any(isinstance(v, (dict, list)) for v in value)):
        return line + ("\n" if not indent else "")
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(k)}: {dump(v, inner)}" for k, v in value.items()]
        text = "{\n" + ",\n".join(items) + "\n" + indent + "}"
    else:
        text = "[\n" + ",\n".join(inner + dump(v, inner) for v in value) + "\n" + indent + "]"
    return text + ("\n" if not indent else "")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def percent(value):
    return f"{100 * value:.0f} %"


def mean_of(*cases):
    """Returns a function that averages the value at a path of keys over all cases."""
    def mean(*keys):
        values = []
        for case in cases:
            for key in keys:
                case = case[key]
            values.append(case)
        return sum(values) / len(values)
    return mean


def contest_tables(contests):
    """One table for each type: both baselines, bytes and limits."""
    text = []
    for kind in TYPES:
        loop = contests.get(f"{kind} factor-solve lapack-loop")
        compact = contests.get(f"{kind} factor-solve mkl-compact")
        if not loop or not compact:
            continue
        rows = []
        for a, b in zip(loop["cases"], compact["cases"]):
            mean = mean_of(a, b)
            rows.append([
                str(a["n"]), f"{1e3 * mean('candidate', 'seconds'):.2f}",
                f"{mean('candidate', 'rate'):.1f}",
                f"**{a['ratio']['median']:.1f}** ({a['ratio']['p10']:.1f})",
                f"**{b['ratio']['median']:.2f}** ({b['ratio']['p10']:.2f})",
                f"{mean('gigabytes_per_second'):.0f}", percent(mean("copy", "share")),
                percent(mean("in_place", "share")), f"{a['error_in_u']:.1f}",
                f"{a['baseline_error_in_u']:.1f}"])
        text += [f"**{kind}**, {loop['count']:,} systems, one right-hand side:\n",
                 table(["n", "ms", "Gflop/s", "speed-up over LAPACK loop",
                        "speed-up over oneMKL compact", "GB/s", "relative to a copy",
                        "relative to an in-place pass", "error, u", "LAPACK's"], rows),
                 f"\nGeometric means: {loop['geometric_mean']:.2f} times the speed of the loop (at least "
                 f"{loop['least']:.2f}), {compact['geometric_mean']:.2f} times the speed of oneMKL's "
                 f"compact routines (at least {compact['least']:.2f}).\n"]
    return "\n".join(text)


def tuned_table(contests):
    rows = []
    for kind in TYPES:
        contest = contests.get(f"{kind} factor-solve untuned")
        if contest:
            ratios = sorted(c["ratio"]["median"] for c in contest["cases"])
            rows.append([kind, str(len(ratios)), f"{contest['geometric_mean']:.3f}",
                         f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}"])
    return table(["", "orders", "speed-up of tuned over untuned, geometric mean", "smallest", "largest"], rows)


def write_page(batch, path):
    page = path.read_text(encoding="utf-8")
    parts = {"contests": contest_tables(batch.get("contests", {})),
             "tuned": tuned_table(batch.get("contests", {}))}
    for name, text in parts.items():
        begin = BEGIN.replace("made", f"{name}, made")
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(END)
        if rest and text:
            page = f"{before}{begin}\n{text}\n{END}{after}"
    path.write_text(page, encoding="utf-8")

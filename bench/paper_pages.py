# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Markdown for bench/plot_paper.py: docs/performance/paper.md, general.md and
lstsq_tables.md, and the tables of docs/convergence.md."""
import re
import textwrap

# Families of maps, from coarse to fine: adjacent maps should be adjacent in error and time.
FAMILIES = {
    "fp16": ["fp16", "fp16,fp16,fp16,fp16,fp16,fp32", "fp16,fp16,fp16,fp32", "fp16,fp32", "fp32"],
    "bf16": ["bf16", "bf16,bf16,bf16,bf16,bf16,fp32", "bf16,bf16,bf16,fp32", "bf16,fp32", "fp32"],
    "bf16x2": ["bf16x2", "bf16x2,bf16x2,bf16x2,bf16x3", "bf16x2,bf16x3", "bf16x3"],
    "fp64": ["fp32", "fp32,fp32,fp32,fp64", "fp64"],
}

BEGIN = "<!-- made by bench/plot_paper.py from here -->"
END = "<!-- to here -->"


def short(name):
    """fp16,fp16,fp16,fp32 -> fp16 x 3, fp32"""
    parts = []
    for rung in name.split(","):
        if parts and parts[-1][0] == rung:
            parts[-1][1] += 1
        else:
            parts.append([rung, 1])
    return ", ".join(r if k == 1 else f"{r} × {k}" for r, k in parts)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def number(value):
    return "" if value is None else f"{value:.3g}"


def scientific(value):
    return "" if value is None else f"{value:.1e}"


def times(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def made_no_factor(case):
    """Conjugate gradients or GMRES without a preconditioner solved it."""
    return case["path"]["map"] == "none"


def ratio_of(case, name, bold=False):
    ratio = case.get("ratio", {}).get(name)
    if ratio is None:
        return ""
    text = f"**{times(ratio['median'])}**" if bold else times(ratio["median"])
    return text if ratio["windows"] < 3 else f"{text} ({times(ratio['p10'])} – {times(ratio['best'])})"


def machine_text(paper):
    m = paper["machine"]
    lines = [("CPU", f"{m['cpu_model']}, {m['cores']} cores, {m['clock_mhz']:.0f} MHz as reported by the CPU, "
                     f"instruction set {m['isa']}"),
             ("threads", f"{m['threads']} for our code and for the baselines"),
             ("memory", f"{m['memory_bytes'] / 2**30:.1f} GiB, huge pages: {m['huge_pages']}"),
             ("system", f"{m['system']}, {m['compiler']}"),
             ("libraries", ", ".join(f"{k} {v}" for k, v in m["libraries"].items())),
             ("baselines", "; ".join(f"{b['library']} {b['version']}, {b['core_name']} kernels, "
                                     f"{b['threads']} threads" for b in m["baselines"])),
             ("commit, date", f"`{m['commit']}`, {m['date']}")]
    return table(("", ""), lines)


def wrapped(text, indent=""):
    return textwrap.fill(text, 118, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def bullets(*texts):
    return "\n".join(wrapped("- " + text, "  ") for text in texts)


def note_of(section):
    """The note of the measurement. Older recordings word it differently."""
    return re.sub(r"measured \w+ the first matrix of a size only",
                  "measured only with the first matrix of a size", section["note"])


def skipped_text(section):
    skipped = section.get("skipped", [])
    if not skipped:
        return ""
    return "\n" + wrapped("Not measured: " + "; ".join(f"{s['what']} ({s['why']})" for s in skipped)
                          + ".") + "\n"


def rate_text(section):
    cases = section["cases"]
    sizes = sorted({c["n"] for c in cases})
    names = [b for b in ("dpotrf", "spotrf", "mkl-dpotrf", "raw") if b in cases[0]["ratio"]]
    rows = []
    for rung in dict.fromkeys(c["map"] for c in cases):
        mine = [c for c in cases if c["map"] == rung]
        top = max(mine, key=lambda c: c["n"])
        rows.append([f"`{rung}`"] + [number(next((c["rate"]["median"] for c in mine if c["n"] == n),
                                                 None)) for n in sizes]
                    + [top["n"]] + [ratio_of(top, b, b == "dpotrf") for b in names])
    for name in ("dpotrf", "spotrf", "mkl-dpotrf"):
        mine = {c["n"]: c["rate"]["median"] for c in section["baselines"] if c["baseline"] == name}
        if mine:
            rows.append([name] + [number(mine.get(n)) for n in sizes] + [""] * (1 + len(names)))
    heads = ["Gflop/s", *(f"n = {n}" for n in sizes), "ratio at n =",
             *(f"to {'the bare engine' if b == 'raw' else b}" for b in names)]
    published = "; ".join(f"{p['ratio']} ({p['what']}; {p['where']})" for p in section["paper"])
    return f"""## Factorization by size (Abdelfattah et al., Fig. 2)

![rate of the factorization](figures/rate.svg)

{table(heads, rows)}

{bullets(f"The matrix: {section['matrix']}. The rate counts {section['counts']}.",
         "Ratios are medians of the pairs; in brackets, p10 and the best, where there are three pairs or "
         "more.", f"The paper's ratios: {published}.")}
{skipped_text(section)}"""


def spectra_text(section):
    cases = section["cases"]
    last = max(c["n"] for c in cases)
    known = max((c["n"] for c in cases if "condition_inf" in c), default=last)
    rows, unfactored = [], []
    for p in section["paper"]:
        mine = {c["n"]: c for c in cases if c["kind"] == p["kind"] and c["condition"] == p["condition"]}
        case = mine.get(last)
        if case is None:
            continue
        if made_no_factor(case):
            unfactored.append(times(case["ratio"]["dposv"]["median"]))
        path = case["path"]
        way = "no factor" if made_no_factor(case) else f"`{path['map']}`"
        mixed_size, mixed = last, case
        if "dsposv" not in case["ratio"]:
            older = [c for c in mine.values() if "dsposv" in c.get("ratio", {})]
            mixed = max(older, key=lambda c: c["n"], default=case)
            mixed_size = mixed["n"]
        note = f" (n = {mixed_size})" if mixed_size != last else ""
        rows.append([f"{p['kind']} {p['condition']:g}" if p["condition"] else p["kind"],
                     p["figure"] or "–", scientific(mine.get(known, {}).get("condition_inf")),
                     f"{case['seconds']:.3g} s", ratio_of(case, "dposv", True),
                     p.get("dposv", "–"), ratio_of(case, "mkl-dposv"),
                     ratio_of(mixed, "dsposv") + note, p.get("dsposv", "–"), way,
                     path["iterations"], p["iterations"] or "–",
                     f"{case['backward_error'] * 2**53:.2g} u"])
    chosen = [f"{p['kind']} {p['condition']:g}" for p in section["paper"]
              if p["condition_from"] != "the text"]
    return f"""## Solves by spectrum (Abdelfattah et al., Figs. 4 to 7)

![rates of solves with a factor](figures/spectra.svg)

![rates of solves without a factor](figures/spectra_no_factor.svg)

{wrapped("Rates count the flop of a Cholesky solve, n³/3 + 2n², whatever was computed. A hollow marker means that conjugate "
         "gradients without a preconditioner solved the system and no factor was made"
         + (f": the ratios {', '.join(unfactored)} are those of such solves. " if unfactored else ". ")
         + "Rates above the peak of the matrix engine are not rates of the engine.")}

n = {last}; ratios are the baseline's time divided by ours.

{table(['matrix', 'figure', f'condition, infinity norm, n = {known}', 'ours', 'dposv', "paper's", 'oneMKL dposv', 'dsposv', "paper's",
        'path', 'iterations', "paper's", 'backward error'], rows)}

{bullets(f"The paper's ratios are from its text (Sect. 7): {section['paper_machine']}. Its figures show more "
         "sizes, but give their values only in the plots. The condition numbers of "
         f"{', '.join(chosen)} are also only in the plots; the values here are our choice.",
         "The paper forces a factor; our ladder first tests whether conjugate gradients without a factor are "
         "faster, and for clustered spectra they are.",
         "Backward errors are computed in extended precision; u = 2^-53.", f"Note: {note_of(section)}.")}
{skipped_text(section)}"""


def layers_text(section):
    parts = []
    factor = [c for c in section["cases"] if c["bench"] == "factor"]
    sizes = sorted({c["n"] for c in factor})
    rows = []
    digits = {p["map"]: p["digits"] for p in section["paper_digits"]}
    for name in dict.fromkeys(m for family in FAMILIES.values() for m in family):
        mine = {c["n"]: c for c in factor if c["map"] == name}
        cells = []
        for n in sizes:
            c = mine.get(n)
            error = c.get("error") if c else None
            errors = f"{error['residual']:.1e} / {error['factor']:.1e} / " if error else ""
            cells.append(errors + f"{c['seconds']:.3g} s" if c else "")
        rows.append([f"`{short(name)}`", *cells, digits.get(name, "–")])
    parts.append(table(["map", *(f"n = {n}" for n in sizes), "digits of L, paper"], rows))
    parts.append("Each cell contains the relative error of L L', that of L, and the time. Digits: Sect. IV-B e, Fig. 8.\n")
    published = {(p["bench"], p["map"]): p for p in section["paper"] if "bench" in p}
    rows = []
    for op in ("syrk", "trsm", "factor"):
        cases = [c for c in section["cases"] if c["bench"] == op]
        for c in cases:
            if c["n"] != max(k["n"] for k in cases):
                continue
            against = next(iter(c["ratio"]))
            p = published.get((op, c["map"]))
            rows.append([op, f"`{short(c['map'])}`", c["n"], f"{c['seconds']:.3g} s", against,
                         ratio_of(c, against, True), p["ratio"] if p else "–",
                         p["where"] if p else ""])
    parts.append(table(["operation", "map", "n", "ours", "against", "ratio", "paper's", "where"], rows))
    parts.append("Machine and baseline of the paper: " + next(p["machine"] for p in section["paper"] if "machine" in p) + ".\n")
    parts.append(order_text(factor))
    return """## Precision maps (Carrica et al., Figs. 4 to 8 and 10)

![accuracy and speed of maps](figures/layers.svg)

![error of the factor by size](figures/layers_error.svg)

![speed-up of the operations](figures/level3.svg)

A map names a rung for each level of the recursion, from the first split down; the last is for the rest and the diagonal.

""" + "\n\n".join(parts) + "\n" + skipped_text(section)


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def order_text(factor):
    """The ratio of the finer map's time to the coarser one's, round by round."""
    most = max(len(c["ratio"]["dpotrf"]["pairs"]) for c in factor)
    usable = [c["n"] for c in factor if len(c["ratio"]["dpotrf"]["pairs"]) >= min(4, most)]
    n = max(usable)
    by_map = {c["map"]: c["ratio"]["dpotrf"]["pairs"] for c in factor if c["n"] == n}
    rows = []
    for family in FAMILIES.values():
        for coarse, fine in zip(family, family[1:]):
            if coarse in by_map and fine in by_map:
                times = [c / f for c, f in zip(by_map[coarse], by_map[fine])]
                rows.append([f"`{short(fine)}` / `{short(coarse)}`", f"{median(times):.2f}"])
    return (f"Ratio of the finer map's time to the coarser one's, n = {n}, median of the rounds:\n\n"
            + table(["finer / coarser map", "ratio"], rows))


def histories_text(section):
    rows = []
    names = {"ir": "classic refinement", "ir(gmres)": "GMRES", "cg": "CG"}
    for h in section["histories"]:
        rows.append([f"{h['kind']} {h['condition']:g}", f"`{h['map']}`" + (f", broke down: `{h['factor']}`" if h["factor"] != h["map"] else ""),
                     names[h["refiner"]],
                     h["iterations"] if h["outcome"] == "converged" else f"{h['outcome']}",
                     f"{h['shift']:g}", f"{h['backward_error'] * 2**53:.2g} u"])
    return f"""## Convergence histories (Abdelfattah et al., Fig. 3)

![convergence histories](figures/histories.svg)

{table(['matrix', 'factor', 'refiner', 'products with A', 'shift c', 'backward error'], rows)}

{wrapped(f"n = {section['n']}. The paper: {section['paper']} CG is our addition: the paper mentions it "
         "but does not measure it.")}
{skipped_text(section)}"""


def errors_of(h):
    """The error after each product with A, or after each outer step of gmres(gmres)."""
    if h["refiner"] == "ir":  # the history of ir has the errors before the corrections
        return h["history"][1:] + [h["backward_error"]]
    return h["history"]


def history_cell(histories, kind, map_, refiner):
    h = next((h for h in histories if (h["kind"], h["map"], h["refiner"]) == (kind, map_, refiner)),
             None)
    if h is None:
        return ""
    # A refiner continues to 2^-53; the table shows where the error falls below the tolerance.
    below = (k for k, error in enumerate(errors_of(h), 1) if error <= h["tolerance"])
    return next(below, f"– ({len(h['history'])})")


def general_text(section):
    refiners = list(dict.fromkeys(h["refiner"] for h in section["histories"]))
    maps = list(dict.fromkeys(h["map"] for h in section["histories"]))
    counts = [[p["kind"], p["figure"].split(",")[0], p["iterations"],
               *(history_cell(section["histories"], p["kind"], m, r) for m in maps for r in refiners)]
              for p in section["paper"]]
    cases = section["cases"]
    last = max(c["n"] for c in cases)
    rows = []
    for p in section["paper"]:
        case = next((c for c in cases if c["n"] == last and c["kind"] == p["kind"]), None)
        if case is None:
            continue
        mixed = max((c for c in cases if c["kind"] == p["kind"] and "dsgesv" in c["ratio"]),
                    key=lambda c: c["n"], default=case)
        note = f" (n = {mixed['n']})" if mixed["n"] != last else ""
        path = case["path"]
        before = "".join(f"`{r['map']}`, then " for r in path["left"])
        predicted = case["ratio"]["dgesv"]["median"] * case["seconds"] / case["predicted_seconds"]
        rows.append([p["kind"], p["figure"].split(", ")[1], f"{case['seconds']:.3g} s",
                     ratio_of(case, "dgesv", True), times(predicted), p.get("dgesv", "fails"),
                     ratio_of(case, "mkl-dgesv"), ratio_of(mixed, "dsgesv") + note,
                     f"{before}`{path['map']}`", path["iterations"], f"{case['growth']:.2g}",
                     f"{case['backward_error'] * 2**53:.2g} u"])
    names = list(dict.fromkeys(m for row in section["model"] for m in row["rungs"]))
    rates = []
    for row in section["model"]:
        n = row["n"]
        flops = {"factor": 2 * n**3 / 3, "solve": 2 * n**2}
        rate = lambda seconds, what: f"{flops[what] / seconds * 1e-9:.3g}"  # noqa: E731
        rates.append([n, rate(row["dgetrf"], "factor"), rate(row["dgetrs"], "solve"),
                      rate(row["gemv"], "solve"),
                      *(rate(row["rungs"][m][w], w) for w in ("factor", "solve") for m in names)])
    return f"""## General systems (Haidar et al., Figs. 3 and 4)

![convergence histories of general systems](figures/general_histories.svg)

Colours: `bf16` factors; grey: `bf16x3` factors, with the same refiners. All panels have the same logarithmic axes; estimates
below 1e-18 are not shown.

Products with A until the backward error, as the refiner estimates it, is below the tolerance, n = {section['history_order']},
condition 100. For `gmres(gmres)` the outer steps are counted, of up to five products each. – means no convergence, with the
number of steps in brackets.

{table(['matrix', 'figure', "paper, FP16", *(f"`{m}`, {r}" for m in maps for r in refiners)], counts)}

{bullets("The paper's counts are from its text (Sect. 5), at n = 10,240. Its FP32 methods, which correspond to "
         "`bf16x3` here, take 3 to 4. Its GM is flexible GMRES, `fgmres` here.",
         "The 'positive' matrices of the paper are symmetric positive definite, by MAGMA's generator; ours are not "
         "symmetric and have eigenvalues within 45 degrees of the positive axis, which is harder.")}

![rate of general solves](figures/general.svg)

n = {last}; ratios are the baseline's time divided by ours.

{table(['matrix', 'figure', 'ours', 'dgesv', 'predicted by the model', "paper's", 'oneMKL dgesv', 'dsgesv', 'path', 'iterations',
        'growth', 'backward error'], rows)}

The model is the paper's, equation 6 with this machine's rates in place of its assumptions: a solve with k iterations takes
2n³/3P_lu + 1.4 k (2n²/P_gemv + 2n²/P_trsv), summed over the rungs that were tried, and dgesv 2n³/3P_dgetrf + 2n²/P_dtrsv.
The rates, Gflop/s, measured in the same run:

{table(['n', 'dgetrf', 'dgetrs', 'gemv', *(f"lu, `{m}`" for m in names), *(f"trsv, `{m}`" for m in names)], rates)}

{bullets(f"The paper's machine: {section['paper_machine']}.", f"Note: {note_of(section)}.")}
{skipped_text(section)}"""


def verdict(row):
    if row["outcome"] == "converged":
        return "solved"
    short = row.get("structural_rank", row["n"]) < row["n"]
    rank = f"structurally singular, rank {row['structural_rank']}: " if short else ""
    return rank + row["reason"]


def matrices_page(section, paper):
    rows = []
    for r in section["rows"]:
        theirs = r.get("dgesv", {})
        left = "; ".join(f"`{k['map']}`: {k['because']}" for k in r.get("left", []))
        error = lambda e: "" if e is None else f"{e * 2**53:.2g} u"  # noqa: E731
        rows.append([r["matrix"], r["n"], "" if not r.get("condition") else f"{r['condition']:.1e}",
                     verdict(r), f"`{r['map']}`" if r.get("map") else "", r.get("refiner", ""),
                     r.get("iterations", ""), error(r.get("backward_error")),
                     f"info = {theirs['info']}" if theirs.get("info") else
                     error(theirs.get("backward_error")), left])
    solved = sum(r["outcome"] == "converged" for r in section["rows"])
    return f"""# General matrices of the SuiteSparse collection

<!-- Made by bench/plot_paper.py; do not edit. -->

The {len(rows)} square matrices of the collection that Stepwell is tested with and that are not positive definite, as dense
systems with one random right-hand side: `solve_general()` compared with LAPACK's dgesv. {solved} of them are solved. Backward
errors are computed in extended precision; u = 2^-53. The condition number is the solver's estimate, in the infinity norm;
beyond 1e16 a matrix is singular to working accuracy, and a small backward error says nothing about x.

{table(['matrix', 'n', 'condition', 'outcome', 'rung', 'refiner', 'iterations', 'backward error', "dgesv's",
        'rungs abandoned, and why'], rows)}

`STEPWELL_SUITESPARSE=DIR stepwell bench paper --part matrices` produces these results
([bench.md](../bench.md#the-papers-figures-paper)), commit `{section['commit']}`, {section['date']}, instruction set {paper['machine']['isa']}.
{skipped_text(section)}"""


def lstsq_page(section, paper):
    rungs = ["fp16", "bf16", "bf16x2", "bf16x3", "fp32"]
    units = lambda e: "" if e is None else f"{e * 2**53:.2g} u"  # noqa: E731
    published = lambda c: f"{c[0]} ({c[1]})"  # noqa: E731

    def count(row, refiner, rung):
        attempt = row["rungs"][refiner][rung]
        if "iterations" not in attempt:
            return "no factor"
        if attempt["outcome"] == "converged":
            return attempt["iterations"]
        # It failed by our criterion; the paper's criterion may be met.
        met = attempt["error"] < row["n"] * 2**-53
        return f"{attempt['iterations']}{'*' if met else ' –'}"

    matrices, shifts, counts, errors = [], [], [], []
    for r in section["rows"]:
        conditioned = r["preconditioned"]
        matrices.append([r["matrix"], r["m"], r["n"], f"{r['condition']['paper']:.3g}",
                         f"{r['condition']['ours']:.3g}", number(conditioned["paper"]["half"]),
                         number(conditioned["paper"]["single"]),
                         *(number(conditioned[k]) for k in rungs)])
        shifts.append([r["matrix"], r["shift"]["paper"], *(r["shift"][k] for k in rungs)])
        for name, refiner in (("GMRES", "gmres"), ("CG", "cg")):
            counts.append([r["matrix"], name,
                           *(published(r["paper"][t][refiner]) for t in
                             ("half, single, double", "half, double, quad")),
                           count(r, refiner, "fp16"), count(r, refiner, "bf16"),
                           count(r, refiner, "bf16x2"),
                           published(r["paper"]["single, double, double"][refiner]),
                           count(r, refiner, "fp32"), count(r, refiner, "bf16x3")])
        path = "QR" if r["map"] == "qr" else f"`{r['map']}`, {r['refiner']}, {r['iterations']}"
        left = "; ".join(f"`{k['map']}`: {k['because']}" for k in r["left"])
        errors.append([r["matrix"], r["outcome"], path, units(r.get("backward_error")),
                       units(r["dgels"].get("backward_error")),
                       f"{units(r.get('bound'))} ({r.get('measure', '')})", left])
    return f"""# Least squares matrices of the SuiteSparse collection

<!-- Made by bench/plot_paper.py; do not edit. -->

The nine full-rank matrices of Higham & Pranesh (2021), Sect. 6.2, with one normally distributed right-hand side: `lstsq()`
compared with the published results and LAPACK's dgels. u = 2^-53.

## The matrices (Tables 6.7 and 6.10)

The condition number of A, and that of the preconditioned matrix M A'A, in the 2-norm, with the smallest shift at which
Cholesky succeeds. The paper scales columns to length 1, sums and factors in fp16. Ours are scaled by powers of two, which
keeps matrices of zeros and ones exact, summed in fp32 or wider, and factored in FP64 at these sizes: the only remaining
error is the rounding of A's elements.

{table(['matrix', 'm', 'n', 'condition, paper', 'ours', "M A'A: paper, half", 'paper, single', *rungs], matrices)}

## Shift (Table 6.8)

The smallest integer c for which C + c u diag(C) has a factor, C the Gram matrix at the rung.

{table(['matrix', 'paper, fp16', *rungs], shifts)}

## Iterations (Table 6.9)

Products with A'A, without climbing; for the paper also the refinement steps, in brackets. An asterisk means that the backward
error (6.3) is below n u, where the paper stops, but our bound on it is not below sqrt(n) u, where we stop; `lstsq()` would
climb. A dash means that neither holds.

{table(['matrix', 'refiner', 'paper: half, single, double', 'half, double, quad', 'ours: fp16', 'bf16', 'bf16x2',
        'paper: single, double, double', 'ours: fp32', 'bf16x3'], counts)}

## Backward errors

`lstsq()` with default options, the backward error (6.3) of its x and of dgels' by a singular value decomposition (which
cannot resolve anything below u), and the bound in the certificate.

{table(['matrix', 'outcome', 'path', 'backward error', "dgels'", 'certified', 'rungs abandoned, and why'], errors)}

`STEPWELL_SUITESPARSE=DIR stepwell bench paper --part lstsq` produces these results
([bench.md](../bench.md#the-papers-figures-paper)), commit `{section['commit']}`, {section['date']}, instruction set {paper['machine']['isa']}.
{skipped_text(section)}"""


def tables_text(section):
    """Shifts and iterations, for docs/convergence.md."""
    def cell(value):
        return "–" if value is None else f"{value[0]} ({value[1]})"

    rows = section["rows"]
    rungs = ["fp16", "bf16", "bf16x2", "bf16x3", "fp32"]
    shifts = table(["matrix", "paper, fp16", *rungs],
                   [[r["matrix"], r["shift"]["paper"], *(r["shift"][k] for k in rungs)] for r in rows])
    triples = ["half, single, double", "half, double, quad", "half, double, double",
               "single, double, double"]
    heads = ["matrix", "refiner"]
    for triple in triples:
        heads += [f"{triple}: paper", "ours"]
    lines, others = [], []
    for r in rows:
        for row in r["iterations"]:
            cells = [cell(row[t][side]) for t in triples for side in ("paper", "ours")]
            lines.append([r["matrix"], row["refiner"], *cells])
            others.append([r["matrix"], row["refiner"],
                           *(cell(row["rungs"][k]) for k in ("bf16", "fp16", "bf16x2", "bf16x3"))])
    return f"""{BEGIN}

## Shift (Table 6.2)

The smallest integer c for which H + c u I has a factor.

{shifts}

## Iterations (Tables 6.3 and 6.6)

{table(heads, lines)}

## The other rungs

The same with (rung, double, double), and the shift that each rung needs.

{table(['matrix', 'refiner', 'bf16', 'fp16', 'bf16x2', 'bf16x3'], others)}

{END}"""


def write(paper, docs, note):
    texts = {"rate": rate_text, "spectra": spectra_text, "layers": layers_text,
             "histories": histories_text, "general": general_text}
    page = f"""# The papers' figures, measured here

<!-- Made by bench/plot_paper.py; do not edit. -->

The figures that the papers show for GPUs, measured on one CPU with a matrix engine. Everything on this page comes from one
command, `stepwell bench paper` ([bench.md](../bench.md#the-papers-figures-paper)); the raw data are in
[paper.json](paper.json). Candidate and baselines run alternately in one process. A ratio above 1 means that ours is faster.
The papers' ratios are given for orientation only: they were measured on other machines, with other baselines and a matrix
engine of another speed.

{wrapped(f"**{note}**") + chr(10) * 2 if note else ""}{machine_text(paper)}

"""
    page += "\n".join(make(paper[part]) for part, make in texts.items() if part in paper)
    if paper.get("tables", {}).get("rows"):
        page += "\nThe tables of Higham & Pranesh are in [convergence.md](../convergence.md).\n"
        convergence = docs / "convergence.md"
        text = convergence.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        convergence.write_text(head + tables_text(paper["tables"]) + rest.split(END)[1],
                               encoding="utf-8")
    if paper.get("matrices", {}).get("rows"):
        page += "\nGeneral matrices of the SuiteSparse collection are in [general.md](general.md).\n"
        (docs / "performance" / "general.md").write_text(matrices_page(paper["matrices"], paper),
                                                         encoding="utf-8")
    if paper.get("lstsq", {}).get("rows"):
        page += "\nLeast squares matrices are in [lstsq_tables.md](lstsq_tables.md).\n"
        (docs / "performance" / "lstsq_tables.md").write_text(lstsq_page(paper["lstsq"], paper),
                                                              encoding="utf-8")
    (docs / "performance" / "paper.md").write_text(page, encoding="utf-8")

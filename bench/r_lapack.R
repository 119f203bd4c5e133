# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   Rscript bench/r_lapack.R <n> <kind> <rounds> [<call>]
#
# Measures how long R's solve(A, b) takes, or chol(A), or chol2inv(chol(A)). It does not depend on
# Stepwell: bench/r_lapack.sh runs it with and without the drop-in. Kinds: randn, heavy (randn with a
# larger diagonal), covariance (of points in a square, exponential with a nugget: SPD), wishart (a
# sample covariance plus the identity: SPD).
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[1])
kind <- arguments[2]
call <- if (length(arguments) < 4) "solve" else arguments[4]
set.seed(1)
a <- switch(kind,
  randn = matrix(rnorm(n * n), n),
  heavy = matrix(rnorm(n * n), n) + diag(2 * sqrt(n), n),
  covariance = exp(-as.matrix(dist(matrix(runif(2 * n), n))) / 0.1) + diag(0.01, n),
  wishart = crossprod(matrix(rnorm(n * n), n)) / n + diag(n)
)
dimnames(a) <- NULL
b <- rnorm(n)
for (round in seq_len(as.integer(arguments[3]))) {
  invisible(gc())
  seconds <- system.time(x <- switch(call,
    solve = solve(a, b),
    chol = chol(a),
    chol2inv = chol2inv(chol(a))
  ))[["elapsed"]]
  # Backward errors, for a factor and an inverse with one random vector.
  error <- switch(call,
    solve = max(abs(b - a %*% x)) / (norm(a, "I") * max(abs(x)) + max(abs(b))),
    chol = max(abs(crossprod(x, x %*% b) - a %*% b)) / (norm(a, "I") * max(abs(b))),
    chol2inv = max(abs(a %*% (x %*% b) - b)) / (norm(a, "I") * norm(x, "I") * max(abs(b)))
  )
  cat(sprintf("%s %d %.3f %.2e\n", kind, n, seconds, error))
}

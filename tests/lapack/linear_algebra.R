# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Typical linear algebra in R, checked by backward error, and R's messages for bad matrices. Prints
# the same with the drop-in and without.
check <- function(name, error, allowed) {
  if (!isTRUE(error <= allowed)) stop(name, ": error ", error, " above ", allowed)
}
u <- 2^-53
residual <- function(a, x, b) {
  max(abs(b - a %*% x)) / (norm(a, "I") * max(abs(x)) + max(abs(b)))
}
said <- function(expression) tryCatch(expression, error = function(e) conditionMessage(e))

set.seed(1)
for (n in c(3, 20, 200, 1500)) {
  a <- matrix(rnorm(n * n), n)
  s <- crossprod(a) / n + diag(n)
  b <- rnorm(n)
  several <- matrix(rnorm(3 * n), n)
  allowed <- 40 * n * u
  check("solve(a, b)", residual(a, solve(a, b), b), allowed)
  check("solve(a, B)", residual(a, solve(a, several), several), allowed)
  check("solve(s, b)", residual(s, solve(s, b), b), allowed)
  if (n <= 200) {
    inverse <- solve(a)
    check("solve(a)", norm(a %*% inverse - diag(n)) / (norm(a) * norm(inverse)), allowed)
    check("qr.solve", residual(a, qr.solve(a, b), b), allowed)
    check("det", abs(determinant(s)$modulus - sum(log(eigen(s, TRUE)$values))), n * allowed)
  }
  r <- chol(s)
  check("chol", max(abs(crossprod(r) - s)) / norm(s), allowed)
  inverse <- chol2inv(r)
  check("chol2inv", norm(s %*% inverse - diag(n)) / (norm(s) * norm(inverse)), allowed)
  check("backsolve", residual(s, backsolve(r, backsolve(r, b, transpose = TRUE)), b), allowed)
  cat("order", n, "passed\n")
}
whole <- matrix(rpois(900, 5), 30)  # of integers, which R overwrites before it computes the norm
stopifnot(is.integer(whole))
check("solve of integers", residual(whole, solve(whole, 1:30), 1:30), 40 * 30 * u)
check("identity", max(abs(solve(diag(50)) - diag(50))), 0)
x <- solve(s[1:100, 1:100], b[1:100])
stopifnot(identical(dim(solve(s[1:100, 1:100], matrix(b[1:100]))), c(100L, 1L)), length(x) == 100)

zero <- a[1:60, 1:60]
zero[, 20] <- 0
cat(said(solve(zero, 1:60)), "\n")
cat(said(solve(matrix(1, 30, 30))), "\n")
hilbert <- 1 / outer(1:14, 1:14, function(i, j) i + j - 1)
cat(sub("=.*", "", said(solve(hilbert, 1:14))), "\n")  # the value is an estimate
cat(said(solve(a[1:5, ], 1:5)), "\n")
cat(said(solve(a, 1:5)), "\n")
cat(said(chol(-s)), "\n")
bad <- a[1:40, 1:40]
bad[3, 3] <- NaN
cat(sum(is.nan(suppressWarnings(as.numeric(said(solve(bad, 1:40, tol = 0)))))) > 0, "\n")

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# R's solve() calls dgesv. Nothing here knows about Stepwell.
set.seed(1)
n <- 3000
a <- matrix(rnorm(n * n), n)
b <- rnorm(n)
x <- solve(a, b)
error <- max(abs(a %*% x - b)) / (max(rowSums(abs(a))) * max(abs(x)) + max(abs(b)))
stopifnot(error < sqrt(n) * 2^-53)
cat("backward error", format(error, digits = 2), "\n")

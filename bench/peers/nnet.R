#!/usr/bin/Rscript
# nnet's softmax regression, all classes with weights of their own, on the rows of a packed file in memory, as a matrix (see
# peers.hpp). A line is a lambda, of half the mean squared norm; the answer has the objective per row, intercepts penalised, and
# the user seconds of nnet() alone.
suppressMessages(library(nnet))
rows <- file(commandArgs(TRUE)[1], "rb")
head <- readBin(rows, "integer", 12, 4)[c(1, 3, 5, 7, 9, 11)]
n <- head[2]; d <- head[3]; stored <- head[4]; bytes <- if (head[6] == 1) 8 else 4
y <- readBin(rows, "double", n)
if (head[5] == 1) {
  starts <- readBin(rows, "integer", 2 * (n + 1), 4)[c(TRUE, FALSE)]
  columns <- readBin(rows, "integer", stored)
  x <- matrix(0, n, d)
  x[cbind(rep(seq_len(n), diff(starts)), columns + 1L)] <- readBin(rows, "double", stored, bytes)
} else {
  x <- matrix(readBin(rows, "double", stored, bytes), n, d, byrow = TRUE)
}
close(rows)
classes <- class.ind(factor(y))
requests <- file("stdin", "r")
while (length(line <- readLines(requests, 1)) > 0) {
  lambda <- as.numeric(line)
  set.seed(1)
  time <- system.time(fit <- nnet(x, classes, size = 0, skip = TRUE, softmax = TRUE, decay = lambda * n / 2, maxit = 100000, abstol = 0,
                                  reltol = 1e-15, MaxNWts = 100000, trace = FALSE))
  cat(sprintf("{\"wall\": %.4f, \"cpu\": %.4f, \"primal\": %.17g, \"converged\": %d}\n", time[3], time[1], fit$value / n, 1L - fit$convergence))
  flush(stdout())
}

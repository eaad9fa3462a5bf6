#!/usr/bin/Rscript
# glmnet with the rows of a packed file in memory (see peers.hpp), dense rows as a matrix, sparse ones as a dgCMatrix. A
# line is a family (gaussian or binomial, of the labels as they are or of the larger of two), alpha, a thresh (0: the
# default), a file with one lambda a line, a file for the coefficients of all lambdas (doubles; -: none), and perhaps the ends between
# which all of them are. The answer has the CPU seconds of glmnet() alone, and its user seconds.
suppressMessages({library(glmnet); library(Matrix)})
rows <- file(commandArgs(TRUE)[1], "rb")
head <- readBin(rows, "integer", 12, 4)[c(1, 3, 5, 7, 9, 11)]
n <- head[2]; d <- head[3]; stored <- head[4]; bytes <- if (head[6] == 1) 8 else 4
y <- readBin(rows, "double", n)
if (head[5] == 1) {
  starts <- readBin(rows, "integer", 2 * (n + 1), 4)[c(TRUE, FALSE)]
  columns <- readBin(rows, "integer", stored)
  x <- sparseMatrix(i = rep(seq_len(n), diff(starts)), j = columns + 1L, x = readBin(rows, "double", stored, bytes), dims = c(n, d))
} else {
  x <- matrix(readBin(rows, "double", stored, bytes), n, d, byrow = TRUE)
}
close(rows)
requests <- file("stdin", "r")
while (length(line <- readLines(requests, 1)) > 0) {
  word <- strsplit(line, " ")[[1]]
  lambda <- as.numeric(readLines(word[4]))
  label <- if (word[1] == "binomial") as.numeric(y == max(y)) else y
  arguments <- list(x, label, family = word[1], alpha = as.numeric(word[2]), lambda = lambda, standardize = FALSE)
  if (as.numeric(word[3]) > 0) arguments <- c(arguments, list(thresh = as.numeric(word[3]), maxit = 1e8))
  if (length(word) > 5) arguments <- c(arguments, list(lower.limits = as.numeric(word[6]), upper.limits = as.numeric(word[7])))
  time <- system.time(fit <- do.call(glmnet, arguments))
  if (word[5] != "-") {
    out <- file(word[5], "wb")
    writeBin(as.vector(as.matrix(fit$beta)), out)
    close(out)
  }
  cat(sprintf("{\"wall\": %.4f, \"cpu\": %.4f, \"user\": %.4f, \"lambdas\": %d}\n", time[3], time[1] + time[2], time[1], length(fit$lambda)))
  flush(stdout())
}

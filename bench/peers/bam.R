#!/usr/bin/Rscript
# mgcv's bam on two CSV files: those of the training rows and of the rows to predict, whose first column is the outcome; a smooth
# term for each number of more than nine values (cubic regression splines), a factor for each text, what is left as it is. Prints the
# CPU seconds of the fit, then a prediction a line.
suppressMessages(library(mgcv))
argument <- commandArgs(TRUE)
rows <- read.csv(argument[1], stringsAsFactors = TRUE)
new <- read.csv(argument[2], stringsAsFactors = TRUE)
terms <- c()
for (name in names(rows)[-1]) {
  seen <- length(unique(rows[[name]]))
  if (is.factor(rows[[name]])) {
    levels <- levels(rows[[name]])
    column <- as.character(new[[name]])
    column[!(column %in% levels)] <- names(which.max(table(rows[[name]])))
    new[[name]] <- factor(column, levels = levels)
    if (seen > 1) terms <- c(terms, name)
  } else {
    middle <- mean(rows[[name]], na.rm = TRUE)
    rows[[name]][is.na(rows[[name]])] <- middle
    new[[name]][is.na(new[[name]])] <- middle
    seen <- length(unique(rows[[name]]))
    if (seen > 9) terms <- c(terms, sprintf("s(%s, bs = 'cr', k = %d)", name, min(20, seen))) else if (seen > 1) terms <- c(terms, name)
  }
}
target <- names(rows)[1]
family <- if (argument[3] == "auc") binomial() else gaussian()
time <- system.time(fit <- bam(as.formula(paste(target, "~", paste(terms, collapse = " + "))), family = family, data = rows,
                               discrete = TRUE, select = TRUE, nthreads = 1))
cat(sprintf("%.3f\n", time[1] + time[2]))
cat(sprintf("%.9g\n", as.vector(predict(fit, new, discrete = FALSE))), sep = "")

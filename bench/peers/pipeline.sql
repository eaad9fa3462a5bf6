-- From a CSV file to a stored model: run in the repository's directory. bench/peers/pipeline.py does the same.
CREATE TEMP TABLE abalone (sex text, length float8, diameter float8, height float8, whole_weight float8, shucked_weight float8,
                           viscera_weight float8, shell_weight float8, rings int);
\copy abalone FROM 'demo/data/abalone.csv' CSV HEADER
CREATE TEMP TABLE model AS SELECT train_margin(rings > 9, a, margin_options(exclude => '{rings}', loss => 'logistic', lambda => 1e-3,
                                               intercept => 'free')) AS m FROM abalone a;
SELECT (margin_evaluate(m, rings > 9, a)).accuracy FROM abalone a, model;

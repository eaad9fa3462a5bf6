\set ECHO none
\echo '== 1. A table as it is: columns of any type, one statement, an explained prediction =========================='
\set ECHO queries
CREATE EXTENSION margin;
CREATE TABLE abalone (sex text, length float8, diameter float8, height float8, whole_weight float8, shucked_weight float8,
                      viscera_weight float8, shell_weight float8, rings int);
\set ECHO none
\copy abalone FROM 'data/abalone.csv' CSV HEADER
\echo
\echo '-- 4,177 abalones. Older than ten years? The row is the features; the rings, which tell the age, are none.'
\echo
\set ECHO queries
CREATE TABLE old_abalone AS
  SELECT train_margin(rings > 9, a, margin_options(exclude => '{rings}', lambda => 1e-3, loss => 'logistic')) AS model FROM abalone a;

SELECT (e).accuracy, (e).auc, (model).status FROM old_abalone, LATERAL (SELECT margin_evaluate(model, rings > 9, a) AS e FROM abalone a) AS t;
\set ECHO none
\echo '-- The model carries its encoder, so any row with these columns will do, or an object with these keys; and it says why.'
\echo
\set ECHO queries
SELECT feature, value, round(contribution::numeric, 3) AS contribution
  FROM old_abalone, (SELECT jsonb '{"sex": "F", "length": 0.5, "diameter": 0.4, "height": 0.13, "whole_weight": 0.7,
                                    "shucked_weight": 0.25, "viscera_weight": 0.14, "shell_weight": 0.24}' AS r) AS asked, margin_explain(model, r);

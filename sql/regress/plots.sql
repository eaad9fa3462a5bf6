-- Charts: margin_plot, margin_roc, margin_reliability, margin_histogram. Every one must be well-formed XML.
\set VERBOSITY terse
SET client_min_messages = error;
CREATE TABLE points AS
  SELECT i AS id, i % 3 = 0 AS y, ARRAY[sin(i) + CASE WHEN i % 3 = 0 THEN 0.5 ELSE 0 END, cos(2.7 * i), i % 7] AS x,
         (ARRAY['low', 'a<b & "c"', 'high'])[1 + i % 3] AS class
    FROM generate_series(1, 300) AS i;
CREATE TABLE models AS
  SELECT train_margin(y, x, margin_options(lambda => 1e-2, loss => 'logistic', history => true) ORDER BY id) AS soft,
         train_margin(y, ARRAY[x[1] + CASE WHEN y THEN 3 ELSE 0 END, x[2]], margin_options(solver => 'momentum', history => true) ORDER BY id) AS hard,
         train_margin(class, x, margin_options(lambda => 1e-2, solver => 'sdca', history => true) ORDER BY id) AS several,
         train_margin(x[1], x[2:3], margin_options(lambda => 1e-2, loss => 'squared') ORDER BY id) AS regression
    FROM points;

CREATE FUNCTION texts(svg text, path text) RETURNS text[] LANGUAGE sql AS
  $$ SELECT xpath(path, svg::xml, '{{s,http://www.w3.org/2000/svg}}')::text[] $$;

-- the certificate against iterations
SELECT name, xml_is_well_formed_document(svg) AS well_formed, texts(svg, '/s:svg/@role') AS role,
       (texts(svg, '/s:svg/s:title/text()'))[1] ~ '^[a-z_+]+: optimal after \d+ iterations$' AS title,
       (texts(svg, '/s:svg/s:desc/text()'))[1] ~ 'At the end: from [-0-9.e]+ to [-0-9.e]+, relative width [-0-9.e]+\.$' AS description,
       texts(svg, '//s:text[@text-anchor = "start"]/text()') AS legends,
       texts(svg, '//s:text[@transform]/text()') AS vertical, texts(svg, '//s:path[contains(@d, "nan")]') AS broken
  FROM models, LATERAL (VALUES ('soft', margin_plot(soft)), ('hard', margin_plot(hard)), ('several', margin_plot(several))) AS p (name, svg);
SELECT margin_plot(NULL) IS NULL AS nothing;
SELECT margin_plot(regression) FROM models;

-- the points of margin_history: lower is the dual, upper the primal value
SELECT bool_and(h.lower <= h.upper) AS interval, bool_and(h.seconds >= 0) AS clock,
       abs(max(h.lower) - max((several).dual)) < 1e-9 AS dual, abs(min(h.upper) - max((several).primal)) < 1e-9 AS primal
  FROM models, margin_history(several) AS h;

-- how good a model is
CREATE TABLE charts AS
  SELECT margin_roc(soft, y, x ORDER BY id) AS roc, margin_reliability(soft, y, x ORDER BY id) AS reliability,
         margin_histogram(soft, y, x ORDER BY id) AS histogram, margin_histogram(several, class, x ORDER BY id) AS classes,
         margin_evaluate(soft, y, x ORDER BY id) AS e
    FROM points, models;
SELECT name, xml_is_well_formed_document(svg) AS well_formed, texts(svg, '/s:svg/s:title/text()') AS title,
       texts(svg, '//s:text[@text-anchor = "start"]/text()') AS legends,
       texts(svg, '//s:text[@font-size or @transform]/text()') AS labels
  FROM charts, LATERAL (VALUES ('roc', regexp_replace(roc, 'area 0\.\d+', 'area A')), ('reliability', reliability),
                               ('histogram', histogram), ('classes', classes)) AS p (name, svg);
SELECT (texts(roc, '/s:svg/s:desc/text()'))[1] ~ ('over 300 rows\. Area under the curve: ' || left(round((e).auc::numeric, 4)::text, 5)) AS same_auc,
       (texts(histogram, '/s:svg/s:desc/text()'))[1] ~ ('\. ' || round(300 * (1 - (e).accuracy)) || ' rows of 300 have a margin of 0 or less') AS same_errors
  FROM charts;
-- names of classes are text, whatever is in them
WITH two AS MATERIALIZED (SELECT train_margin(class, x, margin_options(lambda => 1) ORDER BY id) AS m FROM points WHERE class <> 'high')
SELECT texts(margin_roc(m, class, x), '/s:svg/s:title/text()') AS title FROM points, two WHERE class <> 'high';

-- partial aggregation gives the same picture
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT margin_roc(soft, y, x) = max(roc) AS roc, margin_reliability(soft, y, x) = max(reliability) AS reliability,
       margin_histogram(soft, y, x) = max(histogram) AS histogram
  FROM points, models, charts;
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- With weights a row is so many rows: of weight 2 the row given twice, of weight 0 none, to the letter. The intervals of the shares as well.
CREATE TABLE repeated AS SELECT p.* FROM points p, generate_series(1, id % 4);
SELECT margin_roc(soft, y, x, id % 4) = (SELECT margin_roc(soft, y, x) FROM repeated) AS roc,
       margin_reliability(soft, y, x, id % 4) = (SELECT margin_reliability(soft, y, x) FROM repeated) AS reliability,
       margin_histogram(soft, y, x, id % 4) = (SELECT margin_histogram(soft, y, x) FROM repeated) AS histogram,
       margin_histogram(several, class, x, id % 4) = (SELECT margin_histogram(several, class, x) FROM repeated) AS several,
       margin_roc(soft, y, x, 1) = margin_roc(soft, y, x) AND margin_reliability(soft, y, x, 1) = margin_reliability(soft, y, x)
         AND margin_histogram(soft, y, x, 1) = margin_histogram(soft, y, x) AS ones,
       margin_roc(soft, y, x, 0) IS NULL AND margin_reliability(soft, y, x, 0) IS NULL AND margin_histogram(soft, y, x, 0) IS NULL AS zeros,
       margin_reliability(soft, y, x, 0.5) <> margin_reliability(soft, y, x) AS wider
  FROM points, models GROUP BY soft, several;
SELECT (texts(margin_roc(soft, y, x, 0.25 * (id % 4)), '/s:svg/s:desc/text()'))[1], (texts(margin_histogram(soft, y, x, 0.1), '/s:svg/s:desc/text()'))[1] FROM points, models;
SELECT margin_roc(soft, y, x, -1) FROM points, models;
SELECT margin_reliability(soft, y, x, 'NaN') FROM points, models;
SELECT margin_histogram(soft, y, x, NULL) FROM points, models;
DROP TABLE repeated;

-- what cannot be drawn
SELECT margin_roc(several, class, x) FROM points, models;
SELECT margin_roc(soft, y, x) FROM points, models WHERE y;
SELECT margin_reliability(several, class, x) FROM points, models;
SELECT margin_reliability(hard, y, x[1:2]) FROM points, models;
SELECT margin_histogram(regression, x[1], x[2:3]) FROM points, models;
SELECT margin_histogram(soft, class, x) FROM points, models;
SELECT margin_roc(soft, NULL::boolean, x) IS NULL AS nothing FROM points, models;

DROP FUNCTION texts;
DROP TABLE points, models, charts;

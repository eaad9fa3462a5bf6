-- Shalev-Shwartz, Zhang (2013), Figure 8: test error, SDCA with the smoothed hinge against SGD with the plain one
-- libsvm: reuters-acq reuters-acq.t rcv1_small rcv1_small.t
-- data: covtype.20k
-- files: covtype.20k.libsvm.xz
--
-- The paper: SDCA with the smoothed hinge achieves the smallest test error faster than SGD with the hinge.
SELECT make_sdca_rows();
SELECT sdca_panels(:'figure', 'test error', false);
INSERT INTO series VALUES
  (:'figure', 'SDCA, smoothed hinge', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "random"}'),
  (:'figure', 'SGD, hinge', '{"loss": "hinge", "solver": "sgd"}');
CREATE TABLE sdca8_errors AS SELECT * FROM sdca_errors(:'figure', '{1,2,3,4,6,8,11,16,22,32,45,64}');
INSERT INTO curves SELECT :'figure', sdca_panel(lambda, data), series, epoch, error FROM sdca8_errors;

-- The first epoch after which a method is, and stays, within a tenth of the smallest error that either reaches.
CREATE TABLE sdca8_settled AS
  WITH least AS (SELECT data, lambda, min(error) AS least FROM sdca8_errors GROUP BY data, lambda)
  SELECT data, lambda, series, coalesce(max(epoch) FILTER (WHERE error > 1.1 * least), 0) AS last_away, avg(error) AS mean
    FROM sdca8_errors JOIN least USING (data, lambda) GROUP BY data, lambda, series;
CREATE TABLE sdca8_wide AS
  SELECT data, lambda, max(last_away) FILTER (WHERE series LIKE 'SDCA%') AS sdca, max(last_away) FILTER (WHERE series LIKE 'SGD%') AS sgd,
         max(mean) FILTER (WHERE series LIKE 'SDCA%') AS sdca_mean, max(mean) FILTER (WHERE series LIKE 'SGD%') AS sgd_mean
    FROM sdca8_settled GROUP BY data, lambda;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'SDCA settles within a tenth of the smallest test error before SGD does, or with it, in most panels',
       format('before in %s, with it in %s, later in %s', count(*) FILTER (WHERE sdca < sgd), count(*) FILTER (WHERE sdca = sgd), count(*) FILTER (WHERE sdca > sgd)),
       count(*) FILTER (WHERE sdca <= sgd) > count(*) FILTER (WHERE sdca > sgd) FROM sdca8_wide
UNION ALL
SELECT :'figure', 'over the epochs shown its mean test error is lower in most panels', format('%s of %s', count(*) FILTER (WHERE sdca_mean < sgd_mean), count(*)),
       count(*) FILTER (WHERE sdca_mean < sgd_mean) > 6 FROM sdca8_wide
UNION ALL
SELECT :'figure', 'every point of SGD is a model that is not 0', format('%s of %s', count(*) FILTER (WHERE NOT zero), count(*)), NOT bool_or(zero) AND count(*) = 144
  FROM sdca8_errors WHERE series LIKE 'SGD%';

-- Shalev-Shwartz, Zhang (2013), Figure 4: test error, smoothed against plain hinge
-- libsvm: reuters-acq reuters-acq.t rcv1_small rcv1_small.t
-- data: covtype.20k
-- files: covtype.20k.libsvm.xz
--
-- The paper: although the hinge is the tighter approximation of the 0-1 error, the smoothed one has the lower test error in
-- most cases, and in any case its test error falls faster.
SELECT make_sdca_rows();
SELECT sdca_panels(:'figure', 'test error', false);
INSERT INTO series VALUES
  (:'figure', 'hinge', '{"loss": "hinge", "solver": "sdca", "order": "random"}'),
  (:'figure', 'smoothed hinge', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "random"}');
CREATE TABLE sdca4_errors AS SELECT * FROM sdca_errors(:'figure', '{1,2,3,4,6,8,11,16,22,32,45,64}');
INSERT INTO curves SELECT :'figure', sdca_panel(lambda, data), series, epoch, error FROM sdca4_errors;

CREATE TABLE sdca4_wide AS
  SELECT data, lambda, epoch, max(error) FILTER (WHERE series = 'hinge') AS hinge, max(error) FILTER (WHERE series = 'smoothed hinge') AS smoothed
    FROM sdca4_errors GROUP BY data, lambda, epoch;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'at the end the smoothed hinge has the lower test error, or the same, in most panels',
       format('lower in %s, equal in %s, higher in %s', count(*) FILTER (WHERE smoothed < hinge), count(*) FILTER (WHERE smoothed = hinge), count(*) FILTER (WHERE smoothed > hinge)),
       count(*) FILTER (WHERE smoothed <= hinge) > count(*) FILTER (WHERE smoothed > hinge) FROM sdca4_wide WHERE epoch = 64
UNION ALL
SELECT :'figure', 'its test error falls faster: the mean over the first 8 epochs is lower, or the same, in most panels',
       format('lower in %s, equal in %s, higher in %s', count(*) FILTER (WHERE s < h), count(*) FILTER (WHERE s = h), count(*) FILTER (WHERE s > h)),
       count(*) FILTER (WHERE s <= h) > count(*) FILTER (WHERE s > h)
  FROM (SELECT avg(smoothed) AS s, avg(hinge) AS h FROM sdca4_wide WHERE epoch <= 8 GROUP BY data, lambda) AS m;

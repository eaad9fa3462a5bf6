\set ECHO none
\echo '== 4. Two servers: the rows stay where they are ================================================================'
\echo
\echo '-- A second server is up. The patients are dealt out to both: one table, two foreign partitions.'
\echo
\set ECHO queries
CREATE EXTENSION postgres_fdw;
CREATE SERVER north FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'north', extensions 'margin', async_capable 'true');
CREATE SERVER south FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'south', extensions 'margin', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER north OPTIONS (user 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER south OPTIONS (user 'postgres');
CREATE TABLE patients (site int, diagnosis text, x float8[]) PARTITION BY LIST (site);
CREATE FOREIGN TABLE patients_north PARTITION OF patients FOR VALUES IN (0) SERVER north OPTIONS (table_name 'patients_of_site');
CREATE FOREIGN TABLE patients_south PARTITION OF patients FOR VALUES IN (1) SERVER south OPTIONS (table_name 'patients_of_site');
INSERT INTO patients SELECT id % 2, diagnosis, x FROM measurements;
\set ECHO none
\echo '-- One call trains on both. Each scan asks both servers at once, and each answers with one row.'
\echo '-- (The table is small: sample_rows says that no more than 100 rows may be brought here by a scan.)'
\echo
\set ECHO queries
CREATE TABLE scanned AS
  SELECT train_margin_from('SELECT diagnosis AS label, x AS features, site FROM patients',
                           margin_options(lambda => 1e-3, loss => 'hinge', standardize => true, tolerance => 1e-6,
                                          shard => 'site', sample_rows => 100)) AS model;

SELECT (s.model).status, (s.model).iterations AS scans, (s.model).rows, (s.model).dual, (s.model).primal,
       abs((s.model).primal / (m.model).primal - 1) < 2e-6 AS as_in_memory
  FROM scanned AS s, (SELECT train_margin(diagnosis, x, margin_options(lambda => 1e-3, loss => 'hinge', standardize => true,
                                                                         tolerance => 1e-6)) AS model FROM measurements) AS m;
\set ECHO none
\echo '-- The plan of a scan: the aggregate runs on the servers, both at the same time.'
\echo
SET enable_partitionwise_aggregate = on;
SELECT 'EXPLAIN (COSTS OFF) ' || margin_scan_query('SELECT diagnosis AS label, x AS features, site FROM patients',
                                                   margin_options(lambda => 1e-3, loss => 'hinge', shard => 'site')) AS statement \gset
:statement;

-- Everything that an extension's script made, a line for each object: what it is, how it is defined, its comment.
WITH member AS (
  SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
   WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'margin')
SELECT pg_describe_object(m.classid, m.objid, 0) AS object,
       regexp_replace(pg_get_functiondef(p.oid), '\s+', ' ', 'g') AS definition, obj_description(p.oid, 'pg_proc') AS comment
  FROM member AS m JOIN pg_proc AS p ON m.classid = 'pg_proc'::regclass AND p.oid = m.objid WHERE p.prokind <> 'a'
UNION ALL
SELECT pg_describe_object(m.classid, m.objid, 0),
       concat_ws(' ', pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.provolatile, p.proparallel, p.procost, p.proacl,
                 to_jsonb(a) - '{aggfnoid,aggtransfn,aggfinalfn,aggcombinefn,aggserialfn,aggdeserialfn,aggmtransfn,aggminvtransfn,aggmfinalfn,aggtranstype,aggmtranstype,aggsortop}'::text[],
                 a.aggtransfn::regprocedure, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn,
                 a.aggtranstype::regtype, a.aggmtranstype::regtype, a.aggsortop::regoperator), obj_description(p.oid, 'pg_proc')
  FROM member AS m JOIN pg_proc AS p ON m.classid = 'pg_proc'::regclass AND p.oid = m.objid JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
UNION ALL
SELECT pg_describe_object(m.classid, m.objid, 0),
       concat_ws(' ', t.typtype, t.typlen, t.typbyval, t.typcategory, t.typispreferred, t.typdelim, t.typinput, t.typoutput, t.typreceive, t.typsend,
                 t.typmodin, t.typmodout, t.typanalyze, t.typalign, t.typstorage, t.typnotnull, t.typdefault,
                 (SELECT string_agg(format('%s %s %s %s', a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), col_description(t.typrelid, a.attnum)), '; ' ORDER BY a.attnum)
                    FROM pg_attribute AS a WHERE a.attrelid = t.typrelid AND NOT a.attisdropped)), obj_description(t.oid, 'pg_type')
  FROM member AS m JOIN pg_type AS t ON m.classid = 'pg_type'::regclass AND t.oid = m.objid
UNION ALL
SELECT pg_describe_object(m.classid, m.objid, 0), concat_ws(' ', c.castfunc::regprocedure, c.castcontext, c.castmethod), obj_description(c.oid, 'pg_cast')
  FROM member AS m JOIN pg_cast AS c ON m.classid = 'pg_cast'::regclass AND c.oid = m.objid
UNION ALL
SELECT pg_describe_object(m.classid, m.objid, 0),
       concat_ws(' ', o.oprkind, o.oprcanmerge, o.oprcanhash, o.oprresult::regtype, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprcode, o.oprrest, o.oprjoin),
       obj_description(o.oid, 'pg_operator')
  FROM member AS m JOIN pg_operator AS o ON m.classid = 'pg_operator'::regclass AND o.oid = m.objid
UNION ALL
SELECT pg_describe_object(m.classid, m.objid, 0), concat_ws(' ', c.opcintype::regtype, c.opcdefault, c.opckeytype::regtype), obj_description(c.oid, 'pg_opclass')
  FROM member AS m JOIN pg_opclass AS c ON m.classid = 'pg_opclass'::regclass AND c.oid = m.objid
UNION ALL
SELECT pg_describe_object(m.classid, m.objid, 0),
       concat_ws('; ', (SELECT string_agg(format('%s %s', a.amopstrategy, a.amopopr::regoperator), ', ' ORDER BY 1) FROM pg_amop AS a WHERE a.amopfamily = m.objid),
                 (SELECT string_agg(format('%s %s', a.amprocnum, a.amproc::regprocedure), ', ' ORDER BY 1) FROM pg_amproc AS a WHERE a.amprocfamily = m.objid)),
       obj_description(m.objid, 'pg_opfamily')
  FROM member AS m WHERE m.classid = 'pg_opfamily'::regclass
UNION ALL  -- of no kind above
SELECT pg_describe_object(m.classid, m.objid, 0), 'unknown to this query', NULL
  FROM member AS m WHERE m.classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass)
ORDER BY 1, 2;

// sql.mjs PACKAGE [TRAININGS]: what 32 bits and one process could break. Prints TAP.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

const { margin } = await import(pathToFileURL(resolve(process.argv[2], 'index.js')))
const trainings = Number(process.argv[3] ?? 1000)
const db = await PGlite.create({ extensions: { margin } })
let number = 0, failed = 0
const is = (found, wanted, name) => {
  const good = JSON.stringify(found) === JSON.stringify(wanted)
  if (!good) ++failed
  console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${name}${good ? '' : `\n# found ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`}`)
}
const value = async (sql) => Object.values((await db.query(sql)).rows[0])[0]
const fails = async (sql) => { try { await db.query(sql); return null } catch (e) { return e.code } }

let begun = performance.now()
await db.exec('CREATE EXTENSION margin')
console.log(`# CREATE EXTENSION: ${(performance.now() - begun).toFixed(0)} ms`)

// Datums of 32 bits point to what is longer.
for (const type of ['bigint', 'double precision', 'integer', 'real', 'numeric', 'text', 'smallint'])
  is(await value(`SELECT (train_margin((i % 3)::${type}, ARRAY[sin(i), cos(i), (i % 3)::float8], margin_options(lambda => 0.01) ORDER BY i)).classes
    FROM generate_series(1, 90) AS i`), ['0', '1', '2'], `labels of type ${type} are three classes`)
is(await value(`SELECT array_agg(margin_options(nu => x) ->> 'nu') FROM (VALUES (0.05::float8), (0.3), (1), (0.05)) AS v(x)`), ['0.05', '0.3', '1', '0.05'], 'options of double precision, row by row')
is(await value(`SELECT array_agg(margin_options(seed => x) ->> 'seed') FROM (VALUES (1::bigint), (2), (3)) AS v(x)`), ['1', '2', '3'], 'options of type bigint, row by row')
is(await value(`SELECT array_agg(margin_fold(i::bigint, 1000) = margin_fold(i, 1000)) FROM generate_series(1, 5) AS i`), [true, true, true, true, true], 'folds of keys of type bigint')
is(await value(`SELECT (SELECT array_agg(name || ' ' || count ORDER BY name) FROM margin_profile_columns(p))
  FROM (SELECT margin_sum(margin_profile(r)) AS p FROM (SELECT i AS a, i::float8 / 2 AS b, i::bigint AS c FROM generate_series(1, 200) AS i) AS r) AS s`), ['a 200', 'b 200', 'c 200'], 'counts of a profile')
is(await fails(`SELECT '{1:1}/2147483647'::margin_sparse::real[]`), '54000', 'an array of more bytes than 32 bits count')

// Errors leave the session alive, through every frame.
is(await fails(`SELECT train_margin(i % 2 = 0, ARRAY[i, 'NaN'::float8]) FROM generate_series(1, 10) AS i`), '22000', 'an error of ours is one of SQL')
is(await fails(`SELECT train_margin(i % 2 = 0, ARRAY[i, 1 / (i - 5)]) FROM generate_series(1, 10) AS i`), '22012', 'an error of the server passes through')
is(await fails(`SELECT margin_options(lambda => -1)`), '22023', 'a wrong option')
await db.exec(`SET margin.memory_limit = '1MB'`)
is(await fails(`SELECT train_margin(i % 2 = 0, ARRAY[sin(i), cos(i), sin(2 * i), cos(3 * i)]) FROM generate_series(1, 100000) AS i`), '54000', 'more rows than memory')
await db.exec('RESET margin.memory_limit')
is(await value('SELECT 1 + 1'), 2, 'the session goes on')

// Memory after many trainings: what the module has taken may not grow once it has run a while.
const train = `SELECT train_margin(i % 2 = 0, ARRAY[sin(i), cos(i), sin(i * 0.37)], margin_options(lambda => 0.01, loss => 'logistic')) IS NOT NULL FROM generate_series(1, 150) AS i`
for (let k = 0; k < 20; ++k) await db.query(train)
const before = db.Module.HEAPU8.length, used = await value('SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts')
begun = performance.now()
for (let k = 0; k < trainings; ++k) await db.query(train)
console.log(`# ${trainings} trainings: ${((performance.now() - begun) / trainings).toFixed(2)} ms each; memory ${before / 2 ** 20} MB before, ${db.Module.HEAPU8.length / 2 ** 20} MB after`)
is(db.Module.HEAPU8.length, before, `no more memory after ${trainings} trainings`)
is(Math.abs(Number(await value('SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts')) - Number(used)) < 65536, true, 'nor in contexts of the server')
await db.close()
process.exit(failed === 0 ? 0 : 1)

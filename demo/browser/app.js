// The page. All SQL runs in worker.js; what comes back is shown as text, never as HTML.
import { identifier, literal, tableOf } from './csv.js'

const $ = (id) => document.getElementById(id)
const shipped = ['iris', 'breast_cancer', 'abalone'] // demo/data
const database = new URLSearchParams(location.search).get('database') ?? 'margin'
const store = 'page_models' // where the page keeps its models
const mostRows = 200
const kept = `margin: ${database}` // what was seen of the last model

// --- the worker, and what it is asked ---------------------------------------------------------------------------------------
let worker, pending = new Map(), last = 0

function start() {
  worker = new Worker('worker.js', { type: 'module' })
  worker.onmessage = ({ data }) => {
    const ask = pending.get(data.id)
    if (!ask) return
    if (data.notice) return ask.notice(data.notice)
    pending.delete(data.id)
    if (data.error) ask.reject(Object.assign(new Error(data.error.message), data.error))
    else ask.resolve(data.done)
  }
  worker.onerror = (e) => fail(new Error(e.message || 'The worker could not be started.'))
  return ask('open', { name: database }).then(() => ask('run', { sql: `SET client_min_messages = warning;
    CREATE TABLE IF NOT EXISTS ${store} (name text PRIMARY KEY, source text, label text, model margin_model);
    RESET client_min_messages; SET margin.log_level = 'notice'` }))
}

function ask(what, message = {}) {
  const id = ++last
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject, notice })
    worker.postMessage({ ask: what, id, ...message })
  })
}

// Two tabs on one database would destroy it.
function alone() {
  return new Promise((resolve, reject) => {
    if (!navigator.locks) return resolve()
    navigator.locks.request(`margin: ${database}`, { signal: AbortSignal.timeout(3000) }, () => { resolve(); return new Promise(() => {}) })
      .catch(() => reject(new Error('This page is open in another tab of this browser, and has its tables there.')))
  })
}

const query = (sql) => ask('query', { sql })

let restarting = Promise.resolve()

// Ends the thread: nothing else stops a statement that runs. What was committed before is kept.
function cancel() {
  $('cancel').hidden = true
  worker.terminate()
  const waiting = [...pending.values()]
  pending = new Map()
  tell('Cancelling.')
  restarting = start().catch(fail)
  waiting.forEach((a) => a.reject(new Error('Cancelled. Tables and models are kept.')))
}

// --- what is going on ---------------------------------------------------------------------------------------------------------
let notices = []

function notice({ severity, message, hint }) {
  if (/^margin: .*(iteration|scan) \d/.test(message)) tell(message.replace(/^margin: /, ''))
  else notices.push(`${severity}: ${message}${hint ? `\n${hint}` : ''}`)
}

function tell(text, error = false) {
  $('status').textContent = text
  $('status').classList.toggle('error', error)
}

function fail(e) {
  tell([e.message, e.detail, e.hint].filter(Boolean).join(' '), true)
}

let running = 0
/** Runs an action: buttons wait, the bar tells, an error is a line and nothing more. */
async function doing(text, action, cancellable = true) {
  if (running > 0) return
  running = 1
  notices = []
  const begun = performance.now()
  document.querySelectorAll('button:not(#cancel)').forEach((b) => { b.disabled = true })
  $('busy').hidden = false
  $('cancel').hidden = !cancellable
  tell(text)
  try {
    const done = await action()
    tell(`${done ?? 'Done.'} (${((performance.now() - begun) / 1000).toFixed(2)} s)`)
  } catch (e) {
    await restarting
    fail(e)
  } finally {
    running = 0
    $('busy').hidden = $('cancel').hidden = true
    document.querySelectorAll('button').forEach((b) => { b.disabled = false })
  }
}

// --- elements -----------------------------------------------------------------------------------------------------------------
function element(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties)
  e.append(...children)
  return e
}

function choices(select, values, chosen) {
  const before = chosen ?? [select.value]
  select.replaceChildren(...values.map(([value, text]) => element('option', { value, textContent: text, selected: before.includes(value) })))
}

function shown(v) {
  if (v === null) return element('td', { className: 'null', textContent: 'NULL' })
  const number = typeof v === 'number'
  return element('td', { className: number ? 'number' : '', textContent: number ? String(Number(v.toPrecision(7))) : String(v).slice(0, 2000) })
}

function tableElement(columns, rows, caption) {
  const most = rows.length > mostRows ? `${mostRows} of ${rows.length} rows` : `${rows.length} row${rows.length === 1 ? '' : 's'}`
  return element('table', {},
    element('caption', { textContent: caption ?? most }),
    element('thead', {}, element('tr', {}, ...columns.map((c) => element('th', { scope: 'col', textContent: c })))),
    element('tbody', {}, ...rows.slice(0, mostRows).map((r) => element('tr', {}, ...r.map(shown)))))
}

// As an image it can neither run a script nor fetch anything.
function picture(img, svg, alt) {
  if (img.src) URL.revokeObjectURL(img.src)
  img.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  img.alt = alt
}

// --- 1. a table ------------------------------------------------------------------------------------------------------------------
let columns = [] // of the table: name, type

async function listTables(chosen) {
  const names = (await query(`SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace
    AND relname <> '${store}' ORDER BY relname`)).map((r) => r.relname)
  const missing = shipped.filter((n) => !names.includes(n))
  choices($('table'), [...names.map((n) => [`has:${n}`, n]), ...missing.map((n) => [`get:${n}`, `${n} (to load)`])], [chosen ?? $('table').value])
  return names
}

async function loadText(wanted, text) {
  const names = await listTables()
  let name = wanted.replace(/\.[^.]*$/, '').toLowerCase().replace(/[^a-z0-9_]+/g, '_').slice(0, 50) || 'rows'
  for (let k = 2; names.includes(name) || name === store; ++k) name = `${name.replace(/_\d+$/, '')}_${k}`
  const { sql, blob } = tableOf(name, text)
  await ask('run', { sql, blob })
  $('sql').value = sql
  await listTables(`has:${name}`)
  await showTable()
  return `Loaded ${name}.`
}

async function fetchText(file) {
  const answer = await fetch(file)
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`)
  return answer.text()
}

async function chooseTable() {
  const [how, name] = [$('table').value.slice(0, 3), $('table').value.slice(4)]
  if (how === 'get') return loadText(name, await fetchText(`data/${name}.csv`))
  await showTable()
}

async function showTable() {
  const name = $('table').value.slice(4)
  columns = await query(`SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
    WHERE attrelid = ${literal(identifier(name))}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`)
  const [{ n }] = await query(`SELECT count(*)::int AS n FROM ${identifier(name)}`)
  const [first] = await ask('run', { sql: `SELECT * FROM ${identifier(name)} LIMIT 5` })
  $('preview').replaceChildren(tableElement(first.columns, first.rows, `the first of ${n} rows of ${name}`))
  const all = columns.map((c) => [c.name, `${c.name} (${c.type})`])
  const label = columns.find((c) => ['species', 'diagnosis', 'rings'].includes(c.name)) ?? columns.find((c) => c.type !== 'double precision') ?? columns[0]
  choices($('label'), all, [label?.name])
  choices($('exclude'), all, columns.filter((c) => /^(id|.*_id)$/i.test(c.name)).map((c) => c.name))
  listLosses()
}

function listLosses() {
  const type = columns.find((c) => c.name === $('label').value)?.type
  const number = /^(integer|bigint|smallint|double precision|real|numeric)/.test(type)
  // A label of numbers is a number first; of another type the model before may have had the same loss.
  const kinds = [
    ...(number ? [['squared', 'a number: squared loss'], ['absolute', 'a number: absolute loss'], ['poisson', 'a count: Poisson regression']] : []),
    ['logistic', 'a class: logistic regression'], ['hinge', 'a class: support vector machine'], ['', 'a class: the widest margin, if there is one'],
  ]
  choices($('loss'), kinds, [kinds[0][0]])
  $('lambda').disabled = $('loss').value === ''
}

// --- 2. a model --------------------------------------------------------------------------------------------------------------------
async function train() {
  const table = $('table').value.slice(4), label = $('label').value, name = `${table}: ${label}`
  const left = [...new Set([label, ...[...$('exclude').selectedOptions].map((o) => o.value)])]
  const options = [`exclude => ARRAY[${left.map(literal).join(', ')}]`]
  if ($('loss').value !== '') options.push(`loss => ${literal($('loss').value)}`, `lambda => ${$('lambda').value.trim() || 'NULL'}`)
  options.push('history => true')
  if ($('options').value.trim() !== '') options.push($('options').value.trim())
  const sql = `INSERT INTO ${store}
  SELECT ${literal(name)}, ${literal(table)}, ${literal(label)},
         train_margin(_row.${identifier(label)}, _row,
                      margin_options(${options.join(', ')}))
    FROM ${identifier(table)} AS _row
ON CONFLICT (name) DO UPDATE SET model = excluded.model;`
  $('sql').value = sql
  await ask('run', { sql })
  await listModels(name)
  await showModel()
  return `Trained ${name}.${notices.length ? ` ${notices.join(' ')}` : ''}`
}

async function listModels(chosen) {
  const names = (await query(`SELECT name FROM ${store} ORDER BY name`)).map((r) => r.name)
  choices($('models'), names.map((n) => [n, n]), [chosen ?? $('models').value])
  $('model').hidden = $('ask').hidden = names.length === 0
  return names.length > 0
}

const chosenModel = () => `FROM ${store} WHERE name = ${literal($('models').value)}`
const digits = (v) => Number(v.toPrecision(6)).toString()

async function showModel() {
  const [c] = await query(`SELECT c.*, (model).rows::int AS rows, (model).iterations::int AS iterations, (model).solver AS solver, source
    FROM ${store}, margin_certificate(model) AS c WHERE name = ${literal($('models').value)}`)
  const hard = /margin/.test(c.problem) && /hard/.test(c.problem)
  const proof = (hard
    ? `This plane keeps a distance of ${digits(c.lower)} to the nearest row; none has more than ${digits(c.upper)}.`
    : `No model of this kind has an objective (mean loss plus penalty, lower is better) below ${digits(c.lower)}; this one has at most ${digits(c.upper)}.`) +
    ` Status: ${c.status}. ${c.rows} rows, solver ${c.solver}, ${c.iterations} iterations. Recomputed from the rows and the finished model, whatever the solver did.`
  const [{ svg }] = await query(`SELECT margin_plot(model) AS svg ${chosenModel()}`)
  const seen = { name: $('models').value, proof, lower: c.lower, upper: c.upper, hard, svg }
  showProof(seen)
  try { localStorage.setItem(kept, JSON.stringify(seen)) } catch { /* no room, or not allowed: it is shown later */ }
  const importance = await query(`SELECT i.* FROM ${store}, margin_importance(model) AS i WHERE name = ${literal($('models').value)}`)
  choices($('column'), importance.map((i) => [i.column, `${i.column} (${(100 * i.share).toFixed(0)} %)`]))
  await showShape()
  await rowForm(c.source, importance.map((i) => i.column))
}

function showProof({ proof, lower, upper, hard, svg }) {
  $('proof').textContent = proof
  showInterval(lower, upper, hard)
  picture($('history'), svg, `The interval that holds the optimum, iteration by iteration: at the end from ${digits(lower)} to ${digits(upper)}.`)
}

// The model that was shown last, before there is a database to ask.
function showKept() {
  const seen = JSON.parse(localStorage.getItem(kept) ?? 'null')
  if (!seen) return
  choices($('models'), [[seen.name, seen.name]], [seen.name])
  $('model').hidden = false
  showProof(seen)
}

// From 0 on: hatched what no model reaches, solid what is not known. An objective is to be small, a margin large.
function showInterval(lower, upper, hard) {
  const low = Math.min(0, lower), high = upper + (upper - low) * 0.25 || 1
  const part = (name, from, to) => {
    const e = element('div', { className: name })
    e.style.left = `${(100 * (Math.max(from, low) - low)) / (high - low)}%`
    e.style.right = `${100 - (100 * (to - low)) / (high - low)}%`
    return e
  }
  const bounded = Number.isFinite(lower) && lower > low
  $('interval').replaceChildren(...(hard ? [part('never', upper, high)] : bounded ? [part('never', low, lower)] : []), part('band', bounded ? lower : low, upper),
    element('span', { textContent: `The best possible lies between ${digits(lower)} and ${digits(upper)}.` }))
  $('interval').setAttribute('aria-label', `The best possible lies between ${digits(lower)} and ${digits(upper)}.`)
}

async function showShape() {
  const column = $('column').value
  $('noshape').hidden = true
  $('shape').hidden = false
  try {
    const [{ svg }] = await query(`SELECT margin_plot(model, ${literal(column)}) AS svg ${chosenModel()}`)
    picture($('shape'), svg, `What the values of ${column} add to the score.`)
  } catch (e) { // a column of something else than numbers
    $('shape').hidden = true
    $('noshape').hidden = false
    $('noshape').textContent = e.message
  }
}

// --- 3. a row -----------------------------------------------------------------------------------------------------------------------
let fields = []

async function rowForm(source, used) {
  const types = await query(`SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
    WHERE attrelid = to_regclass(${literal(identifier(source))}) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`)
  fields = types.filter((t) => used.includes(t.name))
  $('ask').hidden = fields.length === 0
  if (fields.length === 0) return
  const [row] = await query(`SELECT ${fields.map((f) => `${identifier(f.name)}::text`).join(', ')} FROM ${identifier(source)} LIMIT 1`)
  $('row').replaceChildren(
    ...fields.map((f) => element('label', {}, `${f.name} `, element('input', { name: f.name, size: 10, value: row?.[f.name] ?? '' }))),
    element('button', { textContent: 'Predict and explain' }))
  $('answer').textContent = ''
  $('explained').replaceChildren()
}

async function predict() {
  const values = fields.map((f) => {
    const { value } = $('row').elements[f.name]
    return `${value === '' ? 'NULL' : literal(value)}::${f.type} AS ${identifier(f.name)}`
  })
  // Columns may be named as those of the page's own table.
  const from = `FROM ${store} AS _model, (SELECT ${values.join(', ')}) AS _row`
  const where = `WHERE _model.name = ${literal($('models').value)}`
  const sql = `SELECT margin_predict(_model.model, _row) AS prediction
  ${from}
 ${where};
SELECT _why.* ${from}, margin_explain(_model.model, _row) AS _why
 ${where};`
  $('sql').value = sql
  const [said, why] = await ask('run', { sql })
  const [about] = await query(`SELECT label, (model).classes AS classes, (model).loss AS loss ${chosenModel()}`)
  let text = `${about.label}: ${said.rows[0][0]}`
  if (about.loss === 'logistic') {
    const [p] = await query(`SELECT margin_probabilities(_model.model, _row) AS p ${from} ${where}`)
    const classes = JSON.parse(about.classes), shares = JSON.parse(p.p)
    text += ` (${classes.map((c, k) => `${c} ${(100 * shares[k]).toFixed(1)} %`).join(', ')})`
  }
  $('answer').textContent = text
  $('explained').replaceChildren(explanation(why))
}

// margin_explain has a line for each column and class; here a class is a column.
function explanation({ columns, rows }) {
  const [feature, kind, value, adds] = ['feature', 'class', 'value', 'contribution'].map((c) => columns.indexOf(c))
  const kinds = [...new Set(rows.map((r) => r[kind]))], features = [...new Set(rows.map((r) => r[feature]))]
  const cell = (f, k) => rows.find((r) => r[feature] === f && r[kind] === k)
  const names = kinds.map((k) => (k === null ? 'adds' : `adds to ${k}`))
  return tableElement(['column', 'value', ...names],
    features.map((f) => [f, rows.find((r) => r[feature] === f)[value], ...kinds.map((k) => cell(f, k)?.[adds] ?? null)]), 'what each column adds to the score')
}

// --- SQL ----------------------------------------------------------------------------------------------------------------------------
let tutorial = []

// The parts of docs/tutorial.md; other commands of psql than \copy have no meaning here, and leave their part out.
async function readTutorial() {
  const text = await fetchText('tutorial.md')
  tutorial = text.split(/^## /m).slice(1).map((part) => {
    const sql = [...part.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map((m) => m[1].trim()).join('\n\n')
    return { title: part.slice(0, part.indexOf('\n')), sql: sql.replace('CREATE EXTENSION margin', 'CREATE EXTENSION IF NOT EXISTS margin') }
  }).filter((p) => p.sql !== '' && !/^\\(?!copy)/m.test(p.sql))
  choices($('examples'), [['', 'the last ones'], ...tutorial.map((p, k) => [String(k), p.title])])
}

async function runEditor() {
  $('results').replaceChildren()
  for (const part of $('sql').value.split(/^(\\copy .*)$/m)) {
    if (part.trim() === '') continue
    const copy = /^\\copy\s+(\S+)\s+FROM\s+'(?:[^']*\/)?([^'/]+)'\s*(.*?);?\s*$/i.exec(part)
    const sql = copy ? `COPY ${copy[1]} FROM '/dev/blob' ${copy[3]}` : part
    const blob = copy ? new Blob([await fetchText(`data/${encodeURIComponent(copy[2])}`)]) : undefined
    for (const r of await ask('run', { sql, blob }))
      if (r.columns.length > 0) $('results').append(element('div', { className: 'scroll', tabIndex: 0 }, tableElement(r.columns, r.rows)))
    if (notices.length) $('results').append(element('pre', { textContent: notices.join('\n') }))
    notices = []
  }
  await listTables()
  await listModels()
}

// --- begin ----------------------------------------------------------------------------------------------------------------------------
const load = (file) => file && doing(`Loading ${file.name}.`, async () => loadText(file.name, await file.text()))
$('cancel').addEventListener('click', cancel)
$('table').addEventListener('change', () => doing('Loading.', chooseTable))
$('file').addEventListener('change', (e) => load(e.target.files[0]))
$('label').addEventListener('change', listLosses)
$('loss').addEventListener('change', () => { $('lambda').disabled = $('loss').value === '' })
$('train').addEventListener('submit', (e) => { e.preventDefault(); doing('Training.', train) })
$('models').addEventListener('change', () => doing('Reading the model.', showModel))
$('column').addEventListener('change', () => doing('Drawing.', showShape))
$('row').addEventListener('submit', (e) => { e.preventDefault(); doing('Predicting.', predict) })
$('run').addEventListener('click', () => doing('Running.', runEditor))
$('sql').addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); doing('Running.', runEditor) } })
$('examples').addEventListener('change', () => { const p = tutorial[$('examples').value]; if (p) $('sql').value = p.sql })
$('reset').addEventListener('click', () => {
  if (!confirm('Remove all tables and models that this page keeps in this browser?')) return
  worker.terminate()
  localStorage.removeItem(kept)
  const removed = indexedDB.deleteDatabase(`/pglite/${database}`)
  removed.onsuccess = () => location.reload()
  removed.onerror = removed.onblocked = () => fail(new Error('The database is open in another tab: close that first.'))
})
for (const [name, over] of [['dragover', true], ['dragleave', false], ['drop', false]])
  $('drop').addEventListener(name, (e) => {
    e.preventDefault()
    $('drop').classList.toggle('over', over)
    if (name === 'drop') load(e.dataTransfer.files[0])
  })

doing('Starting PostgreSQL.', async () => {
  try { showKept() } catch { localStorage.removeItem(kept) } // of another version of this page
  await alone()
  await start()
  const names = await listTables()
  const known = names.find((n) => !shipped.includes(n)) ?? names[0]
  $('table').value = known ? `has:${known}` : 'get:iris'
  await chooseTable()
  if (await listModels()) await showModel()
  await readTutorial()
  return 'Ready.'
}, false)
navigator.serviceWorker?.register('sw.js')

// PostgreSQL with margin, in a thread of its own: the page stays alive while it trains, and ends a training by ending the thread.
import { PGlite } from './pglite/index.js'

let db
const say = (message) => postMessage(message)
const notice = (id) => (n) => say({ id, notice: { severity: n.severity, message: n.message, hint: n.hint } })

async function exists(name) {
  if (!indexedDB.databases) return false
  return (await indexedDB.databases()).some((d) => d.name === `/pglite/${name}`)
}

const fetched = async (url) => {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`)
  return answer.blob()
}

// A directory with a cluster that has the extension: to make one takes four seconds.
async function open(name) {
  const options = { dataDir: `idb://${name}`, extensions: { margin: new URL('./margin.tar.gz', import.meta.url) } }
  if (!(await exists(name))) options.loadDataDir = await fetched('./data-directory.tar.gz')
  db = await PGlite.create(options)
  await db.exec('CREATE EXTENSION IF NOT EXISTS margin; ALTER EXTENSION margin UPDATE')
}

const asks = {
  open: ({ name }) => open(name),
  // Each statement's columns and rows, as text where the value is not a number, a boolean or NULL.
  run: async ({ id, sql, blob }) => {
    const results = await db.exec(sql, { blob, rowMode: 'array', onNotice: notice(id) })
    return results.map((r) => ({
      affected: r.affectedRows,
      columns: r.fields.map((f) => f.name),
      rows: r.rows.map((row) => row.map(plain)),
    }))
  },
  query: async ({ id, sql, parameters }) => {
    const r = await db.query(sql, parameters ?? [], { onNotice: notice(id) })
    return r.rows.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, plain(v)])))
  },
}

function plain(v) {
  if (v === null || ['number', 'boolean', 'string'].includes(typeof v)) return v
  if (typeof v === 'bigint') return v.toString()
  if (v instanceof Date) return v.toISOString()
  return JSON.stringify(v)
}

async function answer(data) {
  try {
    say({ id: data.id, done: await asks[data.ask](data) })
  } catch (e) {
    say({ id: data.id, error: { message: e.message, detail: e.detail, hint: e.hint, code: e.code } })
  }
}

// One after the other: what is asked while the database opens waits for it.
let last = Promise.resolve()
addEventListener('message', ({ data }) => { last = last.then(() => answer(data)) })

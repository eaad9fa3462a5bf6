// regress.mjs PACKAGE REPOSITORY RESULTS EXCEPTIONS [FILE,...]: the files of sql/regress through psql against PGlite, each in a database of
// its own. Prints TAP. EXCEPTIONS: a line `file lines: cause` for each whose output differs in as many lines, and below it, indented, how
// lines of the file begin that are not sent.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

// A server is a thread: nothing else can end what runs in it.
if (!isMainThread) {
  const { PGlite } = await import('@electric-sql/pglite')
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket')
  const { margin } = await import(pathToFileURL(resolve(workerData.packaged, 'index.js')))
  const db = await PGlite.create({ extensions: { margin }, loadDataDir: workerData.directory && new Blob([workerData.directory]) })
  if (workerData.path) {
    // The files of psql's commands are there under their names.
    const { FS, NODEFS } = db.Module, files = dirname(workerData.path)
    FS.mkdirTree(files)
    FS.mount(NODEFS, { root: files }, files)
    await new PGLiteSocketServer({ db, path: workerData.path }).start()
    parentPort.postMessage('ready')
  } else {
    // As pg_regress has its sessions, after a RESET as well.
    await db.exec('CREATE EXTENSION margin')
    for (const [name, value] of [['timezone', 'PST8PDT'], ['datestyle', 'Postgres, MDY'], ['intervalstyle', 'postgres_verbose']])
      await db.exec(`ALTER SYSTEM SET ${name} = '${value}'`)
    parentPort.postMessage(new Uint8Array(await (await db.dumpDataDir('none')).arrayBuffer()))
  }
} else {
  const [packaged, repository, results, exceptions, only] = process.argv.slice(2)
  const known = new Map()
  for (const line of readFileSync(exceptions, 'utf8').split('\n').filter((l) => l !== '' && !l.startsWith('#'))) {
    const [, name, lines, cause] = /^(\w+) (\d+): (.*)/.exec(line) ?? []
    if (name) known.set(name, { lines: Number(lines), cause, left: [] })
    else [...known.values()].at(-1).left.push(line.trim())
  }
  const files = readdirSync(join(repository, 'sql/regress')).filter((f) => f.endsWith('.sql')).map((f) => f.slice(0, -4)).sort()
    .filter((f) => !only || only.split(',').includes(f))
  mkdirSync(results, { recursive: true })
  const sockets = mkdtempSync(join(tmpdir(), 'margin-pglite-'))

  const server = async (data) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { packaged, ...data } })
    const [said] = await once(worker, 'message')
    return { worker, said }
  }
  const first = await server({})
  await first.worker.terminate()

  // PGlite has one connection at a time; psql's \c opens another before it closes the first.
  let before
  const between = createServer(async (client) => {
    if (before) {
      before.destroy()
      await sleep(200)
    }
    const there = before = createConnection(join(sockets, 'pglite'))
    for (const one of [client, there]) one.on('error', () => {})
    client.pipe(there).pipe(client)
  })
  await new Promise((listening) => between.listen(join(sockets, '.s.PGSQL.5432'), listening))

  let number = 0, failed = 0, same = 0
  for (const file of files) {
    const { lines, cause, left } = known.get(file) ?? { lines: 0, cause: '', left: [] }
    const statements = readFileSync(join(repository, `sql/regress/${file}.sql`), 'utf8').split('\n').filter((l) => !left.some((begin) => l.startsWith(begin))).join('\n')
    const written = join(results, `${file}.sql`)
    writeFileSync(written, statements)
    const { worker } = await server({ directory: first.said, path: join(sockets, 'pglite') })
    const input = openSync(written, 'r'), output = openSync(join(results, `${file}.out`), 'w')
    const begun = performance.now()
    const psql = spawn('psql', ['-X', '-a', '-q', '-h', sockets, '-U', 'postgres', '-d', 'postgres', '-v', 'HIDE_TABLEAM=on', '-v', 'HIDE_TOAST_COMPRESSION=on'],
      { stdio: [input, output, output], env: { ...process.env, PGSSLMODE: 'disable', PGGSSENCMODE: 'disable', PGCLIENTENCODING: 'UTF8', TMPDIR: sockets } })
    const timer = setTimeout(() => psql.kill('SIGKILL'), 300e3)
    const [status] = await once(psql, 'exit')
    clearTimeout(timer)
    const seconds = (performance.now() - begun) / 1000
    closeSync(input)
    closeSync(output)
    await worker.terminate()
    rmSync(join(sockets, 'pglite'), { force: true })
    before = undefined
    const difference = spawnSync('diff', ['-U1', join(repository, `expected/regress/${file}.out`), join(results, `${file}.out`)], { encoding: 'utf8' }).stdout
    const differing = difference.split('\n').slice(2).filter((l) => /^[-+]/.test(l)).length
    if (differing === 0 && status === 0) ++same
    writeFileSync(join(results, `${file}.diff`), difference)
    const good = differing === lines && status === 0
    if (!good) ++failed
    console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${file}${lines > 0 ? ` differs in ${lines} lines: ${cause}` : ''}`)
    console.log(`# ${seconds.toFixed(1)} s`)
    if (!good) console.log(`# it differs in ${differing} lines\n${difference.split('\n').slice(0, 40).map((l) => `# ${l}`).join('\n')}`)
  }
  between.close()
  rmSync(sockets, { recursive: true })
  console.log(`# ${same} of ${files.length} files byte-identical`)
  process.exit(failed === 0 ? 0 : 1)
}

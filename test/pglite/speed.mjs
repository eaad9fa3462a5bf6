// speed.mjs PACKAGE REPEATS: seconds of CPU of six trainings, the best of REPEATS, one line `name seconds` each; on the statements of speed.sql.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

const { margin } = await import(pathToFileURL(resolve(process.argv[2], 'index.js')))
const db = await PGlite.create({ extensions: { margin } })
await db.exec('CREATE EXTENSION margin')
const parts = (await readFile(new URL('speed.sql', import.meta.url), 'utf8')).split(/^-- (.*)$/m).slice(1)
for (let k = 0; k < parts.length; k += 2) {
  const [name, sql] = [parts[k].trim(), parts[k + 1]]
  let best = Infinity
  for (let n = 0; n < (name === 'rows' ? 1 : Number(process.argv[3] ?? 3)); ++n) {
    const begun = process.cpuUsage()
    await db.exec(sql)
    const { user, system } = process.cpuUsage(begun)
    best = Math.min(best, (user + system) / 1e6)
  }
  if (name !== 'rows') console.log(`${name}\t${best.toFixed(4)}`)
}
await db.close()

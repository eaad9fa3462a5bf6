// data_directory.mjs PACKAGE FILE: a cluster that has the extension, as the page loads it: to make one in the browser takes seconds.
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'

const { margin } = await import(pathToFileURL(resolve(process.argv[2], 'index.js')))
const db = await PGlite.create({ extensions: { margin } })
await db.exec('CREATE EXTENSION margin')
await db.exec('VACUUM FREEZE')
await db.exec('CHECKPOINT')
const directory = await db.dumpDataDir('gzip')
await writeFile(process.argv[3], Buffer.from(await directory.arrayBuffer()))
await db.close()

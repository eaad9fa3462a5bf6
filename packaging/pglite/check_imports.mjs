// check_imports.mjs MARGIN.so PGLITE.wasm: every import of the side module is one that the pinned main module gives, or its loader makes.
import { readFile } from 'node:fs/promises'

const [side, main] = await Promise.all(process.argv.slice(2, 4).map(async (path) => WebAssembly.compile(await readFile(path))))
const exported = new Set(WebAssembly.Module.exports(main).map((e) => e.name))
const javascript = new Set(WebAssembly.Module.imports(main).map((i) => i.name))
// The loader's own: memory, tables, where the module lies; calls that a longjmp may leave.
const own = new Set(['memory', '__indirect_function_table', '__memory_base', '__table_base', '__stack_pointer', 'getTempRet0', 'setTempRet0'])
const resolves = ({ module, name }) =>
  module === 'env' ? exported.has(name) || javascript.has(name) || own.has(name) || name.startsWith('invoke_')
    : (module === 'GOT.func' || module === 'GOT.mem') && exported.has(name)
const imports = WebAssembly.Module.imports(side)
const lost = imports.filter((i) => !resolves(i))
for (const i of lost) console.log(`${i.kind} ${i.module}.${i.name}: PGlite has nothing of this name`)
const sql = WebAssembly.Module.exports(side).map((e) => e.name)
for (const name of ['_PG_init', 'Pg_magic_func']) if (!sql.includes(name)) { console.log(`${name} is not exported`); lost.push(name) }
console.error(`${imports.length} imports, ${sql.length} exports, ${lost.length} unresolved`)
process.exit(lost.length === 0 ? 0 : 1)

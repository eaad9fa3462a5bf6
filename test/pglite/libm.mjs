// libm.mjs PGLITE.wasm MATHS.wasm: what the functions of mathematics that a training uses in PGlite return, for libm.cpp to judge:
// lines `name x y result`, each number as its 64 bits. Those of the main module, and those that the package brings.
import { readFile } from 'node:fs/promises'

const module = await WebAssembly.compile(await readFile(process.argv[2]))
const memory = new WebAssembly.Memory({ initial: 2048, maximum: 32768 }), table = new WebAssembly.Table({ element: 'anyfunc', initial: 8192 })
const imports = {}
for (const i of WebAssembly.Module.imports(module)) {
  imports[i.module] ??= {}
  imports[i.module][i.name] = i.kind === 'memory' ? memory : i.kind === 'table' ? table
    : i.kind === 'global' ? new WebAssembly.Global({ value: 'i32', mutable: i.name === '__stack_pointer' || i.module.startsWith('GOT') }, 1 << 20) : i.kind === 'tag' ? new WebAssembly.Tag({ parameters: ['i32'] }) : () => 0
}
const main = (await WebAssembly.instantiate(module, imports)).exports
const own = (await WebAssembly.instantiate(await readFile(process.argv[3]), { env: main })).instance.exports

let state = 12345n // the same numbers in every run
const uniform = () => { state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn; return Number(state >> 11n) / 2 ** 53 }
const between = (a, b) => a + (b - a) * uniform()
const small = () => (uniform() < 0.5 ? -1 : 1) * 2 ** between(-60, 0)
const view = new DataView(new ArrayBuffer(8))
const bits = (x) => { view.setFloat64(0, x); return view.getBigUint64(0).toString(16).padStart(16, '0') }
const kinds = {
  exp: [() => [between(-708, 709)], () => [small()]], log: [() => [2 ** between(-1000, 1000)], () => [1 + small() / 4]],
  exp2: [() => [between(-1000, 1000)]], log2: [() => [2 ** between(-1000, 1000)], () => [1 + small() / 4]], tanh: [() => [between(-20, 20)], () => [small()]],
  sqrt: [() => [2 ** between(-1000, 1000)]], hypot: [() => [2 ** between(-300, 300), 2 ** between(-300, 300)], () => [between(0, 1), between(0, 1)]],
  pow: [() => [2 ** between(-20, 20), between(-30, 30)], () => [between(0.5, 2), between(-300, 300)]],
  log1p: [() => [small() / 2], () => [2 ** between(-50, 900)]], expm1: [() => [small()], () => [between(-30, 700)]], erfc: [() => [between(-5, 26)]],
  fma: [() => { const x = between(1, 2), y = between(1, 2); return [x, y, -(x * y) * (1 + Math.round(between(-2, 2)) * 2 ** -52)] }],
}
const out = []
for (const [name, draws] of Object.entries(kinds)) {
  const f = own[name] ?? main[name]
  if (!f) throw new Error(`no ${name}`)
  for (const draw of draws)
    for (let k = 0; k < 5000; ++k) {
      const a = draw()
      out.push(`${name} ${[...a, 0, 0].slice(0, 3).map(bits).join(' ')} ${bits(f(...a))}`)
    }
}
process.stdout.write(out.join('\n') + '\n')

// page.mjs SITE PICTURES: the page of demo/browser in headless Chromium. Prints TAP; pictures at 1280 and 390 pixels go to PICTURES.
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { chromium } from 'playwright-core'

const [site, pictures] = process.argv.slice(2)
mkdirSync(pictures, { recursive: true })
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.json': 'application/json' }
const server = createServer((request, response) => { // as python3 -m http.server: no headers but these
  const path = join(site, normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)).replace(/\/$/, '/index.html'))
  if (!existsSync(path)) return response.writeHead(404).end()
  const { mtime, size } = statSync(path), since = request.headers['if-modified-since']
  if (since && new Date(since) >= new Date(Math.floor(mtime / 1000) * 1000)) return response.writeHead(304).end()
  response.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'application/octet-stream', 'Content-Length': size, 'Last-Modified': mtime.toUTCString() })
  createReadStream(path).pipe(response)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${server.address().port}/`

const profile = mkdtempSync(join(tmpdir(), 'margin-page-'))
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, viewport: { width: 1280, height: 900 },
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
const page = context.pages()[0] ?? await context.newPage()
const foreign = [], dialogs = [], thrown = []
context.on('request', (r) => { if (!r.url().startsWith(address) && !r.url().startsWith('blob:')) foreign.push(r.url()) })
page.on('dialog', (d) => { dialogs.push(d.message()); d.accept() })
page.on('pageerror', (e) => thrown.push(e.message))
page.on('console', (m) => { if (m.type() === 'error') thrown.push(m.text()) })

let number = 0, failed = 0
const ok = (good, name, more) => {
  if (!good) ++failed
  console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${name}`)
  if (more !== undefined) console.log(`# ${more}`)
}
/** Seconds since `begun` are at most `most`: on a core that nobody else uses. */
const within = (most, begun, name) => {
  const seconds = (performance.now() - begun) / 1000, busy = loadavg()[0] > availableParallelism()
  ok(busy || seconds <= most, `${name}: ${seconds.toFixed(2)} s${busy ? ', on a busy machine' : ''}`)
}
const status = () => page.textContent('#status')
const until = async (pattern, seconds = 120) => {
  await page.waitForFunction((p) => new RegExp(p).test(document.getElementById('status').textContent) && document.getElementById('busy').hidden, pattern, { timeout: seconds * 1000 })
  return status()
}
const drawn = (id) => page.$eval(id, (i) => i.complete && i.naturalWidth > 0 && i.alt.length > 20)
const train = async () => { await page.click('#train button'); return until('^(?!Training)', 300) }

try {
  let begun = performance.now()
  await page.goto(address)
  await until('^Ready')
  const ready = (performance.now() - begun) / 1000
  ok((await page.$$eval('#preview tbody tr', (r) => r.length)) === 5, 'opens, with a table shown', `ready after ${ready.toFixed(2)} s: ${await status()}`)
  ok(/^Trained iris: species/.test(await train()), 'trains', await status())
  within(10, begun, 'the first certified model after opening the page')
  ok(/No model of this kind has an objective .* below 0\.\d+; this one has at most 0\.\d+\. Status: optimal/.test(await page.textContent('#proof')), 'shows the interval', await page.textContent('#proof'))
  ok(await drawn('#history'), 'draws the history')
  ok(await drawn('#shape'), 'draws what a column adds')
  await page.click('#row button')
  ok(/^species: \w+ \(.* \d+\.\d %\)/.test((await until('^Done') && await page.textContent('#answer'))), 'predicts a row', await page.textContent('#answer'))
  ok((await page.$$eval('#explained tbody tr', (r) => r.length)) >= 4, 'explains it')
  await page.evaluate(() => scrollTo(0, 0))
  await page.screenshot({ path: join(pictures, 'page-1280.png'), fullPage: true })

  await page.fill('#options', 'lamda => 1')
  ok(/lamda/.test(await train()) && await page.$eval('#status', (s) => s.classList.contains('error')), 'survives a wrong name of an option', await status())
  await page.fill('#options', 'tolerance => -1')
  ok(/tolerance/.test(await train()) && await page.$eval('#status', (s) => s.classList.contains('error')), 'survives a wrong value of an option', await status())
  await page.fill('#options', '')
  ok(/^Trained/.test(await train()), 'and trains after that')

  // A file with hostile names and values.
  const hostile = '"<img src=x onerror=alert(1)>",a"\'b,y\n<script>alert(2)</script>,1.5,t\n"two, lines\nof ""text""",-2,f\nx,3e2,t\n,4,f\n'
  writeFileSync(join(profile, 'my rows!.csv'), hostile.replace("a\"'b", "\"a\"\"'b\""))
  await page.setInputFiles('#file', join(profile, 'my rows!.csv'))
  ok(/^Loaded my_rows_/.test(await until('^(?!Loading)')), 'loads a CSV file', await status())
  ok((await page.textContent('#preview')).includes('<script>alert(2)</script>') && (await page.$$('#preview img, #preview script')).length === 0 && dialogs.length === 0, 'shows its values as text')
  await page.selectOption('#label', 'y')
  ok(/^Trained my_rows_: y/.test(await train()) && dialogs.length === 0, 'trains on it', await status())

  // Numbers, and names that a picture and a statement have to quote.
  await page.selectOption('#table', 'get:breast_cancer')
  await until('^Loaded breast_cancer')
  ok(/^Trained breast_cancer: diagnosis/.test(await train()), 'trains on another shipped table', await status())

  await page.selectOption('#examples', '0')
  await page.click('#run')
  await until('^Done')
  ok((await page.textContent('#results')).includes('malignant'), 'runs the first part of the tutorial')

  // A long training, its progress, and its end.
  await page.fill('#sql', `CREATE TABLE before AS SELECT 1 AS kept`)
  await page.click('#run')
  await until('^Done')
  await page.fill('#sql', `SELECT train_margin((sin(i * 1.7) + sin(i * i) > 0), ARRAY[sin(i), cos(i * 3.1), sin(i * 0.7), cos(i * i)],
    margin_options(lambda => 1e-9, kernel => 'rbf', tolerance => 1e-12)) IS NOT NULL FROM generate_series(1, 30000) AS i`)
  await page.click('#run')
  let progress = ''
  for (let k = 0; k < 60 && !/iteration/.test(progress); ++k) { await page.waitForTimeout(250); progress = await status() }
  ok(/iteration \d+, objective in \[/.test(progress), 'shows the progress of a training', progress)
  begun = performance.now()
  await page.click('#cancel')
  await until('^Cancelled')
  ok(true, 'cancels it', `${((performance.now() - begun) / 1000).toFixed(2)} s`)
  await page.fill('#sql', 'SELECT kept FROM before')
  await page.waitForFunction(() => !document.getElementById('run').disabled)
  await page.click('#run')
  await until('^Done')
  ok((await page.textContent('#results tbody')).trim() === '1', 'and what was there is there')

  await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistration())?.active?.state === 'activated')
  begun = performance.now()
  await page.reload()
  await page.waitForFunction(() => /Status: /.test(document.getElementById('proof').textContent) && document.getElementById('history').naturalWidth > 0)
  ok(await drawn('#history'), 'shows the model of the last visit before the database is there')
  within(2, begun, 'a kept model on the second visit')
  await until('^Ready')
  ok((await page.$$eval('#models option', (o) => o.map((x) => x.value))).includes('iris: species'), 'reloads with models kept')
  await page.selectOption('#models', 'iris: species')
  await until('^Done')
  ok(await drawn('#history'), 'and draws one of them')

  // Keyboard and screen reader.
  const unnamed = await page.$$eval('input, select, textarea, button', (all) => all.filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML))
  ok(unnamed.length === 0, 'every control has a name', unnamed.join(' ') || undefined)
  await page.selectOption('#table', 'has:iris')
  await until('^(Done|Ready)')
  await page.focus('#lambda')
  await page.keyboard.press('Enter')
  ok(/^Trained iris/.test(await until('^(?!Training|Done)')), 'trains by the keyboard')
  await page.focus('#sql')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('SELECT 6 * 7 AS answer')
  await page.keyboard.press('Control+Enter')
  await until('^Done')
  ok((await page.textContent('#results tbody')).trim() === '42', 'runs a statement by the keyboard')

  await page.setViewportSize({ width: 390, height: 844 })
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'is no wider than a phone', `${await page.evaluate(() => document.documentElement.scrollWidth)} pixels`)
  await page.evaluate(() => scrollTo(0, 0))
  await page.screenshot({ path: join(pictures, 'page-390.png'), fullPage: true })
  await page.setViewportSize({ width: 1280, height: 900 })

  await context.setOffline(true)
  server.close()
  server.closeAllConnections()
  await page.reload()
  ok(/^Ready/.test(await until('^Ready')), 'works without a network')
  await context.setOffline(false)
  ok(foreign.length === 0, 'asks no other host', foreign.join(' ') || undefined)
  const known = thrown.filter((t) => !/net::ERR/.test(t))
  ok(known.length === 0, 'no error in the console', known.join(' | ') || undefined)
} catch (e) {
  ok(false, `the page's test ended: ${e.message.split('\n')[0]}`, await status().catch(() => ''))
  await page.screenshot({ path: join(pictures, 'failed.png'), fullPage: true }).catch(() => {})
} finally {
  await context.close()
  server.close()
  rmSync(profile, { recursive: true, force: true })
}
process.exit(failed === 0 ? 0 : 1)

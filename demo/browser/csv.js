// What a CSV file is for the server: names and types of columns. The server reads the rows itself (COPY).

/** Rows of fields; quoted ones may hold delimiters, line ends and doubled quotes. */
export function parse(text, delimiter) {
  const rows = []
  let row = [], field = '', quoted = false, at = 0
  const end = () => { row.push(field); field = '' }
  for (; at < text.length; ++at) {
    const c = text[at]
    if (quoted) {
      if (c !== '"') field += c
      else if (text[at + 1] === '"') field += text[++at]
      else quoted = false
    } else if (c === '"') quoted = true
    else if (c === delimiter) end()
    else if (c === '\n' || c === '\r') {
      if (c === '\r' && text[at + 1] === '\n') ++at
      end(); rows.push(row); row = []
    } else field += c
  }
  if (field !== '' || row.length > 0) { end(); rows.push(row) }
  return rows
}

export function delimiterOf(text) {
  const line = text.slice(0, text.search(/[\r\n]|$/))
  const count = (c) => line.split(c).length
  return [',', ';', '\t'].reduce((best, c) => (count(c) > count(best) ? c : best))
}

/** The narrowest type that all values have; empty ones are NULL. */
export function typeOf(values) {
  const all = (pattern) => values.every((v) => v === '' || pattern.test(v))
  if (values.every((v) => v === '')) return 'text'
  if (all(/^(true|false|t|f)$/i)) return 'boolean'
  if (all(/^[+-]?(0|[1-9]\d{0,8})$/)) return 'integer'
  if (all(/^[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i)) return 'double precision'
  return 'text'
}

/** Names as the header has them, without repetition, of at most 63 bytes. */
export function namesOf(header) {
  const short = (name, bytes) => {
    while (new TextEncoder().encode(name).length > bytes) name = name.slice(0, -1)
    return name
  }
  const names = []
  header.forEach((given, k) => {
    const name = short(given.trim(), 63) || `column_${k + 1}`
    names.push(names.includes(name) ? `${short(name, 56)}_${k + 1}` : name)
  })
  return names
}

export const identifier = (name) => `"${name.replaceAll('"', '""')}"`
export const literal = (text) => (text === null ? 'NULL' : `'${String(text).replaceAll("'", "''")}'`)

/** The statements that make a table of a file, and the file as COPY reads it ('/dev/blob'). */
export function tableOf(name, text) {
  text = text.replace(/^\uFEFF/, '')
  const delimiter = delimiterOf(text)
  const [header, ...rows] = parse(text, delimiter)
  if (!header || rows.length === 0) throw new Error('The file has no rows below its names of columns.')
  const names = namesOf(header)
  const columns = names.map((n, k) => `${identifier(n)} ${typeOf(rows.map((r) => r[k] ?? ''))}`)
  return {
    sql: `CREATE TABLE ${identifier(name)} (${columns.join(', ')});\n` +
      `COPY ${identifier(name)} FROM '/dev/blob' (FORMAT csv, HEADER, DELIMITER ${delimiter === '\t' ? "E'\\t'" : literal(delimiter)});`,
    blob: new Blob([text]),
  }
}

import type { Extension } from '@electric-sql/pglite'

/** For `new PGlite({ extensions: { margin } })`; then `CREATE EXTENSION margin` once in a database. */
export declare const margin: Extension

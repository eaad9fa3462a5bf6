// new PGlite({ extensions: { margin } }), then CREATE EXTENSION margin.
export const margin = {
  name: 'margin',
  setup: async (_pg, emscriptenOpts) => ({
    emscriptenOpts,
    bundlePath: new URL('./margin.tar.gz', import.meta.url),
  }),
}

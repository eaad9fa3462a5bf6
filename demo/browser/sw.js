// The page without a network: what was fetched is kept, and used where the server cannot be reached.
const kept = 'margin'

// All files at once: those of this visit were fetched before there was a service worker.
addEventListener('install', (event) => event.waitUntil(keepAll().then(() => skipWaiting())))
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return
  event.respondWith(answer(request))
})

async function keepAll() {
  const files = await (await fetch('files.json')).json()
  await (await caches.open(kept)).addAll(files)
}

async function answer(request) {
  const cache = await caches.open(kept)
  try {
    const fresh = await fetch(request, { cache: 'no-cache' }) // asks whether it has changed
    if (fresh.ok) await cache.put(request, fresh.clone())
    return fresh
  } catch (e) {
    const old = await cache.match(request, { ignoreSearch: true })
    if (old) return old
    throw e
  }
}

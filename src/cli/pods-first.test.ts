import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Everything that importing these loads: files of ours, and names of what is not. */
function loadedBy(...entries: string[]): Set<string> {
  const loaded = new Set<string>()
  const waiting = entries.map(entry => new URL(entry, import.meta.url).href)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (loaded.has(next)) continue
    loaded.add(next)
    if (!next.startsWith('file:')) continue
    const imports = readFileSync(new URL(next), 'utf8').matchAll(/^import (?!type )[^']*'([^']+)'/gm)
    for (const [, name = ''] of imports) waiting.push(name.startsWith('.') ? new URL(name, next).href : name)
  }
  return loaded
}

test('static pods are started before TLS, metrics, streaming and the agent are loaded', () => {
  const rooms = [
    '../agent/start-static-pods.ts',
    '../pods/process/process-runtime.ts',
    '../pods/cri/cri-runtime.ts',
  ]
  const host = ['../cluster/host-ports.ts', '../host/net.ts', '../host/rpc.ts', '../host/spawn.ts']
  const loaded = loadedBy('./main.ts', './agent.ts', './start-pods-first.ts', ...rooms, ...host)
  const names = [...loaded].map(name => name.replace(/^.*\/src\//, ''))
  assert.ok(names.includes('pods/static-pods.ts') && names.includes('yaml'))
  const heavy =
    /^(agent\/agent|hold\/|join\/(?!discovery\/parse-pin)|trust\/|x509\/(?!ip\.))|^(node:https?|node:tls|ws|prom-client|undici|@grpc.*)$/
  assert.deepEqual(
    names.filter(name => heavy.test(name)),
    [],
  )
})

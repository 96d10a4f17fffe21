/** A server's folder with a fleet in it, as if its nodes had joined. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { signerNames } from '../src/kube/types.ts'
import { encodeLeaf } from '../src/sign/leaf.ts'

const now = Date.now()
const iso = (milliseconds: number) => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')

/** Writes nodes, with two certificates each, straight into the databases of a server that does not run. */
export function fillFleet(folder: string, nodes: number): void {
  const names = Array.from({ length: nodes }, (_, n) => `worker-${n + 1}`)
  const state = new DatabaseSync(join(folder, 'state.db'))
  let revision = Number(state.prepare('SELECT revision FROM last').get()?.revision)
  const put = state.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, NULL)')
  state.exec('BEGIN')
  for (const [n, name] of names.entries()) {
    revision += 1
    put.run(`registry/core/nodes/${name}`, Buffer.from(JSON.stringify(node(name, n))), revision, revision)
  }
  state.prepare('UPDATE last SET revision = ?').run(revision)
  state.exec('COMMIT')
  state.close()
  const ledger = new DatabaseSync(join(folder, 'ledger.db'))
  const record = ledger.prepare('INSERT INTO leaves (ca, serial, not_after, leaf) VALUES (?, ?, ?, ?)')
  ledger.exec('BEGIN')
  for (const [n, name] of names.entries())
    for (const [kind, signerName] of [signerNames.kubeletClient, signerNames.kubeletServing].entries()) {
      const serialNumber = String(n * 2 + kind).padStart(16, '0')
      // Spread over a day: some are due, some late, some have ended.
      const notBefore = now - Math.floor((((n * 7919 + kind * 31) % 1000) / 980) * 86_400_000)
      const leaf = { serialNumber, signerName, notBefore, notAfter: notBefore + 86_400_000 }
      const text = encodeLeaf({
        ...leaf,
        ...common,
        holder: `system:node:${name}`,
        request: { name: `csr-${n}` },
      })
      record.run(common.issuerFingerprint, serialNumber, leaf.notAfter, text)
    }
  ledger.exec('COMMIT')
  ledger.close()
}

const common = {
  issuer: 'CN=kubernetes',
  issuerFingerprint: 'ab'.repeat(32),
  dnsNames: [],
  ipAddresses: [],
  publicKeyHash: 'cd'.repeat(32),
}

function node(name: string, n: number) {
  const time = iso(now)
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: time, lastTransitionTime: time }]
  const uid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, uid, creationTimestamp: time },
    spec: {},
    status: { conditions, addresses: [{ type: 'InternalIP', address: `10.0.${n >> 8}.${n & 255}` }] },
  }
}

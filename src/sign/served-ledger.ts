/**
 * The ledger of the embedded control plane as its API serves it, read-only: `up` and `server` keep leaves in a table, and
 * requests are deleted an hour after they were answered (C-40).
 */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { isRecord } from '../kube/json.ts'
import { readConfigMapLedger } from './config-map-ledger.ts'
import { keyOf, type LedgerReading, readLine } from './ledger-line.ts'

/** RBAC: `nonResourceURLs: [/rollcall/ledger], verbs: [get]`. */
export const servedLedgerPath = '/rollcall/ledger'

/** Lines as a ConfigMap of the ledger holds them. */
export interface ServedLedger {
  data: Record<string, string>
}

/** Key and line of one leaf; `ca`: SHA-256 of the CA's DER, hexadecimal. */
export function servedLine(serialNumber: string, ca: string, line: string): [string, string] {
  return [keyOf({ serialNumber, issuerFingerprint: ca }), line]
}

/** What either ledger tells to whoever asks; nothing where there is none, or no right to read it. */
export async function readLedger(client: KubeClient): Promise<LedgerReading> {
  const readings = await Promise.all([readServed(client), readConfigMapLedger(client)].map(orNothing))
  return {
    leaves: readings.flatMap(({ leaves }) => leaves),
    unreadable: readings.flatMap(({ unreadable }) => unreadable),
  }
}

function orNothing(reading: Promise<LedgerReading>): Promise<LedgerReading> {
  return reading.catch(error => {
    if (isStatus(error, 'Forbidden') || isStatus(error, 'NotFound')) return { leaves: [], unreadable: [] }
    throw error
  })
}

async function readServed(client: KubeClient): Promise<LedgerReading> {
  const reading: LedgerReading = { leaves: [], unreadable: [] }
  const answer: unknown = JSON.parse(await client.raw(servedLedgerPath))
  const lines = isRecord(answer) && isRecord(answer.data) ? Object.entries(answer.data) : []
  for (const [key, line] of lines) {
    const leaf = typeof line === 'string' ? readLine(key, line) : undefined
    if (leaf) reading.leaves.push(leaf)
    else reading.unreadable.push(`${servedLedgerPath}, key ${key}`)
  }
  return reading
}

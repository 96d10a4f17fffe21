import type { KubeClient } from '../../kube/client.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type KubeNode, signerNames } from '../../kube/types.ts'
import type { Leaf } from '../../sign/leaf.ts'
import { readLedger } from '../../sign/served-ledger.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import type { GatheredArtifacts } from '../artifacts/artifacts.ts'
import type { LedgerLeaf } from '../artifacts/cluster-artifacts.ts'
import { andThen } from './attempt.ts'

const kinds: Readonly<Record<string, LedgerLeaf['kind']>> = {
  [signerNames.kubeletClient]: 'client',
  [signerNames.kubeletServing]: 'serving',
}

/** What ledgers remember of the nodes; partial where there are nodes that none knows. */
export async function gatherLedgerLeaves(
  client: KubeClient,
  nodes: GatheredArtifacts['nodes'],
): Promise<GatheredArtifacts['ledgerLeaves']> {
  const gathered = await andThen(nodes, there => readLedgerLeaves(client, there))
  if (gathered.status !== 'ok' || nodes.status !== 'ok') return gathered
  const known = new Set(gathered.value.map(({ node }) => node)).size
  if (known === nodes.value.length) return gathered
  const partial = `of ${nodes.value.length} nodes, a ledger that may be read knows ${known}; up and server serve one, rollcall controller keeps one (role rollcall-ledger-viewer)`
  return { ...gathered, partial }
}

/** The newest leaf of each kind of these nodes; none where no ledger is kept, or none may be read. */
async function readLedgerLeaves(client: KubeClient, nodes: readonly KubeNode[]): Promise<LedgerLeaf[]> {
  const there = new Set(nodes.map(({ metadata }) => metadata.name))
  const newest = new Map<string, { node: string; kind: LedgerLeaf['kind']; leaf: Leaf }>()
  for (const leaf of (await readLedger(client)).leaves) {
    const kind = kinds[leaf.signerName]
    const node = nodeOfUser(leaf.holder)
    if (!kind || node === undefined || !there.has(node)) continue
    const known = newest.get(`${kind} ${node}`)
    if (!known || known.leaf.notBefore < leaf.notBefore) newest.set(`${kind} ${node}`, { node, kind, leaf })
  }
  return [...newest.values()].map(({ node, kind, leaf }) => ({
    node,
    kind,
    notBefore: formatTime(leaf.notBefore),
    notAfter: formatTime(leaf.notAfter),
    ipAddresses: [...leaf.ipAddresses],
    dnsNames: [...leaf.dnsNames],
  }))
}

/** Whose living client certificates are of which CA: by the ledger, by requests that are there still, and by files we keep. */
import { type CertificateSigningRequest, type KubeNode, type Lease, resources } from '../../kube/types.ts'
import type { LeafFacts, LeafHolder } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import { type Leaf, leafOf } from '../../sign/leaf.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import { decodeTrustReport, trustReportAnnotation } from '../../trust/trust-report.ts'
import { certificateSignatureIsValid, parseCertificatesPem } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { leafHolders, roleOfSigner } from '../rollover/leaf-holders.ts'
import { isOfAgent } from './generic-consumers.ts'
import type { FactParts } from './generic-facts.ts'
import { clientCertificateIn } from './kubeconfig-text.ts'
import { controllerId } from './own-way-in.ts'
import { textAt } from './sinks.ts'

/** Milliseconds: C-35, signers date a leaf so long before they made it. */
const backdate = 5 * 60_000
/** Of which a human says that no living leaf is missing from it. */
export const ledgerId = 'ledger'

export async function leafFacts(plan: Plan, parts: FactParts): Promise<LeafFacts> {
  if (parts.role === 'apiserver-serving')
    return { holders: new Map(), ledgerComplete: true, lastUsed: new Map() }
  const { cas, control, snapshot } = parts
  const fingerprints = new Map(
    cas
      .generations('client')
      .map(one => [sha256Hex(cas.authority('client', one)?.certificate.raw ?? new Uint8Array()), one]),
  )
  const leaves = [...(await control.leaves()), ...leavesOfRequests(parts)]
  const newest = newestByNode(leaves)
  const generationOf = (fingerprint: string) => fingerprints.get(fingerprint)
  const nodes = new Set(snapshot.list<KubeNode>(resources.nodes).map(({ metadata }) => metadata.name))
  const holders = leafHolders(leaves, {
    role: 'client',
    generationOf,
    foreign: [],
    inUse(node) {
      const held = heldBy(node, parts)
      if (held !== undefined) return held
      const leaf = newest.get(node)
      return leaf && isAlive(node, leaf, parts) ? generationOf(leaf.issuerFingerprint) : undefined
    },
    orderable: node => reportOf(node, parts) !== undefined,
    exists: node => nodes.has(node),
    own: new Map(),
    ownEnd: 0,
  })
  for (const [authority, holder] of await fileHolders(parts))
    holders.set(authority, [...(holders.get(authority) ?? []), holder])
  return { holders, ledgerComplete: isComplete(plan, parts), lastUsed: lastUses(plan, newest, generationOf) }
}

/** Certificates of requests that are there still: of a signer who writes nothing down they are all there is to see. */
function leavesOfRequests({ snapshot, cas }: FactParts): Leaf[] {
  const requests = snapshot.list<CertificateSigningRequest>(resources.certificateSigningRequests)
  return requests.flatMap(({ metadata: { name }, spec, status }) => {
    const [certificate] = parseCertificatesPem(Buffer.from(status?.certificate ?? '', 'base64').toString())
    if (!certificate || roleOfSigner(spec.signerName) !== 'client') return []
    const issuer = cas.generations('client').findLast(one => {
      const ca = cas.authority('client', one)?.certificate
      return ca !== undefined && certificateSignatureIsValid(certificate, ca)
    })
    const raw = issuer === undefined ? undefined : cas.authority('client', issuer)?.certificate.raw
    if (!raw) return []
    const from = { issuerFingerprint: sha256Hex(raw), signerName: spec.signerName, request: { name } }
    return [leafOf(certificate, from)]
  })
}

/** As its agent says: the CA of the certificate that it presents. */
function heldBy(node: string, parts: FactParts): number | undefined {
  const { cas } = parts
  const holds = reportOf(node, parts)?.find(isOfAgent('client'))?.holds
  if (holds === undefined) return undefined
  return cas.generations('client').find(one => {
    const { subjectKeyIdentifier } = cas.authority('client', one)?.certificate ?? {}
    return subjectKeyIdentifier !== undefined && Buffer.from(subjectKeyIdentifier).toString('hex') === holds
  })
}

/** The node has shown a sign of life since its newest certificate was made: who has a new one uses it from then on. */
function isAlive(node: string, { notBefore }: Leaf, { snapshot }: FactParts): boolean {
  const lease = snapshot.get<Lease>(resources.leases, node, 'kube-node-lease')
  return (Date.parse(lease?.spec?.renewTime ?? '') || 0) > notBefore + backdate
}

/** No server of somebody else tells which certificate it was shown: until a node had a new one it used the other CA's. */
function lastUses(
  { from, to }: Plan,
  newest: ReadonlyMap<string, Leaf>,
  generationOf: (fingerprint: string) => number | undefined,
): LeafFacts['lastUsed'] {
  const uses = new Map<number, Map<string, number>>()
  for (const [node, { issuerFingerprint, notBefore }] of newest) {
    const authority = generationOf(issuerFingerprint)
    const other = authority === to ? from : authority === from ? to : undefined
    if (other === undefined) continue
    const known = uses.get(other) ?? new Map<string, number>()
    uses.set(other, known.set(`kubelet/${node}`, notBefore + backdate))
  }
  return uses
}

function newestByNode(leaves: readonly Leaf[]): Map<string, Leaf> {
  const newest = new Map<string, Leaf>()
  for (const leaf of leaves) {
    const node = nodeOfUser(leaf.holder)
    if (node === undefined || roleOfSigner(leaf.signerName) !== 'client') continue
    if ((newest.get(node)?.notBefore ?? 0) < leaf.notBefore) newest.set(node, leaf)
  }
  return newest
}

function reportOf(node: string, { snapshot }: FactParts) {
  const lease = snapshot.get<Lease>(resources.leases, node, 'kube-node-lease')
  return decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
}

/** Kubeconfigs of this machine that the controller's file names, and what the controller itself presents. */
async function fileHolders({ control, cas }: FactParts): Promise<[number, LeafHolder][]> {
  const { file, disk, connection } = control
  const texts: [string, string, boolean][] = []
  for (const sink of file.sinks) {
    if (sink.kind !== 'kubeconfig') continue
    const pem = clientCertificateIn((await textAt(disk, sink.path)) ?? '')
    if (pem !== undefined) texts.push([`kubeconfig/${sink.name}`, pem, true])
  }
  const own = connection.presents()
  if (own !== undefined) texts.push([controllerId, own, false])
  return texts.flatMap(([holder, pem, renewable]): [number, LeafHolder][] => {
    const [leaf] = parseCertificatesPem(pem)
    const authority = leaf && cas.issuerOf('client', leaf)
    return leaf && authority !== undefined
      ? [[authority, { holder, notAfter: leaf.notAfter, renewable }]]
      : []
  })
}

/** A ledger that is older than the longest leaf misses none; of a younger one a human, not the author, says so. */
function isComplete({ wishes, author }: Plan, { control, state }: FactParts): boolean {
  const since = state.ledgerSince ?? control.clock.now()
  if (control.clock.now() - since > control.longestLeaf) return true
  return wishes.acknowledgements.some(({ consumer, by }) => consumer === ledgerId && by !== author)
}

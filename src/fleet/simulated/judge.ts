import type { CertificateSigningRequest } from '../../kube/types.ts'
import { verifyChain } from '../../x509/chain.ts'
import { formatIp } from '../../x509/ip.ts'
import { commonNames } from '../../x509/name.ts'
import type { SimulatedNode } from './simulated-node.ts'
import { theftPrefix } from './thief.ts'
import type { World } from './world.ts'

const hour = 3_600_000

/** What is wrong with a world that has had time to recover: each node must hold both certificates, and nothing waits. */
export function troubles(world: World): string[] {
  return [
    ...world.issuance.violations,
    ...world.durability.violations,
    ...(world.thief?.violations ?? []),
    ...world.nodes.flatMap(node => node.violations),
    ...world.nodes.flatMap(node => troublesOfNode(world, node)),
    ...waitingRequests(world),
  ]
}

function troublesOfNode(world: World, node: SimulatedNode): string[] {
  const found: string[] = []
  for (const [kind, usage] of [
    ['kubelet-client', 'clientAuth'],
    ['kubelet-server', 'serverAuth'],
  ] as const) {
    const held = node.held(kind)
    if (!held) {
      found.push(`${node.name} holds no ${kind} pair`)
      continue
    }
    const names = commonNames(held.leaf.subject)
    if (!held.keyMatches) found.push(`${node.name}: the key of ${kind} belongs to another certificate`)
    if (names.join() !== `system:node:${node.name}`)
      found.push(`${node.name} holds a certificate of ${names}`)
    const verdict = verifyChain(held.chain, [world.foundation.pki.ca.certificate], {
      now: world.time.now,
      usage,
    })
    if (!verdict.ok) found.push(`${node.name}: ${kind}: ${verdict.reason}`)
    const addresses = held.leaf.subjectAltName.ipAddresses.map(formatIp).join()
    if (kind === 'kubelet-server' && addresses !== node.address) {
      found.push(`${node.name} at ${node.address} holds a certificate for ${addresses}`)
    }
  }
  return found
}

/** Nothing may be left pending, or approved without a certificate, once everybody has what it needs. */
function waitingRequests({ controlPlane, time }: World): string[] {
  const found: string[] = []
  for (const [key, { stored }] of controlPlane.database.rows) {
    if (!key.startsWith('registry/certificates.k8s.io/certificatesigningrequests/')) continue
    const request: CertificateSigningRequest = JSON.parse(new TextDecoder().decode(stored.value))
    if (request.metadata.name.startsWith(theftPrefix)) continue
    const created = Date.parse(request.metadata.creationTimestamp ?? '')
    const decided = request.status?.conditions?.some(({ type }) => type === 'Denied' || type === 'Failed')
    const isWaiting = !decided && !request.status?.certificate
    if (isWaiting && created < time.now - hour)
      found.push(`${request.metadata.name} waits since ${new Date(created).toISOString()}`)
  }
  return found
}

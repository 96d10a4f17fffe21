/** A few CA generations with real certificates; who verifies what is asked of `verifyChain` once for each pair. */
import { generateSigner } from '../../keys/private-key.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../../x509/certificate.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { crossSigned, newCaCertificate } from '../bridge.ts'
import type { ChainMode } from '../observations.ts'

export interface Chain {
  authority: number
  mode: ChainMode
}

export interface AuthorityPool {
  size: number
  /** Whether who trusts exactly these CAs verifies the chain; `bridged`: with the certificate by the CA one before. */
  verifies(chain: Chain, anchors: readonly number[]): boolean
  /** Distinct questions that were put to `verifyChain` so far. */
  asked(): number
}

export const poolTime = Date.parse('2026-06-01T00:00:00Z')
const day = 86_400_000
const random = seededRandom(77)
const times = { notBefore: poolTime - 365 * day, notAfter: poolTime + 7300 * day, random }

interface Member {
  ca: { certificate: Certificate; signer: ReturnType<typeof generateSigner> }
  leaf: Certificate
}

export async function authorityPool(size: number): Promise<AuthorityPool> {
  const members = await Promise.all(Array.from({ length: size }, (_, index) => member(index + 1)))
  const bridges = await Promise.all(
    members.slice(1).map(async ({ ca }, index) => {
      const issuer = members[index]?.ca
      return issuer && one(await crossSigned({ subject: ca.certificate, issuer, random }))
    }),
  )
  const known = new Map<string, boolean>()
  const ask = ({ authority, mode }: Chain, anchors: readonly number[]) => {
    const leaf = members[authority - 1]?.leaf
    const bridge = mode === 'bridged' ? bridges[authority - 2] : undefined
    const roots = anchors.flatMap(generation => members[generation - 1]?.ca.certificate ?? [])
    if (leaf === undefined) return false
    return verifyChain(bridge ? [leaf, bridge] : [leaf], roots, { now: poolTime, usage: 'serverAuth' }).ok
  }
  return {
    size,
    asked: () => known.size,
    verifies(chain, anchors) {
      const bridged = chain.mode === 'bridged' ? 'x' : ''
      const key = `${chain.authority}${bridged}|${anchors.join(',')}`
      const before = known.get(key)
      if (before !== undefined) return before
      const answer = ask(chain, anchors)
      known.set(key, answer)
      return answer
    },
  }
}

async function member(generation: number): Promise<Member> {
  const signer = generateSigner('Ed25519', random)
  const certificate = one(await newCaCertificate({ role: 'apiserver-serving', generation, signer, ...times }))
  const ca = { certificate, signer }
  const leaf = await issueCertificate({
    ca,
    subject: nameOf({ commonName: 'member' }),
    spki: generateSigner('Ed25519', random).publicKey,
    ...times,
    extensions: { extendedKeyUsage: [oids.serverAuth, oids.clientAuth] },
  })
  return { ca, leaf: one(leaf) }
}

function one(pem: string): Certificate {
  const [certificate] = parseCertificatesPem(pem)
  if (certificate === undefined) throw new Error('no certificate')
  return certificate
}

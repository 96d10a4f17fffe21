/** A few CA generations with real certificates; who verifies what is asked of `verifyChain`, and of TLS, once for each pair. */
import { generateSigner } from '../../keys/private-key.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import type { Random } from '../../ports.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../../x509/certificate.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { crossSigned, newCaCertificate } from '../bridge.ts'
import type { ChainMode } from '../observations.ts'
import { converse, type Presented } from './tls-handshake.ts'

export interface Chain {
  authority: number
  mode: ChainMode
}

export interface AuthorityPool {
  /** Whether who trusts exactly these CAs verifies the chain; `bridged`: with the certificate by the CA one before. */
  verifies(chain: Chain, anchors: readonly number[]): boolean
  /** Of a CA's key; absent: all have the same. */
  algorithm?(authority: number): string
}

/** Questions are answered at once, by our own path check; TLS is asked for all of them afterwards. */
export interface ConfirmedPool extends AuthorityPool {
  /**
   * Has a client and a server talk over TLS for every distinct question that was asked, with the chain on either side.
   * Resolves with how many there were. Throws Error when TLS decides otherwise than `verifies` did.
   */
  confirm(): Promise<number>
}

export const poolTime = Date.parse('2026-06-01T00:00:00Z')

interface Member {
  ca: { pem: string; certificate: Certificate; signer: ReturnType<typeof generateSigner> }
  leaf: Presented
}

/** Valid at all times, as TLS reads the clock of the machine. */
const times = { notBefore: Date.parse('2000-01-01T00:00:00Z'), notAfter: Date.parse('2099-01-01T00:00:00Z') }

export async function authorityPool(size: number, random: Random): Promise<ConfirmedPool> {
  const members = await Promise.all(Array.from({ length: size }, (_, index) => member(index + 1, random)))
  const bridges = await Promise.all(
    members.slice(1).map(({ ca }, index) => {
      const issuer = members[index]?.ca
      return issuer ? crossSigned({ subject: ca.certificate, issuer, random }) : ''
    }),
  )
  const presented = ({ authority, mode }: Chain): Presented | undefined => {
    const leaf = members[authority - 1]?.leaf
    const bridge = mode === 'bridged' ? (bridges[authority - 2] ?? '') : ''
    return leaf && { chain: leaf.chain + bridge, key: leaf.key }
  }
  const pemOf = (anchors: readonly number[]) =>
    anchors.map(generation => members[generation - 1]?.ca.pem ?? '').join('')
  const questions = new Map<string, { chain: Chain; anchors: readonly number[]; answer: boolean }>()
  return {
    verifies(chain, anchors) {
      const key = `${chain.authority}${chain.mode === 'bridged' ? 'x' : ''}|${anchors.join(',')}`
      const before = questions.get(key)
      if (before !== undefined) return before.answer
      const answer = isVerified(presented(chain)?.chain ?? '', pemOf(anchors))
      questions.set(key, { chain, anchors, answer })
      return answer
    },
    async confirm() {
      const [{ ca, leaf }] = members as [Member]
      for (const { chain, anchors, answer } of questions.values()) {
        const asked = presented(chain)
        if (!asked) continue
        const trusts = pemOf(anchors)
        const served = await converse({ server: asked, clientTrusts: trusts })
        const shown = await converse({
          server: leaf,
          clientTrusts: ca.pem,
          client: asked,
          serverTrusts: trusts,
        })
        if (served === answer && shown === answer) continue
        const what = `the ${chain.mode} chain of CA ${chain.authority} by who trusts ${anchors.join(', ')}`
        throw new Error(`${what}: verified ${answer}, by TLS ${served} of a server, ${shown} of a client`)
      }
      return questions.size
    },
  }
}

function isVerified(chain: string, anchors: string): boolean {
  const certificates = parseCertificatesPem(chain)
  const roots = parseCertificatesPem(anchors)
  const answers = (['serverAuth', 'clientAuth'] as const).map(
    usage => verifyChain(certificates, roots, { now: poolTime, usage }).ok,
  )
  return answers.every(Boolean)
}

async function member(generation: number, random: Random): Promise<Member> {
  const signer = generateSigner('Ed25519', random)
  const pem = await newCaCertificate({ role: 'apiserver-serving', generation, signer, random, ...times })
  const [certificate] = parseCertificatesPem(pem)
  if (certificate === undefined) throw new RangeError('a CA was made without a certificate')
  const ca = { pem, certificate, signer }
  const key = generateSigner('Ed25519', random)
  const chain = await issueCertificate({
    ca,
    subject: nameOf({ commonName: 'member' }),
    spki: key.publicKey,
    random,
    ...times,
    extensions: { extendedKeyUsage: [oids.serverAuth, oids.clientAuth] },
  })
  return { ca, leaf: { chain, key: key.exportPem().reveal() } }
}

/** Whether a consumer takes a bundle. The one place that decides it, for agents, controllers and tests alike. */
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import { type Certificate, parseCertificate } from '../x509/certificate.ts'
import { anchorsDigest, type BundleContent, decodeBundle } from './bundle-text.ts'
import { type RootSignature, type SignatureProblem, type TrustRoots, whyNotSigned } from './trust-roots.ts'

/** As it travels: in a TrustBundle object, in a ConfigMap, in join data. */
export interface SignedBundle {
  /** What `encodeBundle` wrote. */
  content: string
  signatures: readonly RootSignature[]
}

export type BundleRefusal =
  | SignatureProblem
  | 'Malformed'
  | 'OtherCluster'
  | 'OtherRole'
  | 'Rollback'
  | 'Conflict'
  | 'Expired'
  | 'NotYetValid'
  | 'UnfitAnchor'

export interface AcceptedBundle {
  generation: number
  /** SHA-256 over the anchors. */
  digest: string
  anchors: readonly Certificate[]
}

export type Acceptance =
  | { ok: true; bundle: AcceptedBundle }
  | { ok: false; reason: BundleRefusal; message: string }

export interface Holding {
  roots: TrustRoots
  role: TrustRole
  /** What this consumer has taken before, in any earlier life: kept on disk with the bundle itself. */
  held?: { generation: number; digest: string }
  /** Milliseconds since the epoch. */
  now: number
}

/**
 * Takes a bundle or says why not. Nothing that an API, a CA or a controller says counts here, only the pinned roots: who
 * has stolen all keys that are online can replay what the roots have signed, forwards, and nothing else.
 */
export function acceptBundle(signed: SignedBundle, holding: Holding): Acceptance {
  const content = decodeBundle(signed.content)
  if (content === undefined) return refuse('Malformed', 'the text is not in the one form a bundle has')
  const { roots } = holding
  const problem = whyNotSigned(signed.content, signed.signatures, roots)
  if (problem !== undefined) return refuse(problem, signatureMessage(problem, signed, roots))
  return acceptContent(content, holding)
}

function acceptContent(content: BundleContent, { roots, role, held, now }: Holding): Acceptance {
  const { generation } = content
  if (content.cluster !== roots.cluster)
    return refuse('OtherCluster', `it is for cluster ${content.cluster}, this one is ${roots.cluster}`)
  if (content.role !== role) return refuse('OtherRole', `it is for ${content.role}, not for ${role}`)
  const digest = anchorsDigest(content.anchors)
  if (held && generation < held.generation)
    return refuse('Rollback', `generation ${generation} is older than ${held.generation}, which is held`)
  if (held && generation === held.generation && digest !== held.digest)
    return refuse('Conflict', `another bundle of generation ${generation} is held; ask who signs twice`)
  if (now < content.notBefore) return refuse('NotYetValid', `it counts from ${instant(content.notBefore)} on`)
  if (now > content.notAfter) return refuse('Expired', `it counted until ${instant(content.notAfter)}`)
  const anchors = readAnchors(content.anchors)
  if (typeof anchors === 'string') return refuse('UnfitAnchor', anchors)
  return { ok: true, bundle: { generation, digest, anchors } }
}

/**
 * Anchors as certificates, or what is wrong with one. Names must differ and key identifiers be there: with two CAs of
 * one name and no key identifier GnuTLS fails by the order of the bundle.
 */
export function readAnchors(ders: readonly Uint8Array[]): readonly Certificate[] | string {
  const anchors: Certificate[] = []
  for (const der of ders) {
    const certificate = parsed(der)
    if (!certificate?.basicConstraints?.ca) return 'an anchor is no CA certificate'
    if (certificate.subjectKeyIdentifier === undefined) return 'an anchor has no subject key identifier'
    if (anchors.some(({ subject }) => Buffer.compare(subject.raw, certificate.subject.raw) === 0))
      return 'two anchors have the same name'
    anchors.push(certificate)
  }
  return anchors
}

function parsed(der: Uint8Array): Certificate | undefined {
  try {
    return parseCertificate(der)
  } catch {
    return undefined // what cannot be read is no CA certificate; the caller says so
  }
}

function signatureMessage(
  problem: SignatureProblem,
  { signatures }: SignedBundle,
  roots: TrustRoots,
): string {
  const wanted = `${roots.threshold} of ${roots.keys.length} pinned trust roots must have signed`
  switch (problem) {
    case 'DuplicateSignature':
      return 'one trust root signs twice in it'
    case 'BadSignature':
      return "a pinned trust root's signature does not verify"
    case 'BelowThreshold':
      return `${wanted}; it has ${signatures.length} signatures, too few of them by these roots`
  }
}

function refuse(reason: BundleRefusal, message: string): Acceptance {
  return { ok: false, reason, message: `the trust bundle is refused: ${message}` }
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

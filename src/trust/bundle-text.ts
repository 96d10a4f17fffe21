/**
 * The exact bytes that trust roots sign: lines of plain text, one way only to write each bundle, so that what was signed
 * is what is read. The first line keeps a signature from being taken for one over anything else.
 */
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import { trustRoles } from '../kube/rollcall/trust-bundle.ts'
import { sha256Hex } from '../x509/fingerprint.ts'

export interface BundleContent {
  /** Which cluster: a bundle of another one is foreign even when the same people sign it. */
  cluster: string
  role: TrustRole
  /** From 1; a consumer never takes a lower one than it has. */
  generation: number
  /** Milliseconds since the epoch, whole seconds. Outside, nobody takes it; who has it keeps it. */
  notBefore: number
  notAfter: number
  /** DER of the CA certificates. */
  anchors: readonly Uint8Array[]
}

const title = 'rollcall.dev/trust-bundle/v1'
const clusterName = /^[A-Za-z0-9][A-Za-z0-9.-]{0,127}$/

/** Throws RangeError for a bundle that cannot be written: no anchor, the same one twice, a time of no whole second. */
export function encodeBundle(content: BundleContent): string {
  const { cluster, role, generation, notBefore, notAfter } = content
  if (!clusterName.test(cluster)) throw new RangeError(`no name for a cluster: ${JSON.stringify(cluster)}`)
  if (!Number.isSafeInteger(generation) || generation < 1)
    throw new RangeError(`no generation: ${generation}`)
  if (notAfter < notBefore) throw new RangeError('a bundle cannot end before it begins')
  const anchors = sortedAnchors(content.anchors)
  if (anchors.length === 0) throw new RangeError('a bundle without anchors trusts nobody')
  const twice = anchors.some(
    (der, index) => index > 0 && Buffer.compare(der, anchors[index - 1] ?? der) === 0,
  )
  if (twice) throw new RangeError('an anchor stands in the bundle twice')
  const lines = [
    title,
    `cluster ${cluster}`,
    `role ${role}`,
    `generation ${generation}`,
    `notBefore ${encodeSecond(notBefore)}`,
    `notAfter ${encodeSecond(notAfter)}`,
    ...anchors.map(der => `anchor ${Buffer.from(der).toString('base64')}`),
  ]
  return lines.map(line => `${line}\n`).join('')
}

/** The bundle, or undefined when the text is not exactly what `encodeBundle` writes. */
export function decodeBundle(text: string): BundleContent | undefined {
  const [first, ...lines] = text.split('\n')
  const value = (index: number, name: string) => {
    const line = lines[index] ?? ''
    return line.startsWith(`${name} `) ? line.slice(name.length + 1) : ''
  }
  const role = trustRoles.find(known => known === value(1, 'role'))
  const notBefore = Date.parse(value(3, 'notBefore'))
  const notAfter = Date.parse(value(4, 'notAfter'))
  if (first !== title || role === undefined || Number.isNaN(notBefore) || Number.isNaN(notAfter))
    return undefined
  const anchors = lines
    .slice(5, -1)
    .map((_, index) => new Uint8Array(Buffer.from(value(index + 5, 'anchor'), 'base64')))
  const generation = Number(value(2, 'generation'))
  const content = { cluster: value(0, 'cluster'), role, generation, notBefore, notAfter, anchors }
  return isWrittenAs(content, text) ? content : undefined
}

/** SHA-256 over the DER of the anchors in order: the same for every way to write the same set down. */
export function anchorsDigest(anchors: readonly Uint8Array[]): string {
  return sha256Hex(Buffer.concat(sortedAnchors(anchors)))
}

function sortedAnchors(anchors: readonly Uint8Array[]): Uint8Array[] {
  return [...anchors].sort((a, b) => Buffer.compare(a, b))
}

function isWrittenAs(content: BundleContent, text: string): boolean {
  try {
    return encodeBundle(content) === text
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function encodeSecond(milliseconds: number): string {
  if (milliseconds % 1000 !== 0) throw new RangeError('the times of a bundle are whole seconds')
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}

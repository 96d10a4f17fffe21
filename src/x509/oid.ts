/** Object identifiers in dotted form, named as in the standards that define them. */
export const oids = {
  // attribute types of names (X.520)
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  locality: '2.5.4.7',
  province: '2.5.4.8',
  streetAddress: '2.5.4.9',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
  postalCode: '2.5.4.17',
  /** the API server takes a user's UID from here. */
  kubernetesUid: '1.3.6.1.4.1.57683.2',
  // attributes of requests (PKCS#9)
  extensionRequest: '1.2.840.113549.1.9.14',
  challengePassword: '1.2.840.113549.1.9.7',
  unstructuredName: '1.2.840.113549.1.9.2',
  microsoftExtensionRequest: '1.3.6.1.4.1.311.2.1.14',
  // extensions (RFC 5280)
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  // extended key usages
  anyExtendedKeyUsage: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  // keys and curves
  rsaEncryption: '1.2.840.113549.1.1.1',
  dsa: '1.2.840.10040.4.1',
  ecPublicKey: '1.2.840.10045.2.1',
  x25519: '1.3.101.110',
  ed25519: '1.3.101.112',
  p224: '1.3.132.0.33',
  p256: '1.2.840.10045.3.1.7',
  p384: '1.3.132.0.34',
  p521: '1.3.132.0.35',
} as const

/** Go reads an arc only up to this and refuses the certificate otherwise. */
const largestArc = 0x7fffffff

/** Dotted form of an OBJECT IDENTIFIER's content octets, or undefined when they are not minimal, cut off or too large. */
export function oidFromDer(content: Uint8Array): string | undefined {
  let dotted = ''
  let arc = 0
  let fresh = true
  for (const byte of content) {
    if (fresh && byte === 0x80) return undefined
    arc = arc * 128 + (byte & 0x7f)
    if (arc > largestArc) return undefined
    fresh = byte < 0x80
    if (!fresh) continue
    dotted += dotted === '' ? firstTwoArcs(arc) : `.${arc}`
    arc = 0
  }
  return fresh && dotted !== '' ? dotted : undefined
}

/** X.690 8.19.4: the first subidentifier holds the first two arcs. */
function firstTwoArcs(value: number): string {
  const root = Math.min(2, Math.floor(value / 40))
  return `${root}.${value - root * 40}`
}

/** Content octets of a dotted OBJECT IDENTIFIER. Throws RangeError on what is not one. */
export function oidToDer(dotted: string): Uint8Array {
  const arcs = dotted.split('.').map(Number)
  const [root, second, ...rest] = arcs
  const usable = arcs.every(arc => Number.isInteger(arc) && arc >= 0 && arc <= largestArc)
  if (root === undefined || second === undefined || !usable || root > 2 || (root < 2 && second > 39)) {
    throw new RangeError(`not an object identifier: ${dotted}`)
  }
  return Uint8Array.from([root * 40 + second, ...rest].flatMap(base128))
}

function base128(arc: number): number[] {
  const octets = [arc % 128]
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
    octets.unshift((left % 128) | 0x80)
  }
  return octets
}

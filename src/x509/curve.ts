import { oids } from './oid.ts'

/** A short Weierstrass curve y² = x³ − 3x + b over the field of p elements, with its size in bytes. */
export interface Curve {
  name: string
  size: number
  p: bigint
  b: bigint
}

const p256 = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const p384 = 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n

/** The curves Go's crypto/x509 knows (FIPS 186-5, SEC 2), by dotted identifier. */
export const curves: ReadonlyMap<string, Curve> = new Map<string, Curve>([
  [
    oids.p224,
    {
      name: 'P-224',
      size: 28,
      p: 2n ** 224n - 2n ** 96n + 1n,
      b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
    },
  ],
  [
    oids.p256,
    {
      name: 'P-256',
      size: 32,
      p: p256,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    },
  ],
  [
    oids.p384,
    {
      name: 'P-384',
      size: 48,
      p: p384,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  ],
  [
    oids.p521,
    {
      name: 'P-521',
      size: 66,
      p: 2n ** 521n - 1n,
      b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    },
  ],
])

/** Whether the uncompressed point (0x04, x, y) lies on the curve; compressed points and infinity do not count (as in Go). */
export function isOnCurve(curve: Curve, point: Uint8Array): boolean {
  if (point.length !== 1 + 2 * curve.size || point[0] !== 4) return false
  const x = toBigInt(point.subarray(1, 1 + curve.size))
  const y = toBigInt(point.subarray(1 + curve.size))
  if (x >= curve.p || y >= curve.p) return false
  return (y * y - (x * x * x - 3n * x + curve.b)) % curve.p === 0n
}

function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`)
}

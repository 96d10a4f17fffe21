/** PKCS#10 requests: good ones, and good ones with their DER or PEM tampered with. */
import { generateSigner } from '../../src/keys/private-key.ts'
import type { Random } from '../../src/ports.ts'
import { signedRequest } from '../../src/testing/signed-request.ts'
import { decodePem, encodePem } from '../../src/x509/pem.ts'
import type { Chance } from './chance.ts'
import { damaged } from './protobuf.ts'
import { word } from './text.ts'

export async function goodRequests(random: Random): Promise<string[]> {
  const signer = generateSigner('Ed25519', random)
  const subjectAltName = { dnsNames: ['worker-1'], ipAddresses: [Uint8Array.of(10, 0, 0, 1)] }
  return [
    await signedRequest({ signer, commonName: 'system:node:worker-1' }),
    await signedRequest({ signer, commonName: 'system:node:worker-1', subjectAltName }),
    await signedRequest({ signer, commonName: '', organizations: [] }),
  ]
}

/** What goes into spec.request. */
export function requestField(chance: Chance, good: readonly string[]): string {
  const pem = chance.pick(good)
  if (chance.maybe(0.1)) return word(chance)
  const [block] = decodePem(pem)
  const der = damaged(chance, block?.bytes ?? new Uint8Array(), 0.7)
  const text = encodePem(chance.maybe(0.95) ? 'CERTIFICATE REQUEST' : 'CERTIFICATE', der)
  const whole = chance.maybe(0.9) ? text : `${word(chance)}\n${text}${text}`
  return Buffer.from(damaged(chance, Buffer.from(whole), 0.1)).toString('base64')
}

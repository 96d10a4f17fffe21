/** Requests that were approved, signed or refused by hand, or by another program. */
import { generateKeyPairSync } from 'node:crypto'
import { systemRandom } from '../../../../src/host/random.ts'
import { issueCertificate } from '../../../../src/keys/self-signed.ts'
import { formatName, nameOf } from '../../../../src/x509/name.ts'
import { oids } from '../../../../src/x509/oid.ts'
import { ago, ask, bootstrapper, decide, node, register, sign } from '../actions.ts'
import { authority, otherAuthority } from '../authority.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'
import { leaf, own } from '../guest.ts'

const minute = 60_000
const day = 86_400_000
const name = own.of

export const issuedFaults: readonly Fault[] = [
  {
    id: 'C11',
    what: 'the older of two requests is approved after the node gave it up',
    async make(up) {
      await register(up, name)
      const old = await ago(up, 16 * minute, () => ask({ by: node(up, name), of: name }))
      await ask({ by: node(up, name), of: name })
      await decide(up, old, 'Approved', 'KubectlApprove')
      await sign(up, old, await leaf(up, 'client auth'))
    },
  },
  {
    id: 'C15',
    what: 'an approver is silent for a hundred nodes',
    async make(up) {
      const first = await ask({ by: bootstrapper(up), of: 'first' })
      await decide(up, first, 'Approved', 'AutoApproved')
      await sign(up, first, await leaf(up, 'client auth', { commonName: 'system:node:first' }))
      await ago(up, 6 * minute, async () => {
        const asked = Array.from({ length: 101 }, (_, n) => ask({ by: bootstrapper(up), of: `new-${n}` }))
        await Promise.all(asked)
      })
    },
  },
  {
    id: 'C16',
    what: 'a certificate for the address of another node, approved by hand',
    async make(up) {
      await register(up, name)
      const ips = ['10.0.0.11', '127.0.1.1']
      const stolen = await ask({ by: node(up, name), ...own, ips })
      await decide(up, stolen, 'Approved', 'KubectlApprove')
      await sign(up, stolen, await leaf(up, 'server auth', { dnsNames: [name], ipAddresses: ips }))
    },
  },
  {
    id: 'D06',
    what: 'the signer refuses a request',
    async make(up) {
      await register(up, name)
      const odd = await ask({ by: node(up, name), of: name, organizations: ['my-org', 'system:nodes'] })
      await decide(up, odd, 'Approved', 'KubectlApprove')
      await decide(up, odd, 'Failed', 'SignerValidationFailure')
    },
  },
  {
    id: 'D08',
    what: 'a cap below what was asked for',
    async make(up) {
      await register(up, name)
      const long = await ask({ by: node(up, name), of: name, expirationSeconds: 30 * 86_400 })
      await decide(up, long, 'Approved', 'AutoApproved')
      await sign(up, long, await leaf(up, 'client auth'))
    },
  },
  {
    id: 'D11',
    what: 'a CA that was made anew under the old name',
    async make(up) {
      await register(up, name)
      const own = formatName(authority(up).certificate.subject).replace(/^CN=/, '')
      const ca = await otherAuthority(up.now() + 3650 * day, { commonName: own })
      const asked = await ask({ by: node(up, name), of: name })
      await decide(up, asked, 'Approved', 'AutoApproved')
      await sign(up, asked, await leaf(up, 'client auth', {}, ca))
    },
  },
  {
    id: 'D13',
    what: 'a certificate for a weak key',
    async make(up) {
      await register(up, name)
      const asked = await ask({ by: node(up, name), of: name })
      await decide(up, asked, 'Approved', 'AutoApproved')
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
      await sign(
        up,
        asked,
        await leafOf(up, new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }))),
      )
    },
  },
  {
    id: 'E19',
    what: 'certificates of an hour',
    async make(up) {
      await register(up, name)
      const brief = await ask({ by: node(up, name), of: name })
      await decide(up, brief, 'Approved', 'AutoApproved')
      await sign(up, brief, await leaf(up, 'client auth', { lifetime: 60 * minute }))
    },
  },
  {
    id: 'Z06',
    what: 'requests of one signer approved by two programs',
    async make(up) {
      await register(up, name)
      const asked = await ask({ by: node(up, name), of: name })
      await decide(up, asked, 'Approved', 'PostfinanceApproved')
      await sign(up, asked, await leaf(up, 'client auth'))
    },
  },
]

/** For this key. */
function leafOf(up: ExaminedUp, spki: Uint8Array): Promise<string> {
  return issueCertificate({
    ca: authority(up),
    subject: nameOf({ commonName: `system:node:${name}`, organizations: ['system:nodes'] }),
    spki,
    notBefore: up.now(),
    notAfter: up.now() + day,
    random: systemRandom,
    extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] },
  })
}

/** What the API refuses leaves no trace but in the log of who asked: the answers are those of `up`. */
import { writeFileSync } from 'node:fs'
import { hostPorts } from '../../../../src/cluster/host-ports.ts'
import { systemRandom } from '../../../../src/host/random.ts'
import { waitForCertificate } from '../../../../src/join/wait-for-certificate.ts'
import { generateSigner } from '../../../../src/keys/private-key.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../../../../src/kube/types.ts'
import { signedRequest } from '../../../../src/testing/signed-request.ts'
import { ask, bootstrapper, decide, node, register } from '../actions.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'
import { own } from '../guest.ts'

const csrs = resources.certificateSigningRequests
const log = (up: ExaminedUp) => up.scratch('kubelet.log')

/** Has the log say what the API answered. */
async function logged(up: ExaminedUp, asking: Promise<unknown>): Promise<void> {
  const message = await asking.then(
    () => {
      throw new Error('the API took it')
    },
    (error: Error) => error.message,
  )
  const line = `E0301 12:00:01.000000       1 certificate_manager.go:1] "Failed" err="${message}"`
  writeFileSync(log(up), `2026-03-01T12:00:01Z stderr F ${line}\n`)
}

async function request(up: ExaminedUp, spec: Partial<CertificateSigningRequest['spec']>): Promise<unknown> {
  const signer = generateSigner('ECDSA-P256', systemRandom)
  const pem = await signedRequest({ signer, commonName: 'system:node:careless' })
  return bootstrapper(up).create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'careless' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signerNames.kubeletClient,
      usages: ['digital signature', 'client auth'],
      ...spec,
    },
  })
}

const faults: readonly Omit<Fault, 'args'>[] = [
  {
    id: 'B06',
    what: 'a request for five minutes',
    make: up => logged(up, request(up, { expirationSeconds: 300 })),
  },
  {
    id: 'B07',
    what: 'a request for what there is not',
    make: up => logged(up, request(up, { usages: ['client auth', 'fly'] })),
  },
  {
    id: 'B08',
    what: 'a request that is none',
    make: up => logged(up, request(up, { request: Buffer.from('hello').toString('base64') })),
  },
  {
    id: 'C13',
    what: 'a decision is to be taken back',
    async make(up) {
      await register(up, own.of)
      const name = await ask({ by: node(up, own.of), ...own })
      await decide(up, name, 'Denied', 'Policy')
      await logged(up, decide(up, name, 'Approved', 'Second thoughts'))
      await up.admin.delete(csrs, { name })
    },
  },
  {
    id: 'C12',
    what: 'a request that is deleted while its node waits',
    async make(up) {
      const name = await ask({ by: bootstrapper(up), of: own.of })
      const created = await up.admin.get<CertificateSigningRequest>(csrs, { name })
      const waiting = waitForCertificate({ ...hostPorts, created, client: up.admin, patience: 60_000 })
      const answer = logged(up, waiting)
      await up.admin.delete(csrs, { name })
      await answer
    },
  },
]

export const refusalFaults: readonly Fault[] = faults.map(fault => ({
  ...fault,
  args: up => ['--log', log(up)],
}))

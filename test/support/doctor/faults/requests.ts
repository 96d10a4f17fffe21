/** Requests, while nobody approves and signs. */
import { requestName } from '../../../../src/doctor/checks/b09-name-taken.ts'
import { systemRandom } from '../../../../src/host/random.ts'
import { generateSigner } from '../../../../src/keys/private-key.ts'
import {
  type CertificateSigningRequest,
  type NodeAddress,
  resources,
  signerNames,
} from '../../../../src/kube/types.ts'
import { signedRequest } from '../../../../src/testing/signed-request.ts'
import { ago, as, ask, beat, bootstrapper, decide, node, register } from '../actions.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'
import { allow, own } from '../guest.ts'

const minute = 60_000
const name = own.of

/** It waits for two minutes. */
const waiting = (up: ExaminedUp, what: Parameters<typeof ask>[0]) => ago(up, 2 * minute, () => ask(what))

export const requestFaults: readonly Fault[] = [
  {
    id: 'B04',
    what: 'a node name in upper case',
    make: up => ask({ by: bootstrapper(up), of: 'WHIIPVR00291' }),
  },
  { id: 'B05', what: 'a node without a name', make: up => ask({ by: bootstrapper(up), of: '' }) },
  {
    id: 'B09',
    what: 'the name of a request is taken by another',
    async make(up) {
      const signer = generateSigner('ECDSA-P256', systemRandom)
      const names = { commonName: 'system:node:late', organizations: ['system:nodes'] }
      const usages = ['digital signature', 'client auth']
      const named = requestName(signer.publicKey, names.commonName, names.organizations, usages)
      await bootstrapper(up).create<CertificateSigningRequest>(resources.certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: `${named.slice(0, -4)}AAAA` },
        spec: {
          request: Buffer.from(await signedRequest({ signer, ...names })).toString('base64'),
          signerName: signerNames.kubeletClient,
          usages,
        },
      })
    },
  },
  {
    id: 'B10',
    what: 'a Node without an IP address',
    async make(up) {
      const addresses: NodeAddress[] = [{ type: 'Hostname', address: name }]
      await ago(up, 6 * minute, () => register(up, name, { addresses }))
      await beat(up, name)
    },
  },
  {
    id: 'B13',
    what: 'a node that floods the API',
    async make(up) {
      await register(up, name)
      for (let n = 0; n < 10; n++)
        await decide(up, await ask({ by: node(up, name), of: name }), 'Approved', 'AutoApproved')
    },
  },
  {
    id: 'B14',
    what: 'several requests of one node wait',
    async make(up) {
      await register(up, name)
      for (let n = 0; n < 3; n++) await ask({ by: node(up, name), ...own })
    },
  },
  {
    id: 'C03',
    what: 'nobody approves client requests',
    make: up => waiting(up, { by: bootstrapper(up), of: name }),
  },
  {
    id: 'C04',
    what: 'a serving request waits',
    async make(up) {
      await register(up, name)
      await waiting(up, { by: node(up, name), ...own })
    },
  },
  {
    id: 'C05',
    what: 'a request for the address of another, that was denied',
    async make(up) {
      await register(up, name)
      await decide(up, await ask({ by: node(up, name), ...own, ips: ['10.0.0.99'] }), 'Denied', 'Policy')
    },
  },
  {
    id: 'C06',
    what: 'an approver that asks DNS',
    async make(up) {
      await register(up, name)
      const reason = `lookup ${name} on 10.96.0.10:53: no such host`
      await decide(up, await ask({ by: node(up, name), ...own }), 'Denied', reason)
    },
  },
  {
    id: 'C07',
    what: 'usages of a client in a serving request',
    async make(up) {
      await register(up, name)
      await waiting(up, { by: node(up, name), ...own, usages: ['digital signature', 'client auth'] })
    },
  },
  {
    id: 'C08',
    what: 'a serving request by a user that is no node',
    async make(up) {
      await register(up, name)
      await allow(up, 'test', [
        { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] },
      ])
      await waiting(up, { by: as(up, 'test', 'system:nodes'), ...own })
    },
  },
  {
    id: 'C09',
    what: 'a denial by a rule of somebody else',
    async make(up) {
      await register(up, name)
      await decide(up, await ask({ by: node(up, name), ...own }), 'Denied', 'PrefixRule')
    },
  },
  {
    id: 'C10',
    what: 'a request of a node that is gone',
    make: up => waiting(up, { by: node(up, 'gone'), of: 'gone', dns: ['gone'], ips: ['10.0.0.19'] }),
  },
  {
    id: 'C14',
    what: 'an approver that may approve for no signer',
    make: up =>
      allow(up, 'approver', [
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['certificatesigningrequests/approval'],
          verbs: ['update'],
        },
      ]),
  },
  {
    id: 'D01',
    what: 'approved, and nobody signs',
    async make(up) {
      await register(up, name)
      await ago(up, 2 * minute, async () =>
        decide(up, await ask({ by: node(up, name), ...own }), 'Approved', 'KubectlApprove'),
      )
    },
  },
  {
    id: 'D09',
    what: 'a provider that signs no client certificates',
    async make(up) {
      await register(up, name, { nodeInfo: { kubeletVersion: 'v1.30.4-eks-a737599' } })
      await ago(up, 2 * minute, async () =>
        decide(up, await ask({ by: node(up, name), of: name }), 'Approved', 'KubectlApprove'),
      )
    },
  },
  {
    id: 'E15',
    what: 'a token asks for the identity of a node that is alive',
    make: up => ask({ by: bootstrapper(up), of: 'worker-1' }),
  },
]

/** What a machine serves on the port of its kubelet: a node beside those of `up`, looked at with --probe. */
import { issueSelfSigned, selfSignedTemplate } from '../../../../src/agent/self-signed-serving.ts'
import { hostPorts } from '../../../../src/cluster/host-ports.ts'
import { issuePair, type KeyPair, type PairRequest } from '../../../../src/cluster/issue-pair.ts'
import { type KubeObject, resources } from '../../../../src/kube/types.ts'
import { falseKubelet } from '../../false-kubelet.ts'
import { register } from '../actions.ts'
import { authority, otherAuthority } from '../authority.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'

const day = 86_400_000
const name = 'guest'
const address = '127.0.9.1'

function pair(up: ExaminedUp, changes: Partial<PairRequest> = {}, ca = authority(up)): Promise<KeyPair> {
  const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const names = { dnsNames: [name], ipAddresses: [address] }
  const usage = 'server auth' as const
  const wanted = { ...subject, ...names, usage, lifetime: day, now: up.now(), ...changes }
  return issuePair(ca, wanted, hostPorts.random)
}

/** What a kubelet makes for itself without serverTLSBootstrap. */
async function selfSigned(): Promise<KeyPair> {
  const { chain, key } = await issueSelfSigned(
    selfSignedTemplate(name, 'ECDSA-P256'),
    'ECDSA-P256',
    hostPorts,
  )
  if (!('reveal' in key)) throw new TypeError('the key is elsewhere')
  return { certificate: chain, key }
}

/** The node is there, and serves this. */
async function serving(up: ExaminedUp, served: Promise<KeyPair> | undefined): Promise<void> {
  const kubelet = await falseKubelet(await served, (_, response) => response.writeHead(404).end(), address)
  up.onMend(kubelet.close)
  await register(up, name, { address, port: kubelet.port })
}

/** kube-apiserver as the pod that kubeadm makes of it; these flags differ from what they should be. */
async function apiServerPod({ admin }: ExaminedUp, ...changes: string[]): Promise<void> {
  const changed = new Set(changes.map(flag => flag.split('=')[0]))
  const good = [
    '--enable-bootstrap-token-auth=true',
    '--authorization-mode=Node,RBAC',
    '--kubelet-certificate-authority=/ca.crt',
  ].filter(flag => !changed.has(flag.split('=')[0]))
  const command = ['kube-apiserver', ...good, ...changes.filter(flag => flag.includes('='))]
  const pod: KubeObject & { spec: object } = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'kube-apiserver-cp-1', namespace: 'kube-system', labels: { tier: 'control-plane' } },
    spec: { containers: [{ name: 'kube-apiserver', image: 'x', command }] },
  }
  await admin.create(resources.pods, pod)
}

const probed: readonly Omit<Fault, 'args'>[] = [
  { id: 'B11', what: 'a node signs its serving certificate itself', make: up => serving(up, selfSigned()) },
  { id: 'G01', what: 'a node has nothing to serve', make: up => serving(up, undefined) },
  {
    id: 'G02',
    what: 'the API verifies, and a node signs for itself',
    async make(up) {
      await apiServerPod(up)
      await serving(up, selfSigned())
    },
  },
  {
    id: 'G04',
    what: 'a certificate for a name alone',
    make: up => serving(up, pair(up, { ipAddresses: [] })),
  },
  {
    id: 'G05',
    what: 'a certificate for another address',
    make: up => serving(up, pair(up, { ipAddresses: ['10.0.0.1'] })),
  },
  {
    id: 'G07',
    what: 'a serving certificate that has ended',
    make: up => serving(up, pair(up, { now: up.now() - 2 * day })),
  },
  {
    id: 'G10',
    what: 'a serving certificate of a CA that is not published',
    make: async up => serving(up, pair(up, {}, await otherAuthority(up.now() + 1000 * day))),
  },
  {
    id: 'G12',
    what: 'another node answers',
    make: up => serving(up, pair(up, { commonName: 'system:node:worker-7' })),
  },
  {
    id: 'Z03',
    what: 'a node that is Ready answers nowhere',
    make: up => register(up, name, { address, port: 1, ready: true }),
  },
]

export const servingFaults: readonly Fault[] = [
  ...probed.map(fault => ({ ...fault, args: () => ['--probe'] })),
  {
    id: 'A07',
    what: 'the API server takes no bootstrap tokens',
    make: up => apiServerPod(up, '--enable-bootstrap-token-auth'),
  },
  {
    id: 'E20',
    what: 'the API server has no Node authorizer',
    make: up => apiServerPod(up, '--authorization-mode=RBAC'),
  },
  {
    id: 'G03',
    what: 'the API server takes whatever a kubelet presents',
    make: up => apiServerPod(up, '--kubelet-certificate-authority'),
  },
]

/** Requests as clients send them, and what `rollcall controller` makes of each: rows of src/approve/cases that need no more than an API. */
import { systemRandom } from '../../../src/host/random.ts'
import { generateSigner } from '../../../src/keys/private-key.ts'
import { signedRequest } from '../../../src/testing/signed-request.ts'
import { parseIp } from '../../../src/x509/ip.ts'
import type { Identity } from '../wire.ts'

export interface ApproverCase {
  title: string
  as: Identity
  subject: { commonName: string; organizations?: string[]; dnsNames?: string[]; ipAddresses?: string[] }
  client?: true
  usages?: string[]
  outcome: 'Approved' | 'Denied'
  reason: string
}

const worker1: Identity = { user: 'system:node:worker-1', groups: ['system:nodes'] }
/** Its requests are counted by themselves: one node has only so many in an hour. */
const worker4: Identity = { user: 'system:node:worker-4', groups: ['system:nodes'] }
const bootstrapper: Identity = {
  user: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token'],
}
const commonName = 'system:node:worker-1'

/** What the Nodes of these cases list. */
export const nodeAddresses: Readonly<Record<string, Record<string, string>>> = {
  'worker-1': {
    Hostname: 'worker-1',
    InternalDNS: 'worker-1.cluster.internal',
    InternalIP: '10.20.0.11',
  },
  'worker-2': { Hostname: 'worker-2', InternalIP: '10.20.0.12' },
  'worker-4': { Hostname: 'worker-4', InternalIP: '10.20.0.14' },
}

const serving = (
  title: string,
  asked: Partial<ApproverCase['subject']>,
  outcome: ApproverCase['outcome'],
  reason: string,
  more: Partial<ApproverCase> = {},
): ApproverCase => ({ title, as: worker1, subject: { commonName, ...asked }, outcome, reason, ...more })

const proven = { ipAddresses: ['10.20.0.11'] }

export const approverCases: readonly ApproverCase[] = [
  serving('F1 the InternalIP', proven, 'Approved', 'SansProven'),
  serving(
    'E1 the names of the node beside it',
    { ...proven, dnsNames: ['worker-1', 'worker-1.cluster.internal'] },
    'Approved',
    'SansProven',
  ),
  serving('F15 the address of worker-2', { ipAddresses: ['10.20.0.12'] }, 'Denied', 'OwnedByOtherNode'),
  serving('F14 loopback', { ipAddresses: ['127.0.0.1'] }, 'Denied', 'ReservedName'),
  serving('F15 a service address', { ipAddresses: ['10.96.0.1'] }, 'Denied', 'ReservedName'),
  serving(
    'E a name of the API',
    { ...proven, dnsNames: ['kubernetes.default.svc'] },
    'Denied',
    'ReservedName',
  ),
  serving('D client auth in a serving request', proven, 'Denied', 'UsagesInvalid', {
    usages: ['digital signature', 'client auth'],
  }),
  {
    title: 'B12 an O too many',
    as: worker4,
    subject: {
      commonName: 'system:node:worker-4',
      organizations: ['system:nodes', 'extra'],
      ipAddresses: ['10.20.0.14'],
    },
    outcome: 'Denied',
    reason: 'SubjectMismatch',
  },
  serving('B19 somebody with the name of a node', proven, 'Denied', 'RequesterNotNode', {
    as: { user: 'mallory', groups: ['system:masters'] },
  }),
  {
    title: 'J a new node joins with a bootstrap credential',
    as: bootstrapper,
    subject: { commonName: 'system:node:worker-3' },
    client: true,
    outcome: 'Approved',
    reason: 'AutoApproved',
  },
  {
    title: 'K a node renews its client certificate',
    as: worker4,
    subject: { commonName: 'system:node:worker-4' },
    client: true,
    outcome: 'Approved',
    reason: 'AutoApproved',
  },
]

/** The object to be created, under this name. */
export async function requestOf({ subject, client, usages }: ApproverCase, name: string): Promise<object> {
  const { commonName, organizations, dnsNames = [], ipAddresses = [] } = subject
  const addresses = ipAddresses.flatMap(text => parseIp(text) ?? [])
  const pem = await signedRequest({
    // One key twice is denied (KeyReused).
    signer: generateSigner('ECDSA-P256', systemRandom),
    commonName,
    ...(organizations && { organizations }),
    ...(!client && { subjectAltName: { dnsNames, ipAddresses: addresses } }),
  })
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: `kubernetes.io/${client ? 'kube-apiserver-client-kubelet' : 'kubelet-serving'}`,
      usages: usages ?? ['digital signature', client ? 'client auth' : 'server auth'],
    },
  }
}

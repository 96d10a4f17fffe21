/** Bootstrap tokens, and the roles by which nodes join and renew. */
import { resources, type Secret } from '../../../../src/kube/types.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'

/** Changes the cluster's bootstrap token. */
async function spoil({ admin }: ExaminedUp, data: Record<string, string>): Promise<void> {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  await admin.patch<Secret>(resources.secrets, await tokenOf(admin), 'merge', {
    data: Object.fromEntries(encoded),
  })
}

async function tokenOf(admin: ExaminedUp['admin']) {
  const { items } = await admin.list<Secret>(resources.secrets, { namespace: 'kube-system' })
  const [token] = items.filter(({ metadata }) => metadata.name.startsWith('bootstrap-token-'))
  return { name: token?.metadata.name ?? '', namespace: 'kube-system' }
}

const withoutBinding =
  (name: string): Fault['make'] =>
  ({ admin }) =>
    admin.delete(resources.clusterRoleBindings, { name })

/** While nobody cleans up tokens and signs cluster-info. */
export const tokenFaults: readonly Fault[] = [
  {
    id: 'A01',
    what: 'the bootstrap token has expired',
    make: up => spoil(up, { expiration: new Date(up.now() - 3_600_000).toISOString() }),
  },
  {
    id: 'A03',
    what: 'the id of a token is not that of its Secret',
    make: up => spoil(up, { 'token-id': 'ghijkl' }),
  },
  {
    id: 'A04',
    what: 'a token may not authenticate',
    make: up => spoil(up, { 'usage-bootstrap-authentication': 'false' }),
  },
  {
    id: 'A05',
    what: 'a token in a Secret of another type',
    async make({ admin }) {
      const { data } = await admin.get<Secret>(resources.secrets, await tokenOf(admin))
      await admin.create<Secret>(resources.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bootstrap-token-ghijkl', namespace: 'kube-system' },
        type: 'Opaque',
        data: { ...data, 'token-id': Buffer.from('ghijkl').toString('base64') },
      })
    },
  },
  {
    id: 'A06',
    what: 'a token with a group that it may not have',
    make: up => spoil(up, { 'auth-extra-groups': 'system:masters' }),
  },
  {
    id: 'A08',
    what: 'nobody signs cluster-info by a new token',
    async make({ admin }) {
      const { data, type = '' } = await admin.get<Secret>(resources.secrets, await tokenOf(admin))
      await admin.create<Secret>(resources.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bootstrap-token-ghijkl', namespace: 'kube-system' },
        type,
        data: { ...data, 'token-id': Buffer.from('ghijkl').toString('base64') },
      })
    },
  },
]

export const roleFaults: readonly Fault[] = [
  { id: 'B01', what: 'nobody may make requests', make: withoutBinding('kubeadm:kubelet-bootstrap') },
  {
    id: 'C01',
    what: 'no role allows the first certificate',
    make: withoutBinding('kubeadm:node-autoapprove-bootstrap'),
  },
  {
    id: 'C02',
    what: 'no role allows renewals',
    make: withoutBinding('kubeadm:node-autoapprove-certificate-rotation'),
  },
]

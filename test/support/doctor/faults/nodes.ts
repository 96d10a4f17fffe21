/** Nodes as the cluster sees them: silent, renumbered, with certificates that ended. Nobody approves and signs. */
import { type CertificateSigningRequest, resources } from '../../../../src/kube/types.ts'
import { ago, ask, beat, decide, node, register, sign } from '../actions.ts'
import { holdLease } from '../controllers.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'
import { leaf, own } from '../guest.ts'

const minute = 60_000
const hour = 60 * minute
const name = own.of

/** A certificate that this node was given. */
async function given(
  up: ExaminedUp,
  usage: 'client auth' | 'server auth',
  changes: Parameters<typeof leaf>[2],
) {
  const asked = await ask(
    usage === 'client auth' ? { by: node(up, name), of: name } : { by: node(up, name), ...own },
  )
  await decide(up, asked, 'Approved', usage === 'client auth' ? 'AutoApproved' : 'SansProven')
  await sign(up, asked, await leaf(up, usage, changes))
}

export const nodeFaults: readonly Fault[] = [
  {
    id: 'B15',
    what: 'a kubelet of before certificates.k8s.io/v1',
    make: up => register(up, name, { nodeInfo: { kubeletVersion: 'v1.18.20' } }),
  },
  {
    id: 'D02',
    what: 'the controllers died',
    make: up => holdLease(up, 2 * hour),
    undo: up => holdLease(up),
  },
  {
    id: 'E11',
    what: 'a node that was off for longer than its certificate lived',
    async make(up) {
      await register(up, name)
      await given(up, 'client auth', { now: up.now() - 30 * hour, lifetime: 24 * hour })
      await beat(up, name, -30 * hour)
    },
  },
  {
    id: 'E13',
    what: 'the clock of the nodes is ahead',
    make: up => up.restartNodes(3 * minute),
    undo: up => up.restartNodes(0),
  },
  {
    id: 'E18',
    what: 'a renewal is overdue',
    async make(up) {
      await register(up, name)
      await given(up, 'client auth', { now: up.now() - 23.5 * hour, lifetime: 24 * hour })
    },
  },
  {
    id: 'G06',
    what: 'an address came after the certificate',
    async make(up) {
      await register(up, name)
      await given(up, 'server auth', { dnsNames: own.dns, ipAddresses: ['10.0.0.12'] })
    },
  },
  {
    id: 'G11',
    what: 'a node was Ready before it had a serving certificate',
    async make(up) {
      const asked = await ago(up, 2 * minute, async () => {
        await register(up, name, { ready: true })
        return ask({ by: node(up, name), ...own })
      })
      await beat(up, name)
      await decide(up, asked, 'Approved', 'SansProven')
      const names = { dnsNames: own.dns, ipAddresses: own.ips }
      await sign(up, asked, await leaf(up, 'server auth', names))
    },
  },
  {
    id: 'Z01',
    what: 'a fleet that joined together and does not renew',
    async make(up) {
      const joined = async (n: number) => {
        const of = `guest-${n}`
        await register(up, of, { address: `10.0.1.${n}` })
        const asked = await ask({ by: node(up, of), of })
        await decide(up, asked, 'Approved', 'AutoApproved')
        const commonName = `system:node:${of}`
        const life = { now: up.now() - 21.5 * hour, lifetime: 24 * hour }
        await sign(up, asked, await leaf(up, 'client auth', { commonName, ...life }))
      }
      await Promise.all(Array.from({ length: 25 }, (_, n) => joined(n)))
    },
  },
  {
    id: 'Z02',
    what: 'more requests than anybody could want',
    async make(up) {
      const name = await ask({ by: up.admin, of: own.of, signerName: 'example.com/other' })
      const { spec } = await up.admin.get<CertificateSigningRequest>(resources.certificateSigningRequests, {
        name,
      })
      const { request, signerName, usages } = spec
      const create = (n: number) =>
        up.admin.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name: `old-${n}` },
          spec: { request, signerName, usages },
        })
      await Promise.all(Array.from({ length: 1000 }, (_, n) => create(n)))
    },
  },
  {
    id: 'Z07',
    what: 'the process of the nodes hangs',
    make(up) {
      process.kill(up.fleet(), 'SIGSTOP')
      up.setAhead(minute)
    },
    undo(up) {
      up.setAhead(0)
      process.kill(up.fleet(), 'SIGCONT')
    },
  },
  {
    id: 'Z08',
    what: 'an address that two Nodes claim',
    async make(up) {
      await register(up, name, { address: '10.0.0.12' })
      await register(up, 'guest-2', { address: '10.0.0.12' })
    },
  },
]

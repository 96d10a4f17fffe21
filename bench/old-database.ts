/** The state of a server with very many requests that were answered two days ago and never cleaned. */
import { createECDH } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { createClient } from '../src/kube/client.ts'
import { isApproved } from '../src/kube/csr-conditions.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'
import { type CertificateSigningRequest, resources } from '../src/kube/types.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { decodePem, encodePem } from '../src/x509/pem.ts'
import { startRollcall } from '../test/support/rollcall-process.ts'
import { csrPrefix, fillDatabase, type Make } from './fill-database.ts'
import { type Asked, requests } from './requests.ts'

const csrs = resources.certificateSigningRequests
/** Nodes that the old requests are of: each has asked a hundred times where there are 500,000. */
const NODES = 5000
/** Numbers of the first of them, and of the first of those that are new: with as many digits. */
const [FIRST_NODE, FIRST_NEW] = [10_000, 20_000]

export async function clientOf(folder: string, kubeconfig: string) {
  const path = join(folder, kubeconfig)
  const context = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
  const transport = connectUndici(
    await connectionConfig(context, path, { clock: systemClock, disk: systemDisk }),
  )
  return { client: createClient(transport), close: () => transport.closeConnections() }
}

/** Asks as a node that joins does, and waits until the request is approved, or has its certificate too. */
export async function certify(
  folder: string,
  { csr }: Asked,
  until: 'approved' | 'issued',
): Promise<CertificateSigningRequest> {
  const { client, close } = await clientOf(folder, 'bootstrap.kubeconfig')
  await client.create(csrs, csr)
  try {
    for (;;) {
      const found = await client.get<CertificateSigningRequest>(csrs, csr.metadata)
      if (until === 'approved' ? isApproved(found) : found.status?.certificate) return found
      await sleep(20)
    }
  } finally {
    close()
  }
}

/** Milliseconds. */
const TWO_DAYS = 2 * 86_400_000

/** Makes the state in an empty folder, `age` milliseconds old; gives requests of nodes that are new, for `certify`. */
export async function makeOldDatabase(folder: string, count: number, age = TWO_DAYS): Promise<Asked[]> {
  const [asked, ...others] = await requests(4, 'client', FIRST_NEW)
  if (!asked) throw new RangeError('no request')
  const server = startRollcall(['server', '--dir', folder, '--port', '0'])
  await server.ready
  const answered = await certify(folder, asked, 'issued')
  await server.stop()
  fillDatabase(join(folder, 'state.db'), { [csrPrefix]: { count, make: oldRequests(answered, age) } })
  return others
}

/** Of each node in turn, each with a key of its own. Nobody verifies their signatures any more, so those do not fit. */
function oldRequests(answered: CertificateSigningRequest, age: number): Make {
  const past = new Date(Date.now() - age).toISOString().replace(/\.\d+Z$/, 'Z')
  const conditions = answered.status?.conditions?.map(condition => ({
    ...condition,
    lastUpdateTime: past,
    lastTransitionTime: past,
  }))
  const request = template(answered.spec.request)
  const certificate = template(answered.status?.certificate ?? '')
  const key = createECDH('prime256v1')
  return index => {
    const node = String(FIRST_NODE + (index % NODES))
    const point = key.generateKeys()
    return {
      ...answered,
      metadata: {
        name: `node-csr-${index}`,
        uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
        creationTimestamp: past,
      },
      spec: {
        ...answered.spec,
        request: request(node, point),
        username: `system:node:node-${node}`,
        groups: ['system:nodes', 'system:authenticated'],
      },
      status: { ...(conditions && { conditions }), certificate: certificate(node, point) },
    }
  }
}

/** Base64 of PEM, with another node's number and another key on P-256 in the same places. */
function template(base64: string): (node: string, point: Uint8Array) => string {
  const [block] = decodePem(Buffer.from(base64, 'base64').toString('latin1'))
  if (!block) throw new RangeError('no PEM')
  const der = Buffer.from(block.bytes)
  const nodeAt = der.indexOf(`node-${FIRST_NEW}`) + 'node-'.length
  const pointAt = der.indexOf(Buffer.from('03420004', 'hex')) + 3
  return (node, point) => {
    der.write(node, nodeAt, 'latin1')
    der.set(point, pointAt)
    return Buffer.from(encodePem(block.label, der)).toString('base64')
  }
}

/** MiB that were resident at most. */
export function mostResident(processId: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]) / 1024
}

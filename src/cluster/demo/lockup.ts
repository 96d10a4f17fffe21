/** What everybody else does: a new CA is served to all at once, and nobody was asked. Then the way back. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateSigner } from '../../keys/private-key.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { sleep } from '../../ports.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { hostPorts } from '../host-ports.ts'
import { CaStore } from '../rollover/ca-store.ts'
import { decodeState, encodeState, type RoleState, stateConfigMap } from '../rollover/role-state.ts'
import { followingClient } from './following-client.ts'
import { configMap, generationsNow } from './roll.ts'
import type { RunningUpFiles } from './running-up.ts'

export interface LockupReport {
  onEvent(text: string): void
}

export interface LockupOutcome {
  /** Most nodes that were not Ready at one moment. */
  lost: number
  /** Ready again in the end. */
  back: number
}

/** Milliseconds within which every node falls silent and is marked so: its grace period is 40 s. */
const within = 90_000

export async function runLockup(
  up: RunningUpFiles,
  names: readonly string[],
  report: LockupReport,
): Promise<LockupOutcome> {
  const ca = join(up.paths.root, 'ca')
  const store = new CaStore({ ...hostPorts, directory: ca, first: await firstCa(up.paths.pki) })
  await store.load()
  const role = 'apiserver-serving'
  let anchors = ''
  // Who locks the cluster keeps a way in for himself: he knows the new CA.
  const own = followingClient(up.paths.adminKubeconfig, 'rollcall-demo-lockup', () => anchors)
  const { client } = own
  try {
    const { from } = await generationsNow(client, role)
    // The one that comes next is trusted already: this is one that nobody has heard of.
    const to = Math.max(...store.generations(role)) + 1
    await store.create(role, to)
    anchors = readFileSync(join(ca, `ca-${role}-${to}.crt`), 'utf8')
    await point(client, { authority: to, mode: 'bare' })
    report.onEvent(
      `the API serves a certificate of CA ${to}; nobody was asked, and every connection is made anew`,
    )
    const lost = await until(client, names.length)
    report.onEvent(`${lost} of ${names.length} nodes are lost: they do not trust the new CA`)
    await point(client, { authority: from, mode: 'old' })
    report.onEvent(`rolled back: CA ${from} is served again`)
    const still = await until(client, 0)
    return { lost, back: names.length - still }
  } finally {
    own.transport.closeConnections()
  }
}

/** Its key is not needed: only the CA that comes is made here. */
async function firstCa(pki: string) {
  const pem = readFileSync(join(pki, 'ca.crt'), 'utf8')
  const [certificate] = parseCertificatesPem(pem)
  if (!certificate) throw new RangeError(`no certificate in ${pki}/ca.crt`)
  return { pem, certificate, signer: generateSigner('Ed25519', hostPorts.random) }
}

async function point(client: KubeClient, present: RoleState['present']): Promise<void> {
  const current = await configMap(client)
  const state = decodeState(current?.data)
  const serving = state['apiserver-serving']
  const next = { ...state, 'apiserver-serving': { ...serving, present, reconnect: serving.reconnect + 1 } }
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: stateConfigMap,
    ...current,
    data: encodeState(next),
  }
  await (current ? client.update(resources.configMaps, object) : client.create(resources.configMaps, object))
}

/** Looks until as many nodes are not Ready as wanted; resolves with how many are not in the end. */
async function until(client: KubeClient, wanted: number): Promise<number> {
  const { clock } = hostPorts
  const end = clock.monotonic() + within
  for (;;) {
    const down = await notReady(client)
    if (down === wanted || clock.monotonic() > end) return down
    await sleep(clock, 500)
  }
}

async function notReady(client: KubeClient): Promise<number> {
  const { items } = await client.list<KubeNode>(resources.nodes)
  const ready = items.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
  return items.length - ready.length
}

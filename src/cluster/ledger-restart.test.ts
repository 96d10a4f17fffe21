import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { generateSigner } from '../keys/private-key.ts'
import { createClient, isStatus } from '../kube/client.ts'
import {
  type CertificateSigningRequest,
  type KubeEvent,
  type KubeNode,
  resources,
  signerNames,
} from '../kube/types.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import { silentLog } from '../ports.ts'
import { ip } from '../testing/judged-request.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { openDataDirectory } from './data-directory.ts'
import { hostPorts } from './host-ports.ts'
import { issuePair } from './issue-pair.ts'

const { clock, random } = hostPorts
const csrs = resources.certificateSigningRequests

test('a restarted control plane still refuses a certified address to another node, its requests long gone', async () => {
  const root = mkdtempSync(join(tmpdir(), 'rollcall-restart-'))
  const directory = openDataDirectory(root)
  const start = () =>
    startControlPlane({
      directory,
      port: 0,
      bind: '127.0.0.1',
      certificateLifetimeSeconds: 86_400,
      policy: { evidence: 'NodeStatus', serviceRanges: ['10.96.0.0/12'] },
      ...hostPorts,
      log: silentLog,
    })
  let running = await start()
  try {
    await register(running, 'a', '10.0.0.1')
    const name = await ask(running, 'a', '10.0.0.1')
    await eventually(async () => {
      const { status } = await running.client.get<CertificateSigningRequest>(csrs, { name })
      return status?.certificate
    })
    await running.client.delete(csrs, { name })
    await register(running, 'a', '10.0.0.2')
    await running.stop()

    running = await start()
    await register(running, 'b', '10.0.0.1')
    const theft = await ask(running, 'b', '10.0.0.1')
    const event = await eventually(async () => {
      const { items } = await running.client.list<KubeEvent>(resources.events)
      return items.find(({ involvedObject }) => involvedObject.name === theft)
    })
    assert.equal(event.reason, 'OwnedByOtherNode')
    assert.match(event.message ?? '', /node "a"/)
  } finally {
    await running.stop()
    directory.release()
    rmSync(root, { recursive: true })
  }
})

async function register({ client }: ControlPlane, name: string, address: string): Promise<void> {
  const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
  const created = await client.create(resources.nodes, node).catch(error => {
    if (!isStatus(error, 'AlreadyExists')) throw error
    return client.get<KubeNode>(resources.nodes, { name })
  })
  const status = { addresses: [{ type: 'InternalIP', address }] }
  await client.update(resources.nodes, { ...created, status }, { subresource: 'status' })
}

/** The node asks for a serving certificate for the address; gives the name of its request. */
async function ask({ server, pki }: ControlPlane, node: string, address: string): Promise<string> {
  const identity = { commonName: `system:node:${node}`, organizations: ['system:nodes'] }
  const pair = await issuePair(
    pki.ca,
    { ...identity, usage: 'client auth', lifetime: 3_600_000, now: clock.now() },
    random,
  )
  const transport = connectUndici({
    server,
    certificateAuthority: pki.ca.pem,
    clientCertificate: pair,
  })
  const signer = generateSigner('ECDSA-P256', random)
  const request = await signedRequest({ signer, ...identity, subjectAltName: { ipAddresses: [ip(address)] } })
  try {
    const { metadata } = await createClient(transport).create<CertificateSigningRequest>(csrs, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `${node}-asks` },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: signerNames.kubeletServing,
        usages: ['digital signature', 'server auth'],
      },
    })
    return metadata.name
  } finally {
    transport.closeConnections()
  }
}

/** Controllers and API run in real time here: asks again until there is an answer, for at most 20 seconds. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await setTimeout(50)
  }
  return assert.fail('not within 20 seconds')
}

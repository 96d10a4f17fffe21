import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { clientOf } from '../../src/cluster/demo/running-up.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { csrCondition } from '../../src/kube/csr-conditions.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../../src/kube/types.ts'
import { requestPem } from '../support/certificate-request.ts'
import { eventually } from '../support/eventually.ts'
import { opensslVerify } from '../support/openssl.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from '../support/rollcall-process.ts'
import { noAssets } from './folder.ts'
import { startControllerManager } from './kube-controller-manager.ts'
import type { RunningProgram } from './program.ts'

const skip = noAssets('kube-controller-manager')
const folder = temporaryFolder()
const directory = join(folder.path, 'data')
let server: RollcallProcess | undefined
let manager: RunningProgram | undefined
let admin: KubeClient
let close = () => {}
before(async () => {
  if (skip) return
  server = startRollcall(['server', '--dir', directory, '--port', '0', '--no-controllers', '--no-dashboard'])
  await server.ready
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const connected = await clientOf(kubeconfig)
  admin = connected.client
  close = () => connected.transport.closeConnections()
  manager = await startControllerManager({
    kubeconfig,
    folder: folder.path,
    controllers: 'csrapproving,csrsigning,csrcleaner',
    certificate: join(directory, 'pki/ca.crt'),
    key: join(directory, 'pki/ca.key'),
  })
})
after(async () => {
  close()
  await manager?.stop()
  await server?.stop()
  folder.remove()
})

test('a real kube-controller-manager approves and signs a node’s request on rollcall server', {
  skip,
}, async () => {
  const { certificateSigningRequests: csrs } = resources
  const { client: node, transport } = await clientOf(join(directory, 'bootstrap.kubeconfig'))
  const pem = await requestPem({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] })
  const request = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'worker-1' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signerNames.kubeletClient,
      usages: ['digital signature', 'client auth'],
    },
  }
  await node.create<CertificateSigningRequest>(csrs, request)
  transport.closeConnections()
  const issued = await eventually('the certificate is issued', async () => {
    const seen = await admin.get<CertificateSigningRequest>(csrs, { name: 'worker-1' })
    return seen.status?.certificate !== undefined && seen
  })
  const approval = csrCondition(issued, 'Approved')
  assert.equal(approval?.reason, 'AutoApproved')
  assert.match(
    approval?.message ?? '',
    /^Auto approving kubelet client certificate after SubjectAccessReview\.$/,
  )
  const certificate = Buffer.from(issued.status?.certificate ?? '', 'base64').toString()
  const { code, output } = await opensslVerify(certificate, join(directory, 'pki/ca.crt'), 'sslclient')
  assert.equal(code, 0, output)
})

test('it leaves a serving request pending', { skip }, async () => {
  const { certificateSigningRequests: csrs } = resources
  const pem = await requestPem({ commonName: 'jane' })
  await admin.create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'pending' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signerNames.kubeletServing,
      usages: ['digital signature', 'server auth'],
    },
  })
  // One that comes after it is decided: it has had its turn.
  const later = await requestPem({ commonName: 'system:node:worker-2', organizations: ['system:nodes'] })
  await admin.create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'later' },
    spec: {
      request: Buffer.from(later).toString('base64'),
      signerName: signerNames.kubeletClient,
      usages: ['digital signature', 'client auth'],
    },
  })
  await eventually('the later one is approved', async () => {
    const seen = await admin.get<CertificateSigningRequest>(csrs, { name: 'later' })
    return csrCondition(seen, 'Approved')
  })
  const pending = await admin.get<CertificateSigningRequest>(csrs, { name: 'pending' })
  assert.equal(pending.status?.conditions, undefined)
})

/** Objects and steps of several cases, with `$(…)` as in case.ts. */
import { requestPem } from '../../support/certificate-request.ts'
import type { Step } from '../case.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** What a kubelet called worker-1 sends (K-22). */
export const kubeletRequest = base64(
  await requestPem({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
)
export const mastersRequest = base64(
  await requestPem({ commonName: 'mallory', organizations: ['system:masters'] }),
)
export const badlySignedRequest = base64(await requestPem({ commonName: 'jane' }, true))

export const kubeletClient = 'kubernetes.io/kube-apiserver-client-kubelet'

export function csr(name: string, spec: object = {}, metadata: object = {}) {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, ...metadata },
    spec: {
      request: kubeletRequest,
      signerName: kubeletClient,
      usages: ['digital signature', 'client auth'],
      ...spec,
    },
  }
}

export function configMap(name: string, data: object = { a: '1' }, metadata: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

export function node(name: string, rest: object = {}) {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, ...rest }
}

export function pod(name: string, spec: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'example.com/image' }], ...spec },
  }
}

export const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
export const maps = '/api/v1/namespaces/$(ns)/configmaps'
export const pods = '/api/v1/namespaces/$(ns)/pods'
export const nodes = '/api/v1/nodes'
export const rbac = '/apis/rbac.authorization.k8s.io/v1'

export const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
export const metadataOnly = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }

/** A ConfigMap is created; its version and uid are kept as `rv_NAME` and `uid_NAME`. */
export const created = (name = 'a', data: object = { a: '1' }, metadata: object = {}): Step => ({
  method: 'POST',
  url: maps,
  body: configMap(name, data, metadata),
  expect: { status: 201 },
  keep: { [`rv_${name}`]: 'metadata.resourceVersion', [`uid_${name}`]: 'metadata.uid' },
})

export const patched = (type: string, body: object, expect: Step['expect'], url = `${maps}/a`): Step => ({
  method: 'PATCH',
  url,
  type: `application/${type}`,
  body,
  expect,
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../kube/types.ts'
import type { ObjectReader } from '../reader.ts'
import { podProxyRefusal, serviceProxyRefusal } from './pod-proxy.ts'

/** A pod whose node says that its address is the metadata service of a cloud, and a service. */
const all: Record<string, KubeObject & { status?: object; spec?: object }> = {
  'pods/p': {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    status: { podIP: '169.254.169.254', podIPs: [{ ip: '169.254.169.254' }] },
  },
  'services/s': {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { ports: [{ port: 80 }] },
  },
}
const reader: ObjectReader = {
  get: <T extends KubeObject>({ plural }: { plural: string }, name: string) =>
    all[`${plural}/${name}`] as T | undefined,
  list: () => [],
  generation: () => 0,
}

const call = (plural: string, name: string) => ({
  path: { group: '', version: 'v1', plural, subresource: 'proxy', namespace: 'default', name },
})
const ofPod = (name: string) => podProxyRefusal(reader, call('pods', name)).status
const ofService = (name: string) => serviceProxyRefusal(reader, call('services', name)).status

test('attack: a pod’s address, which its node wrote, is never dialled', () => {
  for (const name of ['p', 'p:80', 'http:p:80', 'https:p:'])
    assert.deepEqual([ofPod(name).code, ofPod(name).message], [400, 'address not allowed'], name)
})

test('what is not there, or is no name, is told as kube-apiserver tells it', () => {
  assert.equal(ofPod('q').message, 'pods "q" not found')
  assert.equal(ofPod('ftp:p:80').message, 'invalid pod request "ftp:p:80"')
  assert.equal(ofService('t').message, 'services "t" not found')
  assert.equal(ofService(':80').message, 'invalid service request ":80"')
  assert.equal(ofService('s:81').message, 'no service port 81 found for service "s"')
  assert.deepEqual(
    [ofService('s:80').code, ofService('s').message],
    [503, 'no endpoints available for service "s"'],
  )
})

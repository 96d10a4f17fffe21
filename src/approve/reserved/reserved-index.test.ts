import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ip } from '../../testing/judged-request.ts'
import { ReservedIndex, reservedByService } from './reserved-index.ts'

const service = (name: string, externalIPs: string[], clusterIP = 'None') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'a' },
  spec: { externalIPs, clusterIP },
})

test('what two Services publish is free when both are gone', () => {
  const index = new ReservedIndex()
  const [one, two] = [service('one', ['192.0.2.1']), service('two', ['192.0.2.1'])]
  for (const object of [one, two]) index.set(object, reservedByService(object))
  assert.equal(index.find('192.0.2.1')?.what, 'an external IP of Service a/one')
  index.remove(one)
  assert.equal(index.find('192.0.2.1')?.what, 'an external IP of Service a/two')
  index.set(two, reservedByService(service('two', [])))
  assert.equal(index.find('192.0.2.1'), undefined)
})

test('the strictest reason counts', () => {
  const index = new ReservedIndex()
  const [one, two] = [service('one', ['192.0.2.1']), service('two', [], '192.0.2.1')]
  for (const object of [one, two]) index.set(object, reservedByService(object))
  assert.deepEqual(index.find('192.0.2.1', ip('192.0.2.1')), {
    kind: 'own',
    what: 'the cluster IP of Service a/two',
  })
})

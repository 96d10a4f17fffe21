import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishedRootCa } from './root-ca.ts'

const published = () => publishedRootCa('default', 'PEM', undefined) ?? assert.fail()

test('C-50: a namespace without the ConfigMap gets it, with a description', () => {
  const { metadata, data } = published()
  assert.deepEqual(data, { 'ca.crt': 'PEM' })
  assert.deepEqual([metadata.namespace, metadata.name], ['default', 'kube-root-ca.crt'])
  assert.match(metadata.annotations?.['kubernetes.io/description'] ?? '', /CA bundle/)
})

test('C-50: what is as it should be is not written', () => {
  assert.equal(publishedRootCa('default', 'PEM', published()), undefined)
})

test('C-50: another description is as good, none is repaired', () => {
  const described = (text: string) => {
    const { metadata, ...rest } = published()
    return {
      ...rest,
      metadata: { ...metadata, annotations: { 'kubernetes.io/description': text, mine: 'x' } },
    }
  }
  assert.equal(publishedRootCa('default', 'PEM', described('ours')), undefined)
  const repaired = publishedRootCa('default', 'PEM', described(''))
  assert.match(repaired?.metadata.annotations?.['kubernetes.io/description'] ?? '', /CA bundle/)
  assert.equal(repaired?.metadata.annotations?.mine, 'x')
})

test('C-50: changed and added keys are repaired, with the version they were seen at', () => {
  for (const data of [{ 'ca.crt': 'evil' }, { 'ca.crt': 'PEM', extra: 'x' }, {}]) {
    const current = { ...published(), data }
    current.metadata = { ...current.metadata, resourceVersion: '7' }
    const repaired = publishedRootCa('default', 'PEM', current)
    assert.deepEqual(repaired?.data, { 'ca.crt': 'PEM' })
    assert.equal(repaired.metadata.resourceVersion, '7')
  }
})

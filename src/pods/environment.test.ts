import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLineOf, environmentOf, expand } from './environment.ts'
import { withIdentity } from './manifest/identity.ts'

test('Kubernetes’ expansion: known names, $$ for $, everything else as it is', () => {
  const environment = { A: '1', EMPTY: '' }
  const cases: [text: string, expected: string][] = [
    ['$(A)', '1'],
    ['x$(A)y$(EMPTY)z', 'x1yz'],
    ['$(B)', '$(B)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$1'],
    ['$A $', '$A $'],
    ['$(toString)', '$(toString)'],
    ['$(A', '$(A'],
  ]
  for (const [text, expected] of cases) assert.equal(expand(text, environment), expected)
})

test('variables see those before them, and fields of the pod', () => {
  const fieldRef = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } })
  const container = {
    name: 'c',
    image: 'host',
    command: ['$(NAME)'],
    args: ['$(LATE)', '$(LATER)'],
    env: [
      { name: 'LATE', value: '$(LATER)' },
      { name: 'LATER', value: 'on' },
      { name: 'NAME', ...fieldRef('metadata.name') },
      { name: 'IP', ...fieldRef('status.podIP') },
      { name: 'APP', ...fieldRef("metadata.labels['app']") },
      { name: 'NONE', ...fieldRef("metadata.labels['none']") },
      { name: 'UNSET' },
    ],
  }
  const pod = withIdentity(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', labels: { app: 'shop' } },
      spec: { hostNetwork: true, containers: [container] },
    },
    { nodeName: 'node-a', path: '/m/web.yaml', seen: 0 },
  )
  const environment = environmentOf(container, pod, { nodeName: 'node-a', hostAddress: '10.0.0.1' })
  assert.deepEqual(environment, {
    LATE: '$(LATER)',
    LATER: 'on',
    NAME: 'web-node-a',
    IP: '10.0.0.1',
    APP: 'shop',
    NONE: '',
    UNSET: '',
  })
  const own = { ...pod, spec: { containers: [container] } }
  const node = { nodeName: 'node-a', hostAddress: '10.0.0.1', podAddress: '198.51.100.7' }
  assert.equal(environmentOf(container, own, node).IP, '198.51.100.7', 'of its own network')
  assert.deepEqual(commandLineOf(container, environment), ['web-node-a', '$(LATER)', 'on'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readManifest } from './read-manifest.ts'

const pod = (spec: string, metadata = 'name: web') => `apiVersion: v1
kind: Pod
metadata: {${metadata}}
spec: ${spec}
`
const container = '{name: c, image: host, command: [/bin/true]}'
const found = (text: string) =>
  readManifest(text).findings.map(({ severity, reason, message }) => `${severity} ${reason}: ${message}`)

test('a manifest may be YAML or JSON, of several documents and lists', () => {
  const one = pod(`{containers: [${container}]}`)
  const listed = {
    apiVersion: 'v1',
    kind: 'PodList',
    items: [{ metadata: { name: 'b' }, spec: { containers: [{ name: 'c', image: 'host' }] } }],
  }
  assert.deepEqual(
    readManifest(`---\n${one}---\n${JSON.stringify(listed)}\n---\n`).pods.map(
      ({ metadata }) => metadata.name,
    ),
    ['web', 'b'],
  )
  assert.deepEqual(found(one), [])
})

test('what is no pod is refused with the place and the reason', () => {
  const cases: [text: string, expected: string][] = [
    ['', 'error Malformed: holds no document'],
    ['a: [', 'error Malformed: is not valid YAML'],
    ['- 1', 'error Malformed: is no mapping'],
    ['a: 1\na: 2\n', 'error Malformed: is not valid YAML: Map keys must be unique'],
    ['apiVersion: apps/v1\nkind: Deployment\n', 'error Malformed: apiVersion: is "apps/v1", not "v1"'],
    ['apiVersion: v1\nkind: Service\n', 'error Malformed: kind: is "Service", neither Pod nor PodList'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n', 'error Invalid: spec.containers: is missing'],
    [pod('{containers: []}'), 'error Invalid: spec.containers: is empty'],
    [pod('{containers: [null]}'), 'error Invalid: spec.containers[0]: is empty'],
    [pod(`{containers: [${container}, ${container}]}`), 'error Invalid: spec.containers: "c" is there twice'],
    [
      pod(`{restartPolicy: Sometimes, containers: [${container}]}`),
      'error Invalid: spec.restartPolicy: "Sometimes" is none of Always, OnFailure, Never',
    ],
    [
      pod('{containers: [{name: c, image: host, args: [1]}]}'),
      'error Invalid: spec.containers[0].args[0]: is 1, not a string; put it in quotes',
    ],
    [pod(`{containers: [${container}]}`, 'name: Web'), 'error Invalid: metadata.name: "Web" is no name'],
    [pod(`{containers: [${container}]}`, 'name: web, uid: ../x'), 'error Invalid: metadata.uid: "../x"'],
    [
      pod(`{containers: [${container}], volumes: [{name: v, hostPath: {path: /a/../b}}]}`),
      'error Invalid: spec.volumes[0].hostPath.path: "/a/../b" is no absolute path without ..',
    ],
    [
      pod('{containers: [{name: c, image: host, livenessProbe: {httpGet: {port: web}}}]}'),
      'error Invalid: spec.containers[0].livenessProbe.port: "web" is neither a port nor the name of a port',
    ],
  ]
  for (const [text, expected] of cases) {
    const { pods } = readManifest(text)
    assert.deepEqual(pods, [], text)
    assert.ok(
      found(text).some(line => line.startsWith(expected)),
      `${expected}\n${found(text).join('\n')}`,
    )
  }
})

test('a field that nobody knows is a warning with its path, and the pod runs', () => {
  const text = pod('{hostNetwrok: true, containers: [{name: c, image: host, comand: [a]}]}')
  assert.deepEqual(found(text), [
    'warning UnknownField: spec.hostNetwrok: no such field; it has no effect',
    'warning UnknownField: spec.containers[0].comand: no such field; it has no effect',
  ])
  assert.equal(readManifest(text).pods.length, 1)
})

test('whatever needs the API is refused in Kubernetes’ own words', () => {
  const references: [spec: string, to: string][] = [
    ['serviceAccountName: default', 'serviceaccounts'],
    ['volumes: [{name: v, configMap: {name: a}}]', 'configmaps'],
    ['volumes: [{name: v, secret: {secretName: a}}]', 'secrets'],
    ['volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]', 'persistentvolumeclaims'],
    ['imagePullSecrets: [{name: a}]', 'secrets'],
    ['resourceClaims: [{name: a}]', 'resourceclaims'],
    ['initContainers: [{name: i, image: host, envFrom: [{configMapRef: {name: a}}]}]', 'configmaps'],
  ]
  for (const [spec, to] of references) {
    const lines = found(pod(`{${spec}, containers: [${container}]}`))
    assert.ok(
      lines.some(line => line.includes(`static pods may not reference ${to}`)),
      `${spec}\n${lines.join('\n')}`,
    )
  }
})

test('a refused document does not take the others with it, and empty refused fields are no matter', () => {
  const bad = pod('{containers: [{name: c}]}', 'name: bad')
  const good = pod(`{serviceAccountName: "", nodeSelector: {}, containers: [${container}]}`, 'name: good')
  const { pods, findings } = readManifest(`${bad}---\n${good}`)
  assert.deepEqual(
    pods.map(({ metadata }) => metadata.name),
    ['good'],
  )
  assert.deepEqual(
    findings.map(({ message }) => message),
    ['document 1: spec.containers[0].image: is missing'],
  )
})

test('no text makes the reader throw, and every pod it gives has a name and containers', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'apiVersion: v1\n',
      'kind: Pod\n',
      'kind: PodList\n',
      'metadata: {name: a}\n',
      'spec:\n',
      '  containers:\n',
      '  - &a {name: c, image: host}\n',
      '  - *a\n',
      'items: [null, 1]\n',
      '---\n',
      '%YAML 1.1\n',
      '<<: *a\n',
    ),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      const { pods, findings } = readManifest(pieces.join(''))
      assert.ok(pods.length + findings.length > 0)
      for (const { metadata, spec } of pods) assert.ok(metadata.name && spec.containers.length > 0)
    }),
  )
})

test('attack: a user id that wraps around to root in 32 bits is no user id', () => {
  for (const id of [-1, 2 ** 31, 2 ** 32 - 1, 2 ** 32]) {
    const own = pod(
      `{containers: [{name: c, image: host, command: [x], securityContext: {runAsUser: ${id}, runAsGroup: ${id}}}]}`,
    )
    assert.deepEqual(found(own), [
      `error Invalid: spec.containers[0].securityContext.runAsUser: ${id} is not from 0 to 2147483647`,
      `error Invalid: spec.containers[0].securityContext.runAsGroup: ${id} is not from 0 to 2147483647`,
    ])
    const shared = pod(
      `{securityContext: {runAsUser: ${id}, supplementalGroups: [1, ${id}]}, containers: [${container}]}`,
    )
    assert.equal(readManifest(shared).pods.length, 0)
    assert.equal(found(shared).length, 2)
  }
})

test('what takes one of a few words takes no other', () => {
  const cases: [spec: string, expected: RegExp][] = [
    [`{dnsPolicy: Some, containers: [${container}]}`, /spec.dnsPolicy: "Some" is none of ClusterFirst/],
    [`{hostname: "a b", containers: [${container}]}`, /spec.hostname: "a b" is no name/],
    [
      '{containers: [{name: c, image: i, imagePullPolicy: Some}]}',
      /imagePullPolicy: "Some" is none of Always/,
    ],
  ]
  for (const [spec, expected] of cases) assert.match(found(pod(spec)).join('\n'), expected)
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { requestObject } from './support/certificate-request.ts'
import { cells, clusterOfFile, type Kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'

const foreign = 'example.com/turnstile'
const resource = 'certificatesigningrequest.certificates.k8s.io'

const { cluster } = clusterOfFile(['server', '--no-controllers'], noKubectl && noOldKubectl)

describe('the protocol of kubectl', { concurrency: 2 }, () => {
  const skip = noKubectl
  // Go prints each frame of HTTP/2 with http2debug; client-go does without HTTP/2 when it is told so.
  for (const [protocol, environment, frames] of [
    ['HTTP/2', {}, true],
    ['HTTP/1.1', { DISABLE_HTTP2: 'true' }, false],
  ] as const) {
    test(`get, create, watch and delete work over ${protocol}`, { skip }, async () => {
      const kubectl = cluster().as({ environment: { GODEBUG: 'http2debug=1', ...environment } })
      const name = `over-${protocol.replace(/\W/g, '').toLowerCase()}`
      const created = await kubectl.run('create -f -', await requestObject({ name, signerName: foreign }))
      assert.equal(created.stdout, `${resource}/${name} created\n`)
      assert.equal(/http2: /.test(created.stderr), frames)
      const watch = kubectl.follow(`get csr ${name} --watch --no-headers`)
      try {
        assert.match(await watch.line(), /Pending$/)
        await kubectl.run(`certificate approve ${name}`)
        assert.match(await watch.line(), /Approved$/)
      } finally {
        await watch.stop()
      }
      assert.equal((await kubectl.run(`delete csr ${name}`)).stdout, `${resource} "${name}" deleted\n`)
    })
  }
})

describe('kubectl 1.20', { concurrency: 3 }, () => {
  const skip = noOldKubectl
  let kubectl: Kubectl
  before(() => {
    if (!skip) kubectl = cluster().as({ program: oldKubectl, home: join(cluster().folder, '..', 'old') })
  })

  test('creates, approves, describes, waits for and deletes a request', { skip }, async () => {
    const object = await requestObject({ name: 'old', signerName: foreign, expirationSeconds: 3600 })
    assert.equal(await kubectl.ok('create --validate=false -f -', object), `${resource}/old created\n`)
    assert.match(await kubectl.ok('describe csr old'), /^Status: +Pending$/m)
    assert.equal(await kubectl.ok('certificate approve old'), `${resource}/old approved\n`)
    assert.equal(
      await kubectl.fails('certificate deny old'),
      'error: certificate signing request "old" is already Approved\n',
    )
    assert.equal(await kubectl.ok('wait --for=condition=Approved csr/old'), `${resource}/old condition met\n`)
    assert.deepEqual(cells(await kubectl.ok('get csr old')), [
      ['NAME', 'AGE', 'SIGNERNAME', 'REQUESTOR', 'REQUESTEDDURATION', 'CONDITION'],
      ['old', 'AGE', foreign, 'kubernetes-admin', '60m', 'Approved'],
    ])
    assert.equal(await kubectl.ok('delete csr old'), `${resource} "old" deleted\n`)
  })

  test('applies, patches and labels', { skip }, async () => {
    const apply = (data: Record<string, string>) => {
      const metadata = { name: 'old', namespace: 'default' }
      return kubectl.ok('apply --validate=false -f -', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        data,
      })
    }
    assert.equal(await apply({ a: '1' }), 'configmap/old created\n')
    assert.equal(await apply({ a: '1' }), 'configmap/old unchanged\n')
    assert.equal(await apply({ a: '2' }), 'configmap/old configured\n')
    assert.equal(
      await kubectl.ok(['patch', 'cm', 'old', '-p', '{"data":{"b":"1"}}']),
      'configmap/old patched\n',
    )
    assert.equal(await kubectl.ok('label cm old x=y'), 'configmap/old labeled\n')
    assert.equal(await kubectl.ok(['get', 'cm', 'old', '-o', 'jsonpath={.data}']), '{"a":"2","b":"1"}')
  })

  test('creates the objects it posts without a content type', { skip }, async () => {
    const kinds = [
      'sa old',
      'secret generic old --from-literal=a=1',
      'configmap old-too --from-literal=a=1',
      'ns old',
    ]
    const printed = await Promise.all(kinds.map(kind => kubectl.ok(`create ${kind}`)))
    assert.deepEqual(printed, [
      'serviceaccount/old created\n',
      'secret/old created\n',
      'configmap/old-too created\n',
      'namespace/old created\n',
    ])
  })

  test('asks who may do what, and what there is', { skip }, async () => {
    const [rights, node, resources, ready] = await Promise.all([
      kubectl.ok('auth can-i --list'),
      kubectl.run('auth can-i delete nodes --as system:node:x --as-group system:nodes'),
      kubectl.ok('api-resources --api-group=certificates.k8s.io --no-headers'),
      kubectl.ok('get --raw /readyz'),
    ])
    assert.match(rights, /^\*\.\* +\[\] +\[\] +\[\*\]$/m)
    assert.deepEqual([node.code, node.stdout], [1, 'no\n'])
    assert.match(
      resources,
      /^certificatesigningrequests +csr +certificates\.k8s\.io\/v1 +false +CertificateSigningRequest$/m,
    )
    assert.equal(ready, 'ok')
    assert.match(
      await kubectl.fails('create -f - --validate=false', {
        kind: 'Pot',
        apiVersion: 'v1',
        metadata: { name: 'x' },
      }),
      /no matches for kind "Pot" in version "v1"/,
    )
  })
})

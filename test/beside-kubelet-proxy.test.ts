import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { type BesideKubelet, curlAsNobody, startBesideKubelet } from './support/beside-kubelet.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { type Kubectl, kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'
import type { RollcallProcess } from './support/rollcall-process.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'

// kubectl plays the kubelet: both are client-go, and this kubeconfig is the kubelet's.
const notRoot = process.getuid?.() !== 0 && 'needs root'
const skip = noKubectl || whyNoSoftHsm() || whyNoTokenTls()

describe('beside a kubelet in proxy mode, with the key in a token', { skip }, () => {
  let node: BesideKubelet
  let agent: RollcallProcess
  let kubelet: Kubectl
  let admin: Kubectl
  let port: number
  const hsm = skip ? undefined : softHsm('node')
  const token = () => readFileSync(node.in('agent/kubelet/proxy-token'), 'utf8')

  before(async () => {
    port = await freePort()
    assert.ok(hsm)
    node = await startBesideKubelet('proxy', {
      lifetime: '10m',
      environment: hsm.environment,
      flags: ['--proxy-port', String(port), '--client-key', hsm.uri('token=node')],
    })
    agent = node.startAgent()
    await agent.ready
    kubelet = kubectl({ kubeconfig: node.kubeletKubeconfig, home: node.in('home') })
    admin = kubectl({ kubeconfig: node.adminKubeconfig, home: node.in('admin') })
    await admin.ok('create -f -', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } })
  })
  after(async () => {
    await node?.stop()
    hsm?.remove()
  })

  /** All that is answered to these bytes on one connection; ends when the proxy ends it. */
  async function raw(head: string): Promise<string> {
    const ca = readFileSync(node.in('agent/kubelet/proxy-ca.crt'))
    const socket = connect({ host: '127.0.0.1', port, ca })
    socket.setEncoding('utf8').write(head)
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      if (/\r\n\r\n[\s\S]*(\n|\})$/.test(text)) break
    }
    socket.destroy()
    return text
  }
  const request = (headers: string[], path = '/api/v1/nodes/node-a', method = 'GET') =>
    raw(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers.map(line => `${line}\r\n`).join('')}\r\n`,
    )
  /** Requests that came to the API so far, by who asked. */
  const audited = () =>
    readFileSync(node.in('server/audit.log'), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as { requestURI: string; user: { username: string; groups: string[] } })

  test('client-go acts as the node: get, list, a watch that streams, a request with a body', async () => {
    assert.equal(await kubelet.ok('get node node-a -o name'), 'node/node-a\n')
    const watch = kubelet.follow('get nodes --field-selector metadata.name=node-a --watch -o name')
    try {
      assert.equal(await watch.line(), 'node/node-a')
      await kubelet.ok('label node node-a a=b')
      assert.equal(await watch.line(), 'node/node-a')
    } finally {
      await watch.stop()
    }
    const asked = audited().filter(({ requestURI }) => requestURI.startsWith('/api/v1/nodes/node-a'))
    assert.ok(asked.some(({ user }) => user.username === 'system:node:node-a'))
  })

  test('client-go of 1.20 acts as the node', { skip: noOldKubectl }, async () => {
    const old = kubectl({ kubeconfig: node.kubeletKubeconfig, home: node.in('old'), program: oldKubectl })
    assert.equal(await old.ok('get node node-a -o name'), 'node/node-a\n')
  })

  test('attack: who has no token, or another, or two, is refused and nothing goes upstream', async () => {
    const marker = '/api/v1/nodes?attack=1'
    for (const headers of [
      [],
      ['Authorization: Bearer '],
      [`Authorization: Bearer ${token().slice(0, -1)}`],
      [`Authorization: Bearer ${token()}x`],
      [`Authorization: Basic ${token()}`],
      ['Authorization: Bearer x', `Authorization: Bearer ${token()}`],
      [`X-Authorization: Bearer ${token()}`],
    ]) {
      assert.match(await request(headers, marker), /^HTTP\/1\.1 401 [\s\S]*"reason":"Unauthorized"/)
      const upgrade = [...headers, 'Connection: Upgrade', 'Upgrade: websocket']
      assert.match(await request(upgrade, marker), /^HTTP\/1\.1 401 /)
    }
    await kubelet.ok('get node node-a -o name')
    assert.deepEqual(
      audited().filter(({ requestURI }) => requestURI.includes('attack=1')),
      [],
    )
  })

  test('attack: an unprivileged process, and with it a pod with hostNetwork, gets 401', {
    skip: notRoot,
  }, () => {
    const url = `https://127.0.0.1:${port}/api/v1/nodes?attack=3`
    const ask = ['-k', '-o', '/dev/null', '-w', '%{http_code}']
    assert.deepEqual(curlAsNobody([...ask, url]), { code: 0, stdout: '401' })
    const guess = ['-H', 'Authorization: Bearer AAAA', '-H', 'X-Remote-User: admin']
    assert.deepEqual(curlAsNobody([...ask, ...guess, url]), { code: 0, stdout: '401' })
    assert.equal(curlAsNobody([`file://${node.in('agent/kubelet/proxy-token')}`]).code, 37)
    assert.deepEqual(
      audited().filter(({ requestURI }) => requestURI.includes('attack=3')),
      [],
    )
  })

  test('attack: a name in Host that is not ours, and an absolute URL, are refused', async () => {
    const bearer = `Authorization: Bearer ${token()}`
    assert.match(
      await raw(`GET /api?attack=2 HTTP/1.1\r\nHost: evil.example:${port}\r\n${bearer}\r\n\r\n`),
      /^HTTP\/1\.1 421 /,
    )
    assert.match(await request([bearer], 'http://evil.example/api?attack=2'), /^HTTP\/1\.1 400 /)
    assert.deepEqual(
      audited().filter(({ requestURI }) => requestURI.includes('attack=2')),
      [],
    )
  })

  test('attack: whoever has the token is the node and cannot become anybody else', async () => {
    const bearer = `Authorization: Bearer ${token()}`
    const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const answer = await raw(
      [
        `POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${bearer}\r\n`,
        'Impersonate-User: admin\r\nImpersonate-Group: system:masters\r\nImpersonate_User: admin\r\n',
        'X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\nCookie: a=b\r\nContent-Type: application/json\r\n',
        `Content-Length: ${review.length}\r\n\r\n${review}`,
      ].join(''),
    )
    assert.match(answer, /^HTTP\/1\.1 201 /)
    assert.match(answer, /"username": ?"system:node:node-a"/)
    assert.doesNotMatch(answer, /admin|masters/)
  })

  test('no key of the client certificate is on the disk, and the token is for its owner alone', () => {
    assert.equal(statSync(node.in('agent/kubelet/proxy-token')).mode & 0o777, 0o600)
    assert.match(token(), /^[\w-]{43}$/)
    const pem = readFileSync(node.in('agent/pki/kubelet-client-current.pem'), 'utf8')
    assert.doesNotMatch(pem, /BEGIN (EC |RSA )?PRIVATE KEY/)
    assert.doesNotMatch(readFileSync(node.kubeletKubeconfig, 'utf8'), /PRIVATE|client-key/)
  })

  test('an agent that starts again is found again with the same kubeconfig, and the kubelet waits meanwhile', async () => {
    const before = readFileSync(node.kubeletKubeconfig, 'utf8')
    await agent.stop()
    agent = node.startAgent()
    await agent.ready
    assert.equal(readFileSync(node.kubeletKubeconfig, 'utf8'), before)
    assert.equal(await kubelet.ok('get node node-a -o name'), 'node/node-a\n')
  })

  test('without a certificate the answer is 503 and not the loss of a connection', async () => {
    await agent.stop()
    writeFileSync(node.in('server/bootstrap.kubeconfig'), 'apiVersion: v1\nkind: Config\n')
    agent = node.startAgent(['--cert-dir', node.in('agent/empty')])
    const answer = await eventually('the proxy answers', () =>
      request([`Authorization: Bearer ${token()}`]).catch(() => undefined),
    )
    assert.match(answer, /^HTTP\/1\.1 503 [\s\S]*no client certificate now/)
  })
})

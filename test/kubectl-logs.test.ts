import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { type Kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'
import { type NodeCluster, startNodeCluster } from './support/node-cluster.ts'

// A control plane, a node with plain processes as pods, and kubectl as the judge: the one of PATH speaks WebSocket, 1.20
// speaks SPDY/3.1. Both go through the API server to the node's own HTTPS server.

const notRoot = process.getuid?.() === 0 ? false : 'pods as processes of their own need root'
const skip = noKubectl || notRoot
const pod = 'web-node-a'

let started: NodeCluster | undefined
const cluster = () => started ?? assert.fail('the cluster is started before the first test')

before(async () => {
  if (skip) return
  started = await startNodeCluster()
  await cluster().run({
    name: 'web',
    script: 'i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done',
    container: { env: [{ name: 'COLOR', value: 'blue' }], workingDir: '/tmp' },
    spec: { securityContext: { runAsUser: 65_534 } },
  })
})
after(() => started?.stop())

/** What both programs must be able to do. */
function streams(name: string, program: string, skip: string | false) {
  const kubectl = (): Kubectl => cluster().kubectl({ program })

  describe(name, () => {
    test(`logs: the last lines, and what comes (${name})`, { skip }, async () => {
      assert.match(await kubectl().ok(`logs ${pod} --tail=2`), /^line \d+\nline \d+\n$/)
      assert.equal(await kubectl().ok(`logs ${pod} --limit-bytes=6`), 'line 1')
      const following = kubectl().follow(`logs -f ${pod} --tail=1`)
      const lines = [await following.line(), await following.line(), await following.line()]
      await following.stop()
      const numbers = lines.map(line => Number(line.split(' ')[1]))
      assert.deepEqual(
        numbers,
        [0, 1, 2].map(more => (numbers[0] ?? 0) + more),
      )
      assert.equal(
        await kubectl().fails(`logs ${pod} --previous`),
        `Error from server (BadRequest): previous terminated container "main" in pod "${pod}" not found\n`,
      )
    })

    test(`exec: in the container's environment, folder and user, with its exit code (${name})`, {
      skip,
    }, async () => {
      const script = 'echo $COLOR; pwd; id -u; echo to stderr >&2; exit 3'
      assert.deepEqual(await kubectl().run(['exec', pod, '--', 'sh', '-c', script]), {
        code: 3,
        stdout: 'blue\n/tmp\n65534\n',
        stderr: 'to stderr\ncommand terminated with exit code 3\n',
      })
    })

    test(`exec -i: a megabyte goes in and comes out again, and its end is told (${name})`, {
      skip,
    }, async () => {
      const text = 'rollcall'.repeat(131_072)
      assert.equal(await kubectl().ok(`exec -i ${pod} -- cat`, text), text)
    })

    test(`exec of what is not there names it (${name})`, { skip }, async () => {
      assert.equal(
        await kubectl().fails(`exec ${pod} -c other -- ls`),
        `Error from server (BadRequest): container other is not valid for pod ${pod}\n`,
      )
      const { code, stderr } = await kubectl().run(`exec ${pod} -- /no/such/program`)
      assert.notEqual(code, 0)
      assert.match(stderr, /no\/such\/program/)
    })

    test(`exec -it has a terminal of the user's size (${name})`, { skip }, async () => {
      const kubeconfig = `--kubeconfig=${cluster().adminKubeconfig}`
      const command = [
        program,
        kubeconfig,
        'exec',
        '-it',
        pod,
        '--',
        'sh',
        '-c',
        "'sleep 1; stty size; exit 5'",
      ]
      const child = spawn('script', ['-qec', `stty rows 33 cols 77; ${command.join(' ')}`, '/dev/null'], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { PATH: process.env.PATH, HOME: cluster().home, TERM: 'xterm' },
      })
      let text = ''
      child.stdout.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      const code = await new Promise(resolve => child.on('close', resolve))
      assert.match(text, /33 77\r\n/)
      assert.equal(code, 5)
    })

    test(`attach shows what the container writes from now on (${name})`, { skip }, async () => {
      const attached = kubectl().follow(`attach ${pod}`)
      assert.match(await attached.line(), /^line \d+$/)
      await attached.stop()
    })

    test(`port-forward: several connections, each with a body (${name})`, {
      skip,
    }, async t => {
      const server = createServer((request, response) => {
        let size = 0
        request.on('data', chunk => {
          size += chunk.length
        })
        request.on('end', () => response.end(`${request.url} ${size}`))
      })
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      const forwarding = kubectl().follow(`port-forward pod/${pod} :${port}`)
      const local = async () => /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(await forwarding.line())?.[1]
      const first = await local()
      const sizes = [0, 1, 300_000]
      const bodies = await Promise.all(
        sizes.map(async size => {
          const body = { method: 'POST', body: 'x'.repeat(size) }
          return (await fetch(`http://127.0.0.1:${first}/${size}`, body)).text()
        }),
      )
      assert.deepEqual(
        bodies,
        sizes.map(size => `/${size} ${size}`),
      )
      await forwarding.stop()
    })

    test(`nodes/proxy leads to the node's own server (${name})`, { skip }, async () => {
      assert.equal(await kubectl().ok('get --raw /api/v1/nodes/node-a/proxy/healthz'), 'ok')
      const { items } = JSON.parse(await kubectl().ok('get --raw /api/v1/nodes/node-a/proxy/pods'))
      assert.deepEqual(
        items.map(({ metadata, status }: { metadata: { name: string }; status: { phase: string } }) => [
          metadata.name,
          status.phase,
        ]),
        [[pod, 'Running']],
      )
      assert.match(
        await kubectl().fails('get --raw /api/v1/nodes/node-a/proxy/nowhere'),
        /^Error from server \(NotFound\)/,
      )
    })
  })
}

streams('WebSocket', 'kubectl', skip)
streams('SPDY', oldKubectl, skip || noOldKubectl)

test('kubectl of PATH came by WebSocket, 1.20 by SPDY', { skip: skip || noOldKubectl }, () => {
  const seen = cluster()
    .audited()
    .filter(({ responseStatus }) => responseStatus?.code === 101)
    .map(({ verb, userAgent = '' }) => `${/^kubectl\/v\d+\.\d+/.exec(userAgent)} ${verb}`)
  const [websocket, spdy, ...more] = [...new Set(seen)].sort().reverse()
  assert.match(websocket ?? '', /^kubectl\/v1\.(3[1-9]|[4-9]\d) get$/)
  assert.equal(spdy, 'kubectl/v1.20 create')
  assert.deepEqual(more, [])
})

test('the audit log names who runs a command while it runs', { skip }, async () => {
  const running = cluster().kubectl().follow(['exec', pod, '--', 'sh', '-c', 'echo begun; sleep 60; : named'])
  assert.equal(await running.line(), 'begun')
  const seen = await eventually('it is in the log', () => {
    const events = cluster()
      .audited()
      .filter(({ requestURI }) => requestURI.includes('named'))
    return (
      events.length > 0 &&
      events.map(({ stage, user, objectRef }) => [stage, user.username, objectRef?.subresource])
    )
  })
  await running.stop()
  assert.deepEqual(seen, [['ResponseStarted', 'kubernetes-admin', 'exec']])
})

test('a pod that crashed has the log of its run before', { skip }, async () => {
  await cluster().run({ name: 'crash', script: 'echo one run; sleep 1; exit 1' })
  const log = await eventually('it has crashed', async () => {
    const { code, stdout } = await cluster().kubectl().run('logs crash-node-a --previous')
    return code === 0 && stdout
  })
  assert.equal(log, 'one run\n')
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { type Agent, startAgent } from '../src/agent/agent.ts'
import { serveProxy } from '../src/agent/beside-kubelet/serve-proxy.ts'
import { serveSocket } from '../src/agent/beside-kubelet/serve-socket.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { connectHttps } from '../src/kube/https-transport.ts'
import { recordingLog } from '../src/testing/recording-log.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { kubectl, noKubectl } from './support/kubectl.ts'
import {
  executable,
  type RollcallProcess,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const credentialId = 'authentication.kubernetes.io/credential-id'

// `kubectl proxy` is a client-go that runs on, as a kubelet does; the API's audit log tells which certificate it presents.
for (const mode of ['exec', 'proxy'] as const)
  describe(`a running client-go beside the agent, mode ${mode}`, { skip: noKubectl }, () => {
    const folder = temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    const log = recordingLog()
    /** Behind, so that what client-go is told to ask again in five minutes is over in seconds. */
    let ahead = -290_000
    const clock = { ...hostPorts.clock, now: () => Date.now() + ahead }
    let server: RollcallProcess
    let agent: Agent
    let running: ReturnType<typeof spawn>
    let address: string

    before(async () => {
      server = startRollcall(['server', '--dir', at('server'), '--port', '0', '--cert-lifetime', '10m'])
      await server.ready
      agent = startAgent(
        {
          nodeName: 'node-a',
          addresses: [{ type: 'Hostname', address: 'node-a' }],
          certDirectory: at('pki'),
          kubeconfigPath: at('kubeconfig'),
          bootstrapKubeconfigPath: at('server/bootstrap.kubeconfig'),
          rotateCertificates: true,
          serverTLSBootstrap: true,
          clockCheckSeconds: 1,
          besideKubelet: {
            mode,
            kubeconfigPath: at('kubelet.conf'),
            command: executable,
            socketPath: at('run/agent.sock'),
            proxyPort: await freePort(),
            directory: at('kubelet'),
            unit: 'kubelet.service',
          },
        },
        { ...hostPorts, clock, log, connect: connectHttps, beside: { serveSocket, serveProxy } },
      )
      await eventually('the node has joined', () => agent.status().client.state === 'Valid')
      await eventually('the kubeconfig is there', () =>
        log.lines.some(line => /kubelet's kubeconfig was/.test(line)),
      )
      running = spawn('kubectl', ['--kubeconfig', at('kubelet.conf'), 'proxy', '--port', '0'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: process.env.PATH, HOME: at('home') },
      })
      assert.ok(running.stdout)
      const { value = '' } = await createInterface({ input: running.stdout })[Symbol.asyncIterator]().next()
      address = value.replace(/^Starting to serve on /, '')
    })
    after(async () => {
      running?.kill()
      await agent?.stop()
      await server?.stop()
      folder.remove()
    })

    const ask = async (marker: string) =>
      (await fetch(`http://${address}/api/v1/nodes/node-a?m=${marker}`)).status
    /** Which certificate presented the request with this marker. */
    const presented = (marker: string) =>
      readFileSync(at('server/audit.log'), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
        .find(event => event.requestURI?.includes(`m=${marker}`))?.user.extra?.[credentialId]?.[0] as string

    test('takes the new certificate on without a restart', async () => {
      assert.equal(await ask('first'), 404, 'no kubelet has registered the Node')
      const { serial } = agent.status().client
      // What is issued is judged by the right time again.
      const end = agent.onChange(() => {
        if (agent.status().client.requesting) ahead = -290_000
      })
      ahead = (agent.status().client.deadline ?? 0) - Date.now() + 1000
      await eventually('the certificate is renewed', () => agent.status().client.serial !== serial)
      end()
      // client-go closes its connections when its plugin gives another certificate, and now and then the one it writes on.
      let cut = mode === 'exec' ? 1 : 0
      await eventually('it presents the new one', async () => {
        const marker = `try-${Math.random()}`
        const status = await ask(marker)
        if (status === 500 && cut-- > 0) return false
        assert.equal(status, 404)
        const id = await eventually('it is in the audit log', () => presented(marker))
        return id !== presented('first')
      })
    })

    test('report 32: the serving pair of a kubelet beside is the cluster’s, once its Node shows an address', async () => {
      const self = readFileSync(at('kubelet/kubelet-serving.pem'), 'utf8')
      const admin = kubectl({ kubeconfig: at('server/admin.kubeconfig'), home: at('admin') })
      await admin.ok('create -f -', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-a' },
      })
      const status = { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] } }
      await admin.ok(['patch', 'node', 'node-a', '--subresource=status', '-p', JSON.stringify(status)])
      await eventually('the request is judged', async () => {
        const requests = await admin.ok('get csr -o wide --no-headers')
        const [pending] = requests
          .split('\n')
          .filter(line => /kubelet-serving/.test(line) && /Pending/.test(line))
        if (pending) await admin.run(`certificate approve ${pending.split(' ')[0]}`)
        return readFileSync(at('kubelet/kubelet-serving.pem'), 'utf8') !== self
      })
    })
  })

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Containerd, noContainerd, startContainerd } from './support/containerd.ts'
import { noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'
import { type NodeCluster, startNodeCluster } from './support/node-cluster.ts'

// The same ways as in kubectl-logs.test.ts, into containers of a real containerd: its own streaming server speaks SPDY,
// the API server and the node pass the bytes through.

const skip = noKubectl || noContainerd
const pod = 'web-node-a'

let containerd: Containerd | undefined
let started: NodeCluster | undefined
const cluster = () => started ?? assert.fail('the cluster is started before the first test')

before(async () => {
  if (skip) return
  containerd = await startContainerd()
  started = await startNodeCluster(containerd)
  await cluster().run({
    name: 'web',
    script: 'i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done',
    container: { env: [{ name: 'COLOR', value: 'blue' }] },
    spec: { securityContext: { runAsUser: 65_534 } },
  })
})
after(async () => {
  await started?.stop()
  await containerd?.close()
})

function streams(name: string, program: string, skip: string | false) {
  const kubectl = () => cluster().kubectl({ program })

  describe(`containers of containerd, ${name}`, { skip }, () => {
    test(`logs, with the times of their lines, and what comes (${name})`, async () => {
      assert.match(await kubectl().ok(`logs ${pod} --tail=2`), /^line \d+\nline \d+\n$/)
      assert.match(
        await kubectl().ok(`logs ${pod} --tail=1 --timestamps --since=1m`),
        /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S+ line \d+\n$/,
      )
      const following = kubectl().follow(`logs -f ${pod} --tail=1`)
      const numbers = [await following.line(), await following.line()].map(line => Number(line.split(' ')[1]))
      await following.stop()
      assert.equal(numbers[1], (numbers[0] ?? 0) + 1)
    })

    test(`exec in the container, with stdin and exit code (${name})`, async () => {
      assert.deepEqual(await kubectl().run(['exec', pod, '--', 'sh', '-c', 'echo $COLOR; id -u; exit 3']), {
        code: 3,
        stdout: 'blue\n65534\n',
        stderr: 'command terminated with exit code 3\n',
      })
      const text = 'rollcall'.repeat(10_000)
      assert.equal(await kubectl().ok(`exec -i ${pod} -- cat`, text), text)
    })

    test(`attach, and a forwarded port (${name})`, async t => {
      const attached = kubectl().follow(`attach ${pod}`)
      assert.match(await attached.line(), /^line \d+$/)
      await attached.stop()
      const server = createServer((request, response) => response.end(`hello ${request.url}`))
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      const forwarding = kubectl().follow(`port-forward pod/${pod} :${port}`)
      const local = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(await forwarding.line())?.[1]
      assert.equal(await (await fetch(`http://127.0.0.1:${local}/there`)).text(), 'hello /there')
      await forwarding.stop()
    })
  })
}

streams('kubectl of PATH', 'kubectl', skip)
streams('kubectl 1.20', oldKubectl, skip || noOldKubectl)

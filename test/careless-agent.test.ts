import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { startRollcall, temporaryFolder } from './support/rollcall-process.ts'

test('careless: pipes, devices, folders and half files where an agent reads hold it up nowhere, and it joins when they are put right', async () => {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  execFileSync('mkfifo', [at('bootstrap')])
  mkdirSync(at('kubeconfig'))
  mkdirSync(at('pki'))
  symlinkSync('/dev/zero', at('pki/kubelet-client-current.pem'))
  mkdirSync(at('manifests'))
  symlinkSync('/dev/zero', at('manifests/endless.yaml'))
  writeFileSync(at('manifests/half.yaml'), 'apiVersion: v1\nkind: Po')
  const spec = {
    hostNetwork: true,
    terminationGracePeriodSeconds: 0,
    containers: [
      { name: 'c', image: 'host', command: ['/bin/sh', '-c', `echo up >>${at('up')}; sleep 1000`] },
    ],
  }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }
  writeFileSync(at('manifests/web.json'), JSON.stringify(pod))
  const server = startRollcall(['server', '--dir', at('server'), '--port', '0'])
  const agent = startRollcall([
    ...['agent', '--node', 'node-a', '--node-ip', '127.0.0.1', '--address', '127.0.0.1', '--port', '0'],
    ...['--kubeconfig', at('kubeconfig'), '--cert-dir', at('pki'), '--bootstrap-kubeconfig', at('bootstrap')],
    ...['--static-pods', at('manifests'), '--static-pods-state', at('state')],
    ...['--runtime', 'process', '--static-pods-as-root', '--stop-pods-on-exit'],
  ])
  try {
    await eventually('it says what is wrong with each', () =>
      [
        /endless.yaml.*is no ordinary file/,
        /half.yaml.*kind: is/,
        /kubelet-client-current.pem.*no ordinary file/,
        /bootstrap: Unreadable: EFTYPE/,
        /a container of a static pod was started/,
      ].every(said => said.test(agent.stderr())),
    )
    await server.ready
    rmdirSync(at('kubeconfig'))
    rmSync(at('bootstrap'))
    copyFileSync(at('server/bootstrap.kubeconfig'), at('bootstrap'))
    await agent.ready
    assert.equal(await agent.stop(), 0)
  } finally {
    await agent.stop()
    await server.stop()
    folder.remove()
  }
})

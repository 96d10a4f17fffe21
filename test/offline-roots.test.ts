import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { formatName } from '../src/x509/name.ts'
import { eventually } from './support/eventually.ts'
import { runRollcall, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const patience = 60_000

test('with its trust root elsewhere a server waits with CeremonyNeeded, and goes on when a ceremony was held; so does a node', {
  timeout: 240_000,
}, async () => {
  const folder = temporaryFolder()
  const here = (name: string) => join(folder.path, name)
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await runRollcall(words)
    assert.equal(code, 0, `${words.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  await run('trust', 'root', 'generate', here('root'))
  const roots = await run('trust', 'roots', '--cluster', 'offline', '--threshold', '1', here('root.pub'))
  writeFileSync(here('trust-roots'), roots)
  const server = startRollcall(['server', '--dir', folder.path, '--port', '0'])
  await server.ready
  const agent = startRollcall(agentFlags(here))
  try {
    assert.equal(readFileSync(here('trust-roots'), 'utf8'), roots, 'roots that are there are left alone')
    const admin = ['--kubeconfig', here('admin.kubeconfig')]
    const shows = (pattern: RegExp, ...words: string[]) =>
      eventually(
        `${words.join(' ')}: ${pattern}`,
        async () => pattern.test(await run(...words, ...admin)),
        patience,
      )
    await shows(/worker-1 +Ready/, 'nodes')
    const timings = ['bridgeSoak=1s', 'quiet=2s', 'jitter=1s'].flatMap(one => ['--timing', one])
    await run('ca', 'start', 'client', ...timings, ...admin)
    await shows(/CeremonyNeeded/, 'ca', 'status')
    const cas = [here('pki/ca.crt'), here('ca/ca-client-2.crt')].flatMap(file => ['--ca', file])
    const signing = ['--roots', here('trust-roots'), '--key', here('root'), '--out', here('bundles.yaml')]
    await run('trust', 'ceremony', '--role', 'client', ...cas, ...signing)
    await run('trust', 'publish', here('bundles.yaml'), ...admin)
    await shows(/Done/, 'ca', 'status')
    await shows(/generation 1 of client, Steady, for cluster offline/, 'trust', 'show', 'client-1')
    await shows(/agent\/worker-1 .*client L3 bundle 3/, 'trust', 'ls')
    const [leaf] = parseCertificatesPem(readFileSync(here('node/pki/kubelet-client-current.pem'), 'utf8'))
    assert.equal(leaf && formatName(leaf.issuer), 'CN=rollcall-client-ca-2')
  } finally {
    await agent.stop()
    await server.stop()
    folder.remove()
  }
})

function agentFlags(here: (name: string) => string): string[] {
  const flags = {
    node: 'worker-1',
    'node-ip': '127.0.0.1',
    address: '127.0.0.1',
    port: '0',
    'bootstrap-kubeconfig': here('bootstrap.kubeconfig'),
    kubeconfig: here('node/kubeconfig'),
    'cert-dir': here('node/pki'),
    'trust-roots': here('trust-roots'),
  }
  return [
    'agent',
    '--rotate-certificates',
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  ]
}

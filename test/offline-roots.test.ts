import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { runRollcall, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

test('with its trust root elsewhere a server waits with CeremonyNeeded, and goes on when a ceremony was held', {
  timeout: 180_000,
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
  try {
    await server.ready
    assert.equal(readFileSync(here('trust-roots'), 'utf8'), roots, 'roots that are there are left alone')
    const admin = ['--kubeconfig', here('admin.kubeconfig')]
    const timings = ['bridgeSoak=1s', 'quiet=2s', 'jitter=1s'].flatMap(one => ['--timing', one])
    await run('ca', 'start', 'client', ...timings, ...admin)
    const status = () => run('ca', 'status', ...admin)
    await eventually('it waits for the trust roots', async () =>
      /CeremonyNeeded/.test(await status()) ? true : undefined,
    )
    const cas = [here('pki/ca.crt'), here('ca/ca-client-2.crt')].flatMap(file => ['--ca', file])
    const signing = ['--roots', here('trust-roots'), '--key', here('root'), '--out', here('bundles.yaml')]
    await run('trust', 'ceremony', '--role', 'client', ...cas, ...signing)
    await run('trust', 'publish', here('bundles.yaml'), ...admin)
    await eventually(
      'the rotation is done',
      async () => (/Done/.test(await status()) ? true : undefined),
      90_000,
    )
    assert.match(
      await run('trust', 'show', 'client-1', ...admin),
      /generation 1 of client, Steady, for cluster offline/,
    )
  } finally {
    await server.stop()
    folder.remove()
  }
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { type CertificateSigningRequest, type KubeEvent, resources, signerNames } from '../src/kube/types.ts'
import { requestObject } from './support/certificate-request.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { opensslVerify } from './support/openssl.ts'
import {
  executable,
  type RollcallProcess,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'
import { emptySoftHsm, whyNoSoftHsm } from './support/softhsm.ts'

const page = readFileSync(fileURLToPath(new URL('../docs/guides/keys-in-an-hsm.md', import.meta.url)), 'utf8')
/** The commands of the page, a line each; the last one starts the controller. */
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
)
const pin = /--pin (\d+)/.exec(page)?.[1] ?? ''

suite('docs/guides/keys-in-an-hsm.md', { skip: whyNoSoftHsm() }, () => {
  const hsm = emptySoftHsm()
  const folder = temporaryFolder()
  const environment = { ...hsm.environment, PATH: `${dirname(executable)}:${process.env.PATH}` }
  let server: RollcallProcess
  let controller: RollcallProcess
  let admin: Awaited<ReturnType<typeof clientOf>>
  let metrics: string

  before(async () => {
    server = startRollcall(['server', '--no-controllers', '--dir', join(folder.path, 'dir'), '--port', '0'])
    await server.ready
    const kubeconfig = join(folder.path, 'admin.kubeconfig')
    copyFileSync(join(folder.path, 'dir/admin.kubeconfig'), kubeconfig)
    admin = await clientOf(kubeconfig)
  })
  after(async () => {
    admin?.transport.closeConnections()
    await controller?.stop()
    await server?.stop()
    folder.remove()
    hsm.remove()
  })

  const run = (line: string) =>
    promisify(execFile)('sh', ['-c', line], { cwd: folder.path, env: { ...process.env, ...environment } })

  /** An approved request of a client; the name of the request. */
  async function approved(name: string): Promise<string> {
    const wanted = await requestObject({ name, signerName: signerNames.apiserverClient })
    const csrs = resources.certificateSigningRequests
    const created = await admin.client.create(csrs, wanted as unknown as CertificateSigningRequest)
    const condition = { type: 'Approved', status: 'True' as const, reason: 'ByTest' }
    await admin.client.update<CertificateSigningRequest>(
      csrs,
      { ...created, status: { conditions: [condition] } },
      { subresource: 'approval' },
    )
    return name
  }

  async function certificateOf(name: string): Promise<string> {
    const pem = await eventually(`${name} is signed`, async () => {
      const csr = await admin.client.get<CertificateSigningRequest>(resources.certificateSigningRequests, {
        name,
      })
      return csr.status?.certificate
    })
    return Buffer.from(pem, 'base64').toString()
  }

  async function verified(pem: string): Promise<void> {
    const { code, output } = await opensslVerify(pem, join(folder.path, 'ca.crt'), 'sslclient')
    assert.equal(code, 0, output)
  }

  const usable = async () =>
    /^rollcall_signing_ca_usable\{signer="kubernetes.io\/kube-apiserver-client"\} (\d)$/m.exec(
      await fetch(metrics).then(answer => answer.text()),
    )?.[1]

  test('its commands make a CA in a token that signs what openssl verifies', async () => {
    assert.equal(commands.length, 6)
    for (const line of commands.slice(0, -1)) await run(line)
    const address = `127.0.0.1:${await freePort()}`
    metrics = `http://${address}/metrics`
    const [, ...words] = [...(commands.at(-1) ?? '').matchAll(/"([^"]*)"|\S+/g)].map(([all, quoted]) =>
      (quoted ?? all)
        .replace('$PWD', folder.path)
        .replace(/^(admin\.kubeconfig|ca\.crt)$/, `${folder.path}/$1`),
    )
    controller = startRollcall(
      [...words, '--no-leader-election', '--metrics-listen', address],
      hsm.environment,
    )
    await controller.ready
    await verified(await certificateOf(await approved('first')))
    assert.equal(await usable(), '1')
  })

  test('while the token is away requests wait and say so; when it is back they are signed', async () => {
    hsm.pull()
    await eventually('it is seen before anything is to be signed', async () => (await usable()) === '0')
    const name = await approved('second')
    await eventually('an Event tells of it', async () => {
      const { items } = await admin.client.list<KubeEvent>(resources.events, { namespace: 'default' })
      return items.some(
        ({ reason, involvedObject }) => reason === 'SignerUnavailable' && involvedObject.name === name,
      )
    })
    hsm.putBack()
    await verified(await certificateOf(name))
    assert.equal(await usable(), '1')
  })

  test('rollcall key says what is wrong: a name that is taken, a PIN in the URI, a token or key that is not there', async () => {
    const [, uri = ''] = /rollcall key show "([^"]*)"/.exec(page) ?? []
    const refused = async (command: string, key: string, code: number, what: RegExp) => {
      const line = `rollcall key ${command} "${key}"`
      const failed = await run(line).then(
        () => assert.fail(line),
        (error: { code: number; stderr: string }) => error,
      )
      assert.equal(failed.code, code, failed.stderr)
      assert.match(failed.stderr, what)
      assert.doesNotMatch(failed.stderr, /40628517|\n {4}at /)
    }
    await refused('generate', uri, 2, /holds a key named "kubernetes-ca" already/)
    await refused('show', `${uri.split('?')[0]}?pin-value=40628517`, 2, /pin-source=file/)
    await refused('show', uri.replace('token=cluster-ca', 'token=other'), 1, /the module shows "cluster-ca"/)
    await refused(
      'show',
      uri.replace('object=kubernetes-ca', 'object=other'),
      1,
      /no private key object="other"/,
    )
  })

  test('the PIN is in no command line, log or object, and no private key lies beside the token', async () => {
    const commandLine = readFileSync(`/proc/${controller.child.pid}/cmdline`, 'utf8')
    const { stdout: listing } = await run(
      'find . -type f ! -path "./ca.pin" -print0 | xargs -0 grep -l -a -e PIN_OF_TOKEN || true'.replace(
        'PIN_OF_TOKEN',
        pin,
      ),
    )
    assert.equal(listing, '')
    for (const text of [commandLine, controller.stderr(), server.stderr()]) assert.ok(!text.includes(pin))
    const { stdout: keys } = await run('grep -l -a -r "PRIVATE KEY" --include="*" . || true')
    // The control plane's own keys and kubeconfigs, which this page is not about.
    assert.deepEqual(
      keys.split('\n').filter(path => path !== '' && !/^\.\/(dir\/|admin\.kubeconfig)/.test(path)),
      [],
    )
  })

  test('rollcall up --signing-key: the CA of a whole cluster has its key in the token, and none in --dir', async () => {
    const [, uri = ''] = /rollcall key show "([^"]*)"/.exec(page) ?? []
    const directory = join(folder.path, 'up')
    const key = ['--signing-key', uri.replace('$PWD', folder.path)]
    const up = startRollcall(
      ['up', '--nodes', '1', '--dir', directory, '--port', '0', ...key],
      hsm.environment,
    )
    try {
      await up.ready
      assert.ok(!existsSync(join(directory, 'pki/ca.key')))
      const pem = readFileSync(join(directory, 'nodes/worker-1/pki/kubelet-client-current.pem'), 'utf8')
      const { code, output } = await opensslVerify(pem, join(directory, 'pki/ca.crt'), 'sslclient')
      assert.equal(code, 0, output)
    } finally {
      await up.stop()
    }
  })
})

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { generateSigner } from '../src/keys/private-key.ts'
import { csrCondition } from '../src/kube/csr-conditions.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../src/kube/types.ts'
import { foreignPair } from '../src/testing/https-server.ts'
import { seededRandom } from '../src/testing/seeded-random.ts'
import { signedRequest } from '../src/testing/signed-request.ts'
import { eventually } from './support/eventually.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const folder = temporaryFolder()
const running: RollcallProcess[] = []
const children: ChildProcess[] = []
after(async () => {
  for (const child of children) child.kill()
  for (const program of running.toReversed()) await program.stop()
  folder.remove()
})

function start(...args: string[]): RollcallProcess {
  const program = startRollcall(args)
  running.push(program)
  return program
}

const at = (name: string) => join(folder.path, name)

/** The example, in a process of its own; its address. */
async function startReceiver(): Promise<string> {
  const { certificate, key } = await foreignPair('keeper')
  writeFileSync(at('keeper.pem'), certificate)
  writeFileSync(at('keeper.key'), key)
  writeFileSync(at('token'), 'keep-it\n')
  const script = new URL('../examples/head-receiver/receiver.mjs', import.meta.url).pathname
  const files = ['keeper.pem', 'keeper.key', 'token', 'heads.jsonl'].map(at)
  const child = spawn(process.execPath, [script, '127.0.0.1:0', ...files])
  children.push(child)
  const said = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', chunk => resolve(String(chunk)))
    child.once('exit', () => reject(new Error('the receiver ended')))
  })
  return said.trim().replace('ready ', '')
}

test('a receiver outside keeps the heads; what is cut off of the log is found by them alone', async () => {
  const receiver = await startReceiver()
  const kubeconfig = at('admin.kubeconfig')
  await start('server', '--dir', folder.path, '--port', '0', '--no-controllers').ready
  const { client, transport } = await clientOf(kubeconfig)
  const csrs = resources.certificateSigningRequests
  try {
    const log = at('mine.log')
    const words = ['controller', '--kubeconfig', kubeconfig, '--only', 'csrapproving', '--decision-log', log]
    const to = ['--head-webhook', `${receiver}/heads`]
    const bad = await runRollcall([...words, ...to])
    assert.match(bad.stderr, /needs --head-webhook-ca/)
    const controller = start(
      ...[...words, ...to, '--head-webhook-ca', at('keeper.pem'), '--head-webhook-token', at('token')],
    )
    await controller.ready
    const signer = generateSigner('Ed25519', seededRandom(1))
    const pem = await signedRequest({ signer, commonName: 'system:node:n1' })
    await client.create<CertificateSigningRequest>(csrs, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'n1' },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: signerNames.kubeletClient,
        usages: ['digital signature', 'client auth'],
      },
    })
    await eventually('it is decided', async () => {
      const csr = await client.get<CertificateSigningRequest>(csrs, { name: 'n1' })
      return csrCondition(csr, 'Denied')?.reason === 'RequesterNotNode'
    })
    await controller.stop()
    const verify = ['audit', 'verify', '--offline', '--log', log, '--heads', at('heads.jsonl')]
    const whole = await runRollcall(verify)
    assert.equal(whole.code, 0, whole.stdout + whole.stderr)
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    writeFileSync(log, `${lines.slice(0, -1).join('\n')}\n`)
    rmSync(at('mine.log.key'))
    const cut = await runRollcall(verify)
    assert.equal(cut.code, 3)
    assert.match(cut.stdout, /WRONG: entries (\d+) to \1 are missing/)
  } finally {
    transport.closeConnections()
  }
})

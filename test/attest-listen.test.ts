import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startAgent } from '../src/agent/agent.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { systemNet } from '../src/host/net.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { generateSigner } from '../src/keys/private-key.ts'
import type { Connect } from '../src/kube/transport.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { silentLog } from '../src/ports.ts'
import { encodePem } from '../src/x509/pem.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const folder = temporaryFolder()
const running: RollcallProcess[] = []
after(async () => {
  for (const program of running.toReversed()) await program.stop()
  folder.remove()
})

test('controller --attest-listen: a machine finds it by cluster-info, proves its registered key there and joins', async () => {
  const at = (...parts: string[]) => join(folder.path, ...parts)
  const kubeconfig = at('server/admin.kubeconfig')
  const start = (...args: string[]) => {
    const program = startRollcall(args)
    running.push(program)
    return program.ready
  }
  await start('server', '--dir', at('server'), '--port', '0', '--no-controllers')
  const port = await freePort()
  await start(
    ...['controller', '--kubeconfig', kubeconfig, '--attest-listen', `127.0.0.1:${port}`],
    ...['--signing-cert', at('server/pki/ca.crt'), '--signing-key', at('server/pki/ca.key')],
  )
  const own = generateSigner('ECDSA-P256', hostPorts.random)
  writeFileSync(at('machine.key'), own.exportPem().reveal(), { mode: 0o600 })
  writeFileSync(at('machine.pub'), encodePem('PUBLIC KEY', own.publicKey))
  const approve = ['identity', 'approve', 'n1', '--public-key', at('machine.pub'), '--kubeconfig', kubeconfig]
  assert.equal((await runRollcall(approve)).code, 0)
  const bootstrap = readFileSync(at('server/bootstrap.kubeconfig'), 'utf8')
  writeFileSync(at('server-only.kubeconfig'), bootstrap.replace(/token: .*/, '{}'))

  const proofs: string[] = []
  const connect: Connect = config => {
    const transport = connectUndici(config)
    return {
      ...transport,
      request(request) {
        if (request.url.startsWith('/attest/')) proofs.push(config.server + request.url)
        return transport.request(request)
      },
    }
  }
  const agent = startAgent(
    {
      nodeName: 'n1',
      addresses: [],
      certDirectory: at('n1/pki'),
      kubeconfigPath: at('n1/kubeconfig'),
      bootstrapKubeconfigPath: at('server-only.kubeconfig'),
      attest: { key: { kind: 'file', path: at('machine.key') } },
    },
    {
      ...hostPorts,
      log: silentLog,
      net: systemNet,
      connect,
      token: { load: cryptokiLoader(), startTls: () => Promise.reject(new Error('no token here')) },
    },
  )
  try {
    await eventually('the node has joined', () => agent.status().client.state === 'Valid')
    const url = `https://127.0.0.1:${port}`
    assert.deepEqual(new Set(proofs), new Set([`${url}/attest/v1/begin`, `${url}/attest/v1/finish`]))
  } finally {
    await agent.stop()
  }
})

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, startAgent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { serveHttps } from '../../src/agent/serve-https.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { tokenTlsStarter } from '../../src/cluster/token-tls-child.ts'
import { type KeyPair, parseKeyPair } from '../../src/hold/key-pair.ts'
import { systemNet } from '../../src/host/net.ts'
import { cryptokiLoader } from '../../src/host/pkcs11.ts'
import type { Cryptoki, LoadCryptoki } from '../../src/keys/pkcs11/cryptoki.ts'
import { keyLabels } from '../../src/keys/pkcs11/generate-key.ts'
import { openToken, type Token } from '../../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../../src/keys/pkcs11/uri.ts'
import { Secret } from '../../src/keys/secret.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { recordingLog } from '../../src/testing/recording-log.ts'
import { eventually } from './eventually.ts'
import { leapingClock } from './leaping-clock.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from './rollcall-process.ts'
import type { TokenEquipment } from './softhsm.ts'

export const pin = '86427531'
/** Milliseconds: a TPM is slow. */
const patience = 90_000

/** A node `n1` whose client key is in a token named `node`, and the `rollcall server` that it joins. */
export interface TokenNode {
  equipment: TokenEquipment
  folder: string
  token: Token
  /** Logins so far. */
  logins(): number
  log(): ReturnType<typeof recordingLog>
  startServer(): Promise<void>
  start(more?: Partial<AgentOptions>): Agent
  stop(): Promise<void>
  close(): Promise<void>
  leap: ReturnType<typeof leapingClock>['leap']
  /** The pair on the disk. */
  inForce(): KeyPair
  serialOnDisk(): string
  /** Labels of the node's keys in the token. */
  labels(): Promise<string[]>
  joined(running: Agent): Promise<unknown>
  /** Another certificate than this one is in force, on the disk, and the API takes it. */
  replaced(running: Agent, serial: string | undefined): Promise<unknown>
  said(running: Agent, what: RegExp): Promise<unknown>
  /** Neither a private key nor a PIN nor the text is in a file of the node or in its log. */
  scan(directory?: string, ...never: string[]): void
}

export function tokenNode(equipment: TokenEquipment): TokenNode {
  Object.assign(process.env, equipment.environment)
  const folder = temporaryFolder()
  const uri = parsePkcs11Uri(equipment.uri('token=node'))
  const { clock, leap, reset } = leapingClock()
  let logins = 0
  const load = counting(cryptokiLoader(), () => logins++)
  const token = openToken({ ...hostPorts, uri, load })
  let server: RollcallProcess | undefined
  let agent: Agent | undefined
  let log = recordingLog()

  const path = (name: string) => join(folder.path, name)
  const inForce = () =>
    parseKeyPair(new Secret(readFileSync(path('node/pki/kubelet-client-current.pem'), 'utf8')))
  const serialOnDisk = () =>
    BigInt(`0x${Buffer.from(inForce().leaf.serialNumber).toString('hex')}`).toString()

  return {
    equipment,
    folder: folder.path,
    token,
    logins: () => logins,
    log: () => log,
    leap,
    inForce,
    serialOnDisk,
    async startServer() {
      const lifetime = ['--cert-lifetime', '1h']
      server = startRollcall(['server', '--dir', path('server'), '--port', '0', ...lifetime])
      await server.ready
    },
    start(more = {}) {
      log = recordingLog()
      agent = startAgent(
        {
          nodeName: 'n1',
          addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
          certDirectory: path('node/pki'),
          kubeconfigPath: path('node/kubeconfig'),
          bootstrapKubeconfigPath: path('server/bootstrap.kubeconfig'),
          rotateCertificates: true,
          clockCheckSeconds: 1,
          leaseRenewIntervalSeconds: 1,
          clientKeyToken: uri,
          ...more,
        },
        {
          ...hostPorts,
          clock,
          log,
          net: systemNet,
          connect: connectUndici,
          token: { load, startTls: tokenTlsStarter(log) },
          ...(more.servingKeyToken && { listen: serveHttps }),
        },
      )
      return agent
    },
    async stop() {
      reset()
      await agent?.stop()
      agent = undefined
    },
    async close() {
      token.close()
      await server?.stop()
      folder.remove()
      await equipment.remove()
    },
    labels: async () => (await keyLabels(token)).filter(label => label.startsWith('rollcall/n1/client/')),
    joined: running =>
      eventually(
        'the node has joined',
        () => {
          const { registered, client } = running.status()
          return registered && client.state === 'Valid'
        },
        patience,
      ),
    replaced: (running, serial) =>
      eventually(
        'the certificate is replaced',
        () => {
          const { client, registered, lastError } = running.status()
          const fine = client.state === 'Valid' && registered && lastError === undefined
          return fine && client.serial !== serial && client.serial === serialOnDisk()
        },
        patience,
      ),
    said: (running, what) =>
      eventually(
        `it is said: ${what}`,
        () => {
          const { client, lastError } = running.status()
          return what.test(client.lastError ?? '') || what.test(lastError ?? '')
        },
        patience,
      ),
    scan(directory = path('node'), ...never) {
      const texts = globSync(join(directory, '**'), { withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      assert.ok(texts.length > 0, directory)
      const everything = [...texts, JSON.stringify([log.lines, log.fields])].join('\n')
      assert.doesNotMatch(everything, /PRIVATE KEY|token: [^\s{]/)
      for (const secret of [pin, ...never]) assert.ok(!everything.includes(secret), secret)
    },
  }
}

function counting(load: LoadCryptoki, onLogin: () => void): LoadCryptoki {
  let counted: Cryptoki | undefined
  return async path => {
    const real = await load(path)
    const login: Cryptoki['login'] = (session, pin) => {
      onLogin()
      real.login(session, pin)
    }
    counted ??= Object.create(real, { login: { value: login } }) as Cryptoki
    return counted
  }
}

import { posix } from 'node:path'
import { RollcallError, systemCode } from '../../errors.ts'
import { backoffAfter } from '../../hold/backoff.ts'
import type { CertificateManager } from '../../hold/certificate-manager.ts'
import { type KeyPair, parseKeyPair, serializeKeyPair } from '../../hold/key-pair.ts'
import type { ClusterEndpoint } from '../../hold/node-kubeconfig.ts'
import type { CertificateTemplate } from '../../join/template.ts'
import { Secret } from '../../keys/secret.ts'
import { folderProblem } from '../../keys/socket-safety.ts'
import type { Reference } from '../../kube/encode-kubeconfig.ts'
import type { ConnectionConfig } from '../../kube/transport.ts'
import { type Clock, type Disk, type Log, type Random, type Spawn, sleep } from '../../ports.ts'
import { issueSelfSigned, selfSignedTemplate } from '../self-signed-serving.ts'
import { credentialAnswer } from './credential-answer.ts'
import { type KubeletUser, keepForeign, kubeletKubeconfig, replaceFile } from './kubelet-files.ts'
import type { LocalServer, ServeProxy, ServeSocket } from './local-doors.ts'
import { refusalOf } from './proxy-rules.ts'

/** How a kubelet on this machine uses the node's certificates, which the agent holds. */
export interface BesideKubeletOptions {
  /** `exec`: it is given the pair by a credential plugin. `proxy`: it never sees the key, and asks through the agent. */
  mode: 'exec' | 'proxy'
  /** The kubelet's own kubeconfig, which the agent writes; owner and mode of one that is there are kept. */
  kubeconfigPath: string
  /** With `exec`: absolute path of `rollcall`. */
  command: string
  /** With `exec`: the agent's socket, in a folder of its own. */
  socketPath: string
  /** With `proxy`: port of 127.0.0.1. */
  proxyPort: number
  /** Where CA, token and loopback pair lie. */
  directory: string
  /** The kubelet's unit of systemd. */
  unit: string
}

export interface BesideKubeletPorts {
  clock: Clock
  random: Random
  disk: Disk
  log: Log
  serveSocket: ServeSocket
  serveProxy: ServeProxy
  /** Says who we are: our own folders are as good as root's. */
  spawn?: Pick<Spawn, 'user'>
}

export interface BesideKubeletParts {
  nodeName: string
  /** With `exec`: absolute; where the plugin finds the pair while the agent is away. */
  certDirectory: string
  client: CertificateManager
  serving: CertificateManager
  endpoint(): ClusterEndpoint | undefined
  /** The way to the API under the certificate in force; undefined: none now. */
  upstream(): Promise<ConnectionConfig | undefined>
  /** From now on the kubelet's files hold these CAs of the API, PEM. */
  onAuthority?(pem: string): void
}

/** undefined: there is no kubelet beside, or no doors for one. */
export function createBesideKubelet(
  options: BesideKubeletOptions | undefined,
  ports: Omit<BesideKubeletPorts, 'serveSocket' | 'serveProxy'> & {
    beside?: Pick<BesideKubeletPorts, 'serveSocket' | 'serveProxy'>
  },
  parts: BesideKubeletParts,
): BesideKubelet | undefined {
  return options && ports.beside && new BesideKubelet(options, { ...ports, ...ports.beside }, parts)
}

/** Milliseconds that a request through the proxy waits for a certificate; a kubelet's heartbeats give up then (K-1). */
const patience = 9_000
const day = 86_400_000

/** The doors and files of a kubelet beside the agent. Nothing of it ever ends the agent: what fails is tried again. */
export class BesideKubelet {
  readonly #options: BesideKubeletOptions
  readonly #ports: BesideKubeletPorts
  readonly #parts: BesideKubeletParts
  readonly #stopping = new AbortController()
  #servers: LocalServer[] = []
  #running: Promise<void> = Promise.resolve()
  #files: Promise<void> = Promise.resolve()
  #unlisten: (() => void)[] = []

  constructor(options: BesideKubeletOptions, ports: BesideKubeletPorts, parts: BesideKubeletParts) {
    this.#options = options
    this.#ports = ports
    this.#parts = parts
  }

  start(): void {
    const { client, serving } = this.#parts
    this.#unlisten = [
      client.onChange(() => this.filesMayHaveChanged()),
      serving.onChange(() => this.#publish()),
    ]
    const door = this.#options.mode === 'exec' ? () => this.#openSocket() : () => this.#openProxy()
    this.#running = this.#untilDone(door)
    this.#inTurn(() => this.#placeholder())
    this.filesMayHaveChanged()
    this.#publish()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const end of this.#unlisten) end()
    await this.#running
    await Promise.all(this.#servers.map(server => server.close()))
    await this.#files
  }

  /** Server, CA or certificate may be others: writes the kubeconfig where it says something else. */
  filesMayHaveChanged(): void {
    this.#inTurn(() => this.#writeKubeconfig())
  }

  get #servingPath(): string {
    return this.#at('kubelet-serving.pem')
  }

  #at(name: string): string {
    return posix.join(this.#options.directory, name)
  }

  /** One file after the other, each until it is written: the last word is the newest. */
  #inTurn(work: () => Promise<unknown>): void {
    this.#files = this.#files.then(() => this.#untilDone(work))
  }

  async #writeKubeconfig(): Promise<void> {
    const { disk, log } = this.#ports
    const { kubeconfigPath: path } = this.#options
    const endpoint = this.#parts.endpoint()
    if (!endpoint) return
    const text = kubeletKubeconfig(endpoint, await this.#authority(endpoint), this.#user()).reveal()
    const kept = await keepForeign(disk, path)
    if (kept !== undefined) log.info("the kubelet's kubeconfig was kept under another name", { path, kept })
    if (await replaceFile(disk, path, text, 0o600))
      log.info("the kubelet's kubeconfig was written", { path, mode: this.#options.mode })
    const { certificateAuthority: pem } = endpoint.connection
    if (pem !== undefined) this.#parts.onAuthority?.(pem)
  }

  #user(): KubeletUser {
    const { mode, command, socketPath, proxyPort } = this.#options
    const { certDirectory } = this.#parts
    if (mode === 'exec')
      return { exec: { command, args: ['credential', '--socket', socketPath, '--cert-dir', certDirectory] } }
    return {
      server: `https://127.0.0.1:${proxyPort}`,
      certificateAuthorityFile: this.#at('proxy-ca.crt'),
      tokenFile: this.#at('proxy-token'),
    }
  }

  /** K-60, K-61: client-go reads a CA again only where it is a file. */
  async #authority({ certificateAuthority }: ClusterEndpoint): Promise<Reference | undefined> {
    if (!certificateAuthority || 'file' in certificateAuthority || this.#options.mode === 'proxy')
      return certificateAuthority
    const file = this.#at('api-ca.crt')
    await replaceFile(this.#ports.disk, file, certificateAuthority.pem, 0o644)
    return { file }
  }

  /** The serving pair in one file, so that a kubelet that reads it never finds a certificate without its key. */
  #publish(): void {
    this.#inTurn(async () => {
      const pair = this.#parts.serving.current()
      if (!pair) return
      await replaceFile(
        this.#ports.disk,
        this.#servingPath,
        serializeKeyPair(pair.chain, pair.key).reveal(),
        0o600,
      )
    })
  }

  /** K-5: a kubelet whose TLS files are missing does not start, and its static pods with it. */
  async #placeholder(): Promise<void> {
    await this.#pairAt(this.#servingPath, selfSignedTemplate(this.#parts.nodeName, 'ECDSA-P256'), 0)
  }

  /** The pair of a file; a self-signed one is made where there is none that is good for `left` milliseconds. */
  async #pairAt(path: string, template: CertificateTemplate, left: number): Promise<KeyPair> {
    const { clock, disk, log } = this.#ports
    try {
      const pair = parseKeyPair(new Secret(new TextDecoder().decode(await disk.read(path))))
      if (clock.now() < pair.leaf.notAfter - left) return pair
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') log.warn('a pair cannot be used', { path, error: String(error) })
    }
    const { chain, key } = await issueSelfSigned(template, 'ECDSA-P256', this.#ports)
    const text = serializeKeyPair(chain, key)
    await disk.makeDirectory(this.#options.directory, 0o755)
    await replaceFile(disk, path, text.reveal(), 0o600)
    return parseKeyPair(text)
  }

  async #openSocket(): Promise<void> {
    const { clock, disk, log, serveSocket } = this.#ports
    const { socketPath: path } = this.#options
    await this.#closedFolder(posix.dirname(path))
    const answer = credentialAnswer(this.#parts.client, clock)
    this.#servers.push(await serveSocket({ path, disk, answer }))
    log.info('the credential is given at a socket', { path })
  }

  /** Nobody but us may enter it: the pair is given to whoever can connect. */
  async #closedFolder(directory: string): Promise<void> {
    const { disk, spawn } = this.#ports
    await disk.makeDirectory(directory, 0o700)
    const { mode } = await disk.stat(directory)
    const problem =
      (await folderProblem(directory, spawn ? [spawn.user] : [], disk)) ??
      ((mode & 0o077) === 0 ? undefined : `${directory} can be entered by others (chmod 0700)`)
    if (problem)
      throw new RollcallError('SOCKET_UNUSABLE', `${problem}; no credential is given at a socket there.`)
  }

  async #openProxy(): Promise<void> {
    const { clock, disk, log, serveProxy } = this.#ports
    const template = { ...selfSignedTemplate('127.0.0.1', 'ECDSA-P256'), dnsNames: ['localhost'] }
    const pair = await this.#pairAt(this.#at('proxy.pem'), template, 30 * day)
    await replaceFile(disk, this.#at('proxy-ca.crt'), pair.chain, 0o644)
    const token = await this.#token()
    const { proxyPort: port } = this.#options
    const proxy = await serveProxy({
      clock,
      port,
      pair,
      refuse: request => refusalOf(request, token, port),
      upstream: signal => this.#upstream(signal),
    })
    this.#servers.push(proxy)
    log.info('the API is reached through the proxy', { port })
  }

  /** Made once: the kubelet reads it again only now and then. */
  async #token(): Promise<Secret> {
    const { disk, random } = this.#ports
    const path = this.#at('proxy-token')
    try {
      const { mode } = await disk.stat(path)
      const text = new TextDecoder().decode(await disk.read(path)).trim()
      if ((mode & 0o077) === 0 && text.length >= 43) return new Secret(text)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
    }
    const token = Buffer.from(random.bytes(32)).toString('base64url')
    await disk.remove(path)
    await disk.write(path, token, { mode: 0o600, exclusive: true, sync: true })
    return new Secret(token)
  }

  async #upstream(signal: AbortSignal): Promise<ConnectionConfig | undefined> {
    const { client, upstream } = this.#parts
    const { clock } = this.#ports
    const until = clock.monotonic() + patience
    for (;;) {
      const config = await upstream()
      const left = until - clock.monotonic()
      if (config || signal.aborted || left <= 0) return config
      const changed = new AbortController()
      const unlisten = client.onChange(() => changed.abort())
      const stop = () => changed.abort()
      for (const source of [signal, this.#stopping.signal]) source.addEventListener('abort', stop)
      await sleep(clock, Math.min(left, 1000), changed.signal)
      unlisten()
      for (const source of [signal, this.#stopping.signal]) source.removeEventListener('abort', stop)
      if (this.#stopping.signal.aborted) return undefined
    }
  }

  async #untilDone(work: () => Promise<unknown>): Promise<void> {
    const { clock, random, log } = this.#ports
    for (let failures = 1; !this.#stopping.signal.aborted; failures++) {
      try {
        await work()
        return
      } catch (error) {
        log.warn('the kubelet beside cannot be served; it is tried again', { error: String(error) })
      }
      await sleep(clock, backoffAfter(failures, random.float()), this.#stopping.signal)
    }
  }
}

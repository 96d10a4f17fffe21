/**
 * What a kubelet and the three components make of kubeadm's folder: another manifest is another process; kube-apiserver reads
 * its CAs and pairs again, kube-controller-manager and kube-scheduler read theirs once. Handshakes are judged by our X.509.
 */
import { RollcallError } from '../../../errors.ts'
import type { MachineDisk } from '../../../fleet/simulated/disk.ts'
import type { ApiRequest, ApiResponse, ConnectionConfig, Transport } from '../../../kube/transport.ts'
import { json, refusal } from '../../../testing/in-memory-transport.ts'
import { type ControlPlaneComponent, controlPlaneComponents } from '../../../trust/control-plane-report.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../../../x509/certificate.ts'
import { formatIp } from '../../../x509/ip.ts'
import { commonNames, organizations } from '../../../x509/name.ts'
import { readKubeconfig } from '../kubeconfig-text.ts'
import type { ComponentProcesses, RunningComponent } from '../processes.ts'
import { readManifest } from '../static-pod-manifest.ts'

interface Process extends RunningComponent {
  manifest: string
  flag(name: string): string | undefined
  values(name: string): readonly string[]
  /** Files as they were when it started. */
  loaded: Readonly<Record<string, string>>
}

/** Answers a request of an authenticated user. */
export type Behind = (request: ApiRequest, user: string, groups: readonly string[]) => Promise<ApiResponse>

export class StaticPods implements ComponentProcesses {
  readonly #disk: MachineDisk
  readonly #now: () => number
  readonly #behind: Behind
  readonly #processes = new Map<ControlPlaneComponent, Process>()
  readonly #seen = new Map<ControlPlaneComponent, { manifest: string; at: number }>()
  #started = 0
  /** Whether a process comes up with this manifest. */
  comesUp: (component: ControlPlaneComponent, manifest: string) => boolean = () => true
  /** Milliseconds that a process needs to come up. */
  needs = 0
  /** Times that each component was started. */
  readonly starts: Record<ControlPlaneComponent, number> = {
    'kube-apiserver': 0,
    'kube-controller-manager': 0,
    'kube-scheduler': 0,
  }

  constructor(disk: MachineDisk, now: () => number, behind: Behind) {
    this.#disk = disk
    this.#now = now
    this.#behind = behind
    this.sync()
  }

  /** The kubelet looks at its folder. */
  sync(): void {
    for (const component of controlPlaneComponents) {
      const path = `/etc/kubernetes/manifests/${component}.yaml`
      const manifest = this.#read(path)
      if (manifest === this.#processes.get(component)?.manifest) continue
      this.#processes.delete(component)
      const seen = this.#seen.get(component)
      const since = seen?.manifest === manifest ? seen.at : this.#now()
      this.#seen.set(component, { manifest, at: since })
      if (!this.comesUp(component, manifest) || this.#now() - since < this.needs) continue
      const { command, flag, values } = readManifest(manifest, path)
      const files = [flag('kubeconfig'), flag('root-ca-file')].filter(file => file !== undefined)
      const loaded = Object.fromEntries(files.map(file => [file, this.#read(file)]))
      this.#started += 1
      this.starts[component] += 1
      this.#processes.set(component, {
        instance: `${1000 + this.#started}/1`,
        command,
        manifest,
        flag,
        values,
        loaded,
      })
    }
  }

  async running(component: ControlPlaneComponent): Promise<RunningComponent | undefined> {
    this.sync()
    return this.#processes.get(component)
  }

  /** Whether all components run. */
  allRun(): boolean {
    this.sync()
    return this.#processes.size === controlPlaneComponents.length
  }

  /** kube-controller-manager as it runs, if it does: what it publishes, and the certificate that it signs with. */
  manager(): { rootCa: string; signing: string } | undefined {
    this.sync()
    const process = this.#processes.get('kube-controller-manager')
    if (!process) return undefined
    return {
      rootCa: process.loaded[process.flag('root-ca-file') ?? ''] ?? '',
      signing: this.#read(process.flag('cluster-signing-cert-file') ?? ''),
    }
  }

  /** CAs by which kube-apiserver judges clients; it publishes them. */
  judgedBy(): string {
    this.sync()
    const process = this.#processes.get('kube-apiserver')
    return process ? this.#read(process.flag('client-ca-file') ?? '') : ''
  }

  /** CAs by which a component's process asks the API server. */
  trustedBy(component: 'kube-controller-manager' | 'kube-scheduler'): string {
    const process = this.#processes.get(component)
    const path = process?.flag('kubeconfig') ?? ''
    return readKubeconfig(process?.loaded[path] ?? '', path).authorities
  }

  readonly http = async ({ url }: { url: string }) => {
    const component = url.includes(':10257/') ? 'kube-controller-manager' : 'kube-scheduler'
    const process = this.#processes.get(component)
    if (!process) throw new Error('connection refused')
    return { status: 200, body: 'ok' }
  }

  /** A connection of its own to kube-apiserver. */
  connect(config: ConnectionConfig): Transport {
    return { request: request => this.#request(request, config), closeConnections() {} }
  }

  async #request(request: ApiRequest, config: ConnectionConfig): Promise<ApiResponse> {
    this.sync()
    const process = this.#processes.get('kube-apiserver')
    if (!process) throw unreachable('connection refused')
    const chain = this.#chainFor(process, config)
    if (!config.insecureSkipTlsVerify) this.#verifyServer(chain, config)
    const user = this.#clientOf(process, config)
    if (user === 'unknown') return refusal(401, 'Unauthorized')
    const isOpen = /^\/(readyz|livez|version)(\?|$)/.test(request.url)
    if (isOpen) return json(200, {})
    return user ? this.#behind(request, user.name, user.groups) : refusal(403, 'Forbidden')
  }

  #chainFor(process: Process, { tlsServerName }: ConnectionConfig): Certificate[] {
    for (const pair of process.values('tls-sni-cert-key')) {
      const shown = parseCertificatesPem(this.#read(pair.split(',')[0] ?? ''))
      if (shown[0]?.subjectAltName.dnsNames.includes(tlsServerName ?? '')) return shown
    }
    return parseCertificatesPem(this.#read(process.flag('tls-cert-file') ?? ''))
  }

  #verifyServer(
    chain: readonly Certificate[],
    { server, certificateAuthority = '', tlsServerName }: ConnectionConfig,
  ) {
    const name = tlsServerName ?? new URL(server).hostname
    const { dnsNames = [], ipAddresses = [] } = chain[0]?.subjectAltName ?? {}
    if (![...dnsNames, ...ipAddresses.map(formatIp)].includes(name))
      throw unreachable(`the name ${name} is not in it`)
    const roots = parseCertificatesPem(certificateAuthority)
    const verified = verifyChain(chain, roots, { now: this.#now(), usage: 'serverAuth' })
    if (!verified.ok) throw unreachable(verified.reason)
  }

  /** undefined: none was shown; unknown: by no CA that is trusted. */
  #clientOf(process: Process, { clientCertificate }: ConnectionConfig) {
    if (!clientCertificate) return undefined
    const roots = parseCertificatesPem(this.#read(process.flag('client-ca-file') ?? ''))
    const chain = parseCertificatesPem(clientCertificate.certificate)
    const { ok } = verifyChain(chain, roots, { now: this.#now(), usage: 'clientAuth' })
    const [leaf] = chain
    if (!ok || !leaf) return 'unknown' as const
    return { name: commonNames(leaf.subject)[0] ?? '', groups: organizations(leaf.subject) }
  }

  #read(path: string): string {
    return new TextDecoder().decode(this.#disk.read(path))
  }
}

function unreachable(why: string): RollcallError {
  return new RollcallError('API_UNREACHABLE', why)
}

/** Whether the control plane of this node is as a goal wants it: by its processes, and by handshakes with it. */
import type { Connect, ConnectionConfig } from '../../kube/transport.ts'
import { type Clock, type Net, type Random, withTimeout } from '../../ports.ts'
import {
  type ControlPlaneComponent,
  type ControlPlaneRole,
  controlPlaneComponents,
} from '../../trust/control-plane-report.ts'
import { probeName } from '../../trust/node-orders.ts'
import { encodePem } from '../../x509/pem.ts'
import type { Authorities, LocalAuthority } from './authorities.ts'
import type { Goal } from './goal.ts'
import type { Layout } from './layout.ts'
import { canarySubject, issueLocally } from './local-pairs.ts'
import type { ComponentProcesses } from './processes.ts'
import { type Manifest, readManifest } from './static-pod-manifest.ts'

export interface HealthParts {
  clock: Clock
  random: Random
  connect: Connect
  net: Pick<Net, 'http'>
  processes: ComponentProcesses
  layout: Layout
  authorities: Authorities
  read(path: string): Promise<string | undefined>
  bundle(role: ControlPlaneRole, generation: number): string
}

export type Instances = Partial<Record<ControlPlaneComponent, string>>

/** Milliseconds that one answer may take. */
const patience = 5000
/** kubeadm's certificates have no name of loopback, but this one. */
const apiServerName = 'kubernetes'
const healthPorts = { 'kube-controller-manager': 10_257, 'kube-scheduler': 10_259 } as const

/** Processes that run now. */
export async function instancesOf({ processes }: HealthParts): Promise<Instances> {
  const found = await Promise.all(
    controlPlaneComponents.map(async name => [name, (await processes.running(name))?.instance] as const),
  )
  return Object.fromEntries(found.filter(([, instance]) => instance !== undefined))
}

/** What is not as it should be, or undefined. `notThese`: processes that have to be gone. */
export async function whyNotUp(
  goal: Goal,
  notThese: Instances,
  parts: HealthParts,
): Promise<string | undefined> {
  const { layout, read } = parts
  const manifests = new Map<ControlPlaneComponent, Manifest>()
  for (const component of controlPlaneComponents) {
    const path = layout.manifest(component)
    const text = await read(path)
    // Who runs its scheduler otherwise has to start it anew himself.
    if (text === undefined && component === 'kube-scheduler') continue
    const manifest = readManifest(text ?? '', path)
    manifests.set(component, manifest)
    const why = await whyNotRunning(component, manifest, notThese[component], parts)
    if (why !== undefined) return why
  }
  const port = manifests.get('kube-apiserver')?.flag('secure-port') ?? '6443'
  const here = { ...parts, server: `https://127.0.0.1:${port}` }
  return (await whyNotServed(goal, here)) ?? (await whyNotJudged(goal, here))
}

/** With where kube-apiserver answers on this node. */
type HereParts = HealthParts & { server: string }

/** A process with the command line that the manifest says, which answers. */
async function whyNotRunning(
  component: ControlPlaneComponent,
  manifest: Manifest,
  old: string | undefined,
  { processes, net, clock }: HealthParts,
): Promise<string | undefined> {
  const process = await processes.running(component)
  if (!process) return `no ${component} runs`
  if (process.instance === old) return `${component} was not started anew`
  // Its own name may be a path, as whoever runs it likes.
  const flags = ([, ...words]: readonly string[]) => words.join('\n')
  if (flags(process.command) !== flags(manifest.command)) return `${component} runs with other flags`
  if (component === 'kube-apiserver') return undefined
  const port = manifest.flag('secure-port') ?? healthPorts[component]
  const abort = new AbortController()
  const timer = clock.after(patience, () => abort.abort())
  try {
    const request = {
      method: 'GET',
      url: `https://127.0.0.1:${port}/healthz`,
      signal: abort.signal,
      mostBody: 1024,
    }
    const { status } = await net.http(request)
    return status === 200 ? undefined : `${component} answers ${status} at /healthz`
  } catch (error) {
    return `${component} does not answer at /healthz (${error instanceof Error ? error.message : error})`
  } finally {
    timer.cancel()
  }
}

/** Who trusts the old CA alone, the new one alone, or both, is served, as far as the chain is meant for them. */
async function whyNotServed(goal: Goal, parts: HereParts): Promise<string | undefined> {
  const serving = goal['apiserver-serving']
  const { authorities } = parts
  if (!serving?.present) {
    const pem = serving ? parts.bundle('apiserver-serving', serving.trust) : await trustedNow(parts)
    return whyNotReady(parts, pem, 'by what it is trusted by now')
  }
  const { authority, mode } = serving.present
  const trusted = parts.bundle('apiserver-serving', serving.trust)
  const verifying = authorities.ids('apiserver-serving').filter(id => {
    const bridged = mode === 'bridged' && trusted.includes(pemOf(authorities.get('apiserver-serving', id)))
    return id === authority || bridged
  })
  for (const id of verifying) {
    const why = await whyNotReady(parts, pemOf(authorities.get('apiserver-serving', id)), `by CA ${id} alone`)
    if (why !== undefined) return why
  }
  for (const { number, authority: probed } of serving.probes ?? []) {
    const pem = pemOf(authorities.get('apiserver-serving', probed))
    const name = probeName(number)
    const why = await whyNotReady(parts, pem, `for ${name}`, { tlsServerName: name })
    if (why !== undefined) return why
  }
  return undefined
}

/** L3 and L4: a certificate of each CA whose key is here is accepted, or refused, as the bundle says. */
async function whyNotJudged({ client }: Goal, parts: HereParts): Promise<string | undefined> {
  if (!client) return undefined
  const { authorities, clock, random } = parts
  const trusted = parts.bundle('client', client.trust)
  for (const id of authorities.ids('client')) {
    const authority = authorities.get('client', id)
    if (!authority || authority.certificate.notAfter < clock.now()) continue
    const request = { subject: canarySubject, usage: 'clientAuth' as const }
    const clientCertificate = await issueLocally(authority, request, { now: clock.now(), random })
    const status = await statusOf(parts, { insecureSkipTlsVerify: true, clientCertificate }, '/version')
    const wanted = trusted.includes(pemOf(authority)) ? 200 : 401
    if (status !== wanted)
      return `kube-apiserver answers ${status ?? 'nothing'} to a client of CA ${id}, not ${wanted}`
  }
  return undefined
}

async function whyNotReady(
  parts: HereParts,
  certificateAuthority: string,
  how: string,
  more: Partial<ConnectionConfig> = {},
): Promise<string | undefined> {
  const status = await statusOf(
    parts,
    { certificateAuthority, tlsServerName: apiServerName, ...more },
    '/readyz',
  )
  return status === 200
    ? undefined
    : `kube-apiserver answers ${status ?? 'nothing'} at /readyz, verified ${how}`
}

/** Status of one request on a connection of its own; undefined: none could be made. */
async function statusOf(
  { connect, clock, server }: HereParts,
  config: Omit<ConnectionConfig, 'server'>,
  url: string,
): Promise<number | undefined> {
  const transport = connect({ server, ...config })
  try {
    const answer = transport.request({ method: 'GET', url, headers: {} })
    return (await withTimeout(clock, patience, answer, () => new Error('no answer in time'))).status
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return undefined // distrust and silence alike are no answer
  } finally {
    transport.closeConnections()
  }
}

async function trustedNow({ layout, read }: HealthParts): Promise<string> {
  return (await read(layout.firstAuthority.certificate)) ?? ''
}

function pemOf(authority: LocalAuthority | undefined): string {
  return authority ? encodePem('CERTIFICATE', authority.certificate.raw) : ''
}

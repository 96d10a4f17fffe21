/** Which files have to say something else for a goal, and what. Nothing is written here. */
import { createHash } from 'node:crypto'
import { RollcallError } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import type { Disk, Random } from '../../ports.ts'
import type { KeyId, ProbeOrder } from '../../trust/control-plane-orders.ts'
import {
  type ControlPlaneComponent,
  type ControlPlaneRole,
  controlPlaneComponents,
} from '../../trust/control-plane-report.ts'
import { probeName } from '../../trust/node-orders.ts'
import { encodePem } from '../../x509/pem.ts'
import type { Authorities, LocalAuthority } from './authorities.ts'
import type { Goal, RoleGoal } from './goal.ts'
import { readKubeconfig, withKubeconfigData } from './kubeconfig-text.ts'
import type { Layout } from './layout.ts'
import { isOf, issueLocally, type LocalPair, type LocalPairRequest, leafOf, likeThis } from './local-pairs.ts'
import { type Manifest, readManifest, withFlags } from './static-pod-manifest.ts'
import { type FileChange, readText } from './step-journal.ts'

export interface StepParts {
  disk: Disk
  layout: Layout
  authorities: Authorities
  /** Milliseconds since the epoch: now, and when the orders came. */
  now: number
  orderedAt: number
  random: Random
  /** PEM of a signed bundle that is at hand. Throws for one that is not. */
  bundle(role: ControlPlaneRole, generation: number): string
  /** DER, base64, of the certificate of this CA by another one. */
  cross(authority: KeyId): string | undefined
}

const publicFile = 0o644
const secretFile = 0o600

/** The changes in the order in which they are to be made: what a manifest names is there before the manifest names it. */
export async function changesFor(goal: Goal, parts: StepParts): Promise<FileChange[]> {
  const draft = new Draft(parts)
  await checkLayout(draft)
  if (goal.client) await clientFiles(goal.client, draft)
  const serving = goal['apiserver-serving']
  if (serving) await servingFiles(serving, draft)
  await startsAnew(draft)
  return draft.changes()
}

/** Texts as they will be, on top of those that are there. */
class Draft {
  readonly parts: StepParts
  readonly #before = new Map<string, string | undefined>()
  readonly #after = new Map<string, { text: string; mode: number }>()
  readonly #flags = new Map<ControlPlaneComponent, Record<string, string>>()
  readonly #manifests = new Map<string, Manifest>()
  readonly #more = new Map<string, readonly string[]>()

  constructor(parts: StepParts) {
    this.parts = parts
  }

  async read(path: string): Promise<string | undefined> {
    const written = this.#after.get(path)
    if (written) return written.text
    if (!this.#before.has(path)) this.#before.set(path, await readText(this.parts.disk, path))
    return this.#before.get(path)
  }

  async need(path: string): Promise<string> {
    const text = await this.read(path)
    if (text === undefined) throw unfit(`${path} is not there`)
    return text
  }

  async write(path: string, text: string, mode: number): Promise<void> {
    await this.read(path)
    this.#after.set(path, { text, mode })
  }

  async pair(files: { certificate: string; key: string }, { certificate, key }: LocalPair): Promise<void> {
    await this.write(files.key, key.reveal(), secretFile)
    await this.write(files.certificate, certificate, publicFile)
  }

  /** Set when all that asks for flags has been heard: each manifest is written once. */
  async flags(component: ControlPlaneComponent, flags: Record<string, string>): Promise<void> {
    this.#flags.set(component, { ...this.#flags.get(component), ...flags })
  }

  /** A flag that is given several times; those that are there besides are somebody's own, and stay. */
  async several(component: ControlPlaneComponent, name: string, values: readonly string[]): Promise<void> {
    const there = (await this.manifest(component)).values(name)
    this.#more.set(
      `${component} ${name}`,
      values.filter(value => !there.includes(value)),
    )
  }

  async flag(component: ControlPlaneComponent, name: string): Promise<string | undefined> {
    return this.#flags.get(component)?.[name] ?? (await this.manifest(component)).flag(name)
  }

  async manifest(component: ControlPlaneComponent): Promise<Manifest> {
    const path = this.parts.layout.manifest(component)
    const known = this.#manifests.get(path) ?? readManifest(await this.need(path), path)
    this.#manifests.set(path, known)
    return known
  }

  /** `loads`: digest of what the component reads once. */
  async writeManifest(component: ControlPlaneComponent, loads: string | undefined): Promise<void> {
    const path = this.parts.layout.manifest(component)
    const manifest = await this.manifest(component)
    const wanted = Object.entries(this.#flags.get(component) ?? {})
    const flags = Object.fromEntries(wanted.filter(([name, value]) => manifest.flag(name) !== value))
    const words = [...this.#more].flatMap(([key, values]) => {
      const [of, name] = key.split(' ')
      return of === component ? values.map(value => `--${name}=${value}`) : []
    })
    if (Object.keys(flags).length === 0 && words.length === 0 && loads === undefined) return
    const text = withFlags(await this.need(path), path, { flags, words, loads })
    await this.write(path, text, secretFile)
  }

  isChanged(path: string): boolean {
    const after = this.#after.get(path)
    return after !== undefined && after.text !== this.#before.get(path)
  }

  changes(): FileChange[] {
    const isManifest = (path: string) => path.endsWith('.yaml')
    return [...this.#after]
      .filter(([path]) => this.isChanged(path))
      .map(([path, { text, mode }]) => ({ path, text, mode }))
      .sort((one, other) => Number(isManifest(one.path)) - Number(isManifest(other.path)))
  }

  authority(role: ControlPlaneRole, id: KeyId): LocalAuthority {
    const authority = this.parts.authorities.get(role, id)
    if (!authority) throw refused(`the key of CA ${id} is not on this node yet`)
    return authority
  }

  issue(authority: LocalAuthority, request: LocalPairRequest): Promise<LocalPair> {
    return issueLocally(authority, request, this.parts)
  }
}

async function checkLayout(draft: Draft): Promise<void> {
  // What verifies kubelets is another role, and nobody here changes its CA.
  if ((await draft.flag('kube-apiserver', 'kubelet-certificate-authority')) !== undefined)
    throw unfit(
      'kube-apiserver verifies kubelets by --kubelet-certificate-authority, which is not managed here',
    )
  const manifest = readManifest(await draft.need(draft.parts.layout.manifest('kube-controller-manager')), '')
  if (manifest.command.some(word => /^--cluster-signing-(kubelet|kube-apiserver|legacy)-/.test(word)))
    throw unfit('kube-controller-manager signs with a CA of its own for some signers')
}

async function clientFiles({ trust, sign, own }: RoleGoal, draft: Draft): Promise<void> {
  const { layout, bundle } = draft.parts
  await draft.write(layout.clientAuthorities, bundle('client', trust), publicFile)
  await draft.flags('kube-apiserver', { 'client-ca-file': layout.clientAuthorities })
  if ((await draft.flag('kube-controller-manager', 'client-ca-file')) !== undefined)
    await draft.flags('kube-controller-manager', { 'client-ca-file': layout.clientAuthorities })
  if (sign !== undefined) {
    const { files } = draft.authority('client', sign)
    // C-21: exactly one certificate in it.
    const flags = { 'cluster-signing-cert-file': files.certificate, 'cluster-signing-key-file': files.key }
    await draft.flags('kube-controller-manager', flags)
  }
  if (own !== undefined) await ownLeaves(draft.authority('client', own), draft)
}

/** What this node's programs show to API server and kubelets. */
async function ownLeaves(authority: LocalAuthority, draft: Draft): Promise<void> {
  const { layout, orderedAt } = draft.parts
  const { certificate: file, key } = layout.kubeletClient
  const path = (await draft.flag('kube-apiserver', 'kubelet-client-certificate')) ?? ''
  const keyPath = (await draft.flag('kube-apiserver', 'kubelet-client-key')) ?? ''
  const shown = await draft.need(path)
  const leaf = leafOf(shown)
  if (!leaf) throw unfit(`${path} holds no certificate`)
  const pair = isOf(shown, authority, orderedAt)
    ? { certificate: shown, key: new Secret(await draft.need(keyPath)) }
    : await draft.issue(authority, likeThis(leaf, 'clientAuth'))
  await draft.pair(layout.kubeletClient, pair)
  await draft.flags('kube-apiserver', { 'kubelet-client-certificate': file, 'kubelet-client-key': key })
  for (const file of layout.kubeconfigs) {
    const text = await draft.read(file)
    if (text === undefined) continue // super-admin.conf is on the first node alone
    const { certificate } = readKubeconfig(text, file)
    const own = leafOf(certificate)
    if (isOf(certificate, authority, orderedAt)) continue
    if (!own) throw unfit(`${file} holds no certificate`)
    const renewed = await draft.issue(authority, likeThis(own, 'clientAuth'))
    await draft.write(file, withKubeconfigData(text, file, { pair: renewed }), secretFile)
  }
}

async function servingFiles({ trust, present, probes }: RoleGoal, draft: Draft): Promise<void> {
  const { layout, bundle } = draft.parts
  const authorities = bundle('apiserver-serving', trust)
  await draft.write(layout.servingAuthorities, authorities, publicFile)
  await draft.flags('kube-controller-manager', { 'root-ca-file': layout.servingAuthorities })
  for (const file of layout.kubeconfigs) {
    const text = await draft.read(file)
    if (text !== undefined)
      await draft.write(file, withKubeconfigData(text, file, { authorities }), secretFile)
  }
  if (present) await presentedChain(present, draft)
  if (probes) await probePairs(probes, draft)
}

async function presentedChain(
  { authority: id, mode }: NonNullable<RoleGoal['present']>,
  draft: Draft,
): Promise<void> {
  const { layout, orderedAt, cross } = draft.parts
  const authority = draft.authority('apiserver-serving', id)
  const chained = mode === 'bridged' ? crossPem(id, cross) : ''
  const served = await draft.read(layout.serving.certificate)
  const first = await draft.need(layout.firstServing.certificate)
  const leaf = leafOf(served) ?? leafOf(first)
  if (!leaf) throw unfit(`${layout.firstServing.certificate} holds no certificate`)
  const pair = isOf(served, authority, orderedAt)
    ? { certificate: leafPem(served ?? ''), key: new Secret(await draft.need(layout.serving.key)) }
    : isOf(first, authority, orderedAt)
      ? { certificate: leafPem(first), key: new Secret(await draft.need(layout.firstServing.key)) }
      : await draft.issue(authority, likeThis(leaf, 'serverAuth'))
  await draft.pair(layout.serving, { ...pair, certificate: pair.certificate + chained })
  await draft.flags('kube-apiserver', {
    'tls-cert-file': layout.serving.certificate,
    'tls-private-key-file': layout.serving.key,
  })
}

/** kube-apiserver chooses by the server name that a client asks for: a bare chain, at the real endpoint. */
async function probePairs(probes: readonly ProbeOrder[], draft: Draft): Promise<void> {
  const { layout, orderedAt } = draft.parts
  const first = leafOf(await draft.need(layout.firstServing.certificate))
  if (!first) throw unfit(`${layout.firstServing.certificate} holds no certificate`)
  const flags: string[] = []
  for (const [slot, { number, authority: id }] of probes.entries()) {
    const files = layout.probe(slot)
    const authority = draft.authority('apiserver-serving', id)
    const there = await draft.read(files.certificate)
    const named = leafOf(there)?.subjectAltName.dnsNames.includes(probeName(number))
    if (!named || !isOf(there, authority, orderedAt)) {
      // No other name: it must never be chosen for who did not ask for it.
      const request = { subject: first.subject, usage: 'serverAuth' as const, dnsNames: [probeName(number)] }
      await draft.pair(files, await draft.issue(authority, request))
    }
    flags.push(`${files.certificate},${files.key}`)
  }
  await draft.several('kube-apiserver', 'tls-sni-cert-key', flags)
}

/** 2.2, 8 and 14: both read their kubeconfig, and kube-controller-manager its root CA, once. Another text: another process. */
async function startsAnew(draft: Draft): Promise<void> {
  const { layout } = draft.parts
  const readOnce: Record<ControlPlaneComponent, readonly string[]> = {
    'kube-apiserver': [],
    'kube-controller-manager': [
      layout.kubeconfigOf['kube-controller-manager'] ?? '',
      layout.servingAuthorities,
    ],
    'kube-scheduler': [layout.kubeconfigOf['kube-scheduler'] ?? ''],
  }
  for (const component of controlPlaneComponents) {
    const files = readOnce[component]
    if ((await draft.read(layout.manifest(component))) === undefined && component === 'kube-scheduler')
      continue
    const isChanged = files.some(file => draft.isChanged(file))
    await draft.writeManifest(component, isChanged ? await digestOf(files, draft) : undefined)
  }
}

async function digestOf(files: readonly string[], draft: Draft): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n${(await draft.read(file)) ?? ''}\n`)
  return hash.digest('hex').slice(0, 16)
}

function leafPem(pem: string): string {
  const leaf = leafOf(pem)
  return leaf ? encodePem('CERTIFICATE', leaf.raw) : ''
}

function crossPem(id: KeyId, cross: StepParts['cross']): string {
  const der = cross(id)
  if (der === undefined) throw refused(`CA ${id} is signed by no other`)
  return encodePem('CERTIFICATE', new Uint8Array(Buffer.from(der, 'base64')))
}

function unfit(why: string): RollcallError {
  return new RollcallError('CONTROL_PLANE_UNFIT', `${why}; nothing was changed.`)
}

function refused(why: string): RollcallError {
  return new RollcallError('CONTROL_PLANE_ORDER_REFUSED', `An order to the control plane waits: ${why}.`)
}

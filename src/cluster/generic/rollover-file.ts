/**
 * `--rollover FILE`: how this controller changes the CAs of a cluster that is not ours. Everything that is run, written or
 * dialled is named here, on the controller's own machine: the API names CAs, bundles and servers, never a path or a command.
 */
import { LineCounter, parseDocument } from 'yaml'
import { RollcallError } from '../../errors.ts'
import { type KeyReference, parseKeyReference } from '../../keys/key-reference.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Place } from '../rollover/handshakes.ts'
import { type Bad, booleanOf, fieldsOf, listOf, numberOf, pathOf, textOf } from './file-fields.ts'
import { type Hook, hookOf } from './hook.ts'
import { type SinkEntry, sinkEntryOf } from './sink-entry.ts'

/** Kubelets' serving certificates are verified by API servers alone, which nothing here can try. */
export const managedRoles = ['apiserver-serving', 'client'] as const satisfies readonly TrustRole[]
export type ManagedRole = (typeof managedRoles)[number]

export interface FirstAuthority {
  /** Path of its certificate. */
  certificate: string
  key: KeyReference
  /** Whether later CAs may have their keys in files, where this one's is not. */
  successorsInFiles: boolean
}

export interface ApiServerEntry extends Place {
  name: string
}

export interface RolloverFile {
  /** Where CAs are kept and what hooks are handed; 0700. */
  directory: string
  trustRoots: { path: string; key?: KeyReference }
  /** The CA of each role before any rollover: generation 1. A role without one is not managed. */
  authorities: Readonly<Partial<Record<ManagedRole, FirstAuthority>>>
  apiServers: readonly ApiServerEntry[]
  /**
   * Without `probe` no agent can be asked for a handshake with the chain of one CA. `signWith` where somebody else signs
   * client certificates: it is told by which CA.
   */
  hooks: Readonly<Record<Exclude<ServerHookName, 'probe'>, Hook> & { probe?: Hook; signWith?: Hook }>
  sinks: readonly SinkEntry[]
  /** Whether kube-root-ca.crt is this controller's to write; else it is read back until the one who writes it has. */
  publishRootCa: boolean
  /** Whether `ca.crt` of service accounts' token Secrets is kept: it takes the right to list Secrets. */
  tokenSecrets: boolean
  /** Milliseconds between two turns of a rotation. */
  interval: number
  /** A control plane that kubeadm made: agents on these nodes do what hooks and places do elsewhere. */
  kubeadm?: KubeadmEntry
}

export interface KubeadmEntry {
  /** Names of all control-plane nodes; no other is ever sealed a CA key. */
  nodes: readonly string[]
  /** Of kube-apiserver on each. */
  port: number
  /** SHA-256 of each node's own key, which its agent logs when it makes it. */
  identities?: Readonly<Record<string, string>>
}

/** What is switched on API servers. */
export const serverHookNames = ['present', 'clientTrust', 'probe'] as const
export type ServerHookName = (typeof serverHookNames)[number]

const fields = [
  'directory',
  'trustRoots',
  'authorities',
  'apiServers',
  'hooks',
  'sinks',
  'publishRootCa',
  'tokenSecrets',
  'intervalSeconds',
  'kubeadm',
] as const

/** Throws USAGE naming the place in the file, KEY_URI_INVALID. */
export function parseRolloverFile(text: string, path: string): RolloverFile {
  const bad: Bad = why => new RollcallError('USAGE', `--rollover: ${path}: ${why}.`, { path })
  const file = fieldsOf(parsed(text, bad), 'the file', fields, bad)
  const directory = pathOf(file.directory, 'directory', bad)
  const apiServers = listOf(file.apiServers ?? [], 'apiServers', bad).map((item, index) =>
    apiServerOf(item, `apiServers[${index}]`, bad),
  )
  const kubeadm = file.kubeadm === undefined ? undefined : kubeadmOf(file, bad)
  if (apiServers.length === 0 && !kubeadm) throw bad('apiServers must name every API server')
  const sinks = listOf(file.sinks ?? [], 'sinks', bad).map((item, index) =>
    sinkEntryOf(item, `sinks[${index}]`, bad),
  )
  unique(apiServers, 'API servers', bad)
  unique(sinks, 'sinks', bad)
  return {
    directory,
    trustRoots: trustRootsOf(file.trustRoots ?? { file: `${directory}/trust-roots` }, bad),
    authorities: authoritiesOf(file.authorities, bad),
    apiServers,
    hooks: hooksOf(file.hooks ?? {}, bad),
    sinks,
    publishRootCa: booleanOf(file.publishRootCa ?? false, 'publishRootCa', bad),
    tokenSecrets: booleanOf(file.tokenSecrets ?? true, 'tokenSecrets', bad),
    interval: 1000 * numberOf(file.intervalSeconds ?? 3, 'intervalSeconds', { least: 0.1, most: 600 }, bad),
    ...(kubeadm && { kubeadm }),
  }
}

/** Its agents know their files themselves: nothing else that this file may name has a meaning there. */
function kubeadmOf(file: Partial<Record<(typeof fields)[number], unknown>>, bad: Bad): KubeadmEntry {
  const foreign = (['apiServers', 'hooks', 'sinks', 'publishRootCa'] as const).find(
    name => file[name] !== undefined,
  )
  if (foreign !== undefined) throw bad(`${foreign} is for clusters that kubeadm did not make; leave it out`)
  const { nodes, port, identities } = fieldsOf(file.kubeadm, 'kubeadm', ['nodes', 'port', 'identities'], bad)
  const names = listOf(nodes, 'kubeadm.nodes', bad).map((item, index) =>
    textOf(item, `kubeadm.nodes[${index}]`, bad),
  )
  if (names.length === 0) throw bad('kubeadm.nodes must name every control-plane node')
  return {
    nodes: [...new Set(names)],
    port: numberOf(port ?? 6443, 'kubeadm.port', { least: 1, most: 65_535 }, bad),
    ...(identities !== undefined && { identities: identitiesOf(identities, names, bad) }),
  }
}

function identitiesOf(value: unknown, names: readonly string[], bad: Bad): Record<string, string> {
  const fields = fieldsOf(value, 'kubeadm.identities', names, bad)
  const entries = names.map(name => {
    const text = textOf(fields[name], `kubeadm.identities.${name}`, bad)
    if (!/^[0-9a-f]{64}$/.test(text)) throw bad(`kubeadm.identities.${name} must be a SHA-256 in hexadecimal`)
    return [name, text] as const
  })
  return Object.fromEntries(entries)
}

function parsed(text: string, bad: Bad): unknown {
  const lines = new LineCounter()
  // Without the text around an error: an `env` may hold a secret.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error) throw bad(`line ${lines.linePos(error.pos[0]).line} is no YAML: ${error.message}`)
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    throw bad(error instanceof Error ? error.message : String(error))
  }
}

function trustRootsOf(value: unknown, bad: Bad): RolloverFile['trustRoots'] {
  const { file, key } = fieldsOf(value, 'trustRoots', ['file', 'key'], bad)
  const path = pathOf(file, 'trustRoots.file', bad)
  return key === undefined ? { path } : { path, key: parseKeyReference(textOf(key, 'trustRoots.key', bad)) }
}

function authoritiesOf(value: unknown, bad: Bad): RolloverFile['authorities'] {
  const roles = fieldsOf(value, 'authorities', managedRoles, bad)
  const entries = Object.entries(roles).map(([role, authority]) => {
    const where = `authorities.${role}`
    const { certificate, key, successors } = fieldsOf(
      authority,
      where,
      ['certificate', 'key', 'successors'],
      bad,
    )
    if (successors !== undefined && successors !== 'files') throw bad(`${where}.successors must be files`)
    const reference = parseKeyReference(textOf(key, `${where}.key`, bad))
    return [
      role,
      {
        certificate: pathOf(certificate, `${where}.certificate`, bad),
        key: reference,
        successorsInFiles: reference.kind === 'file' || successors === 'files',
      },
    ] as const
  })
  if (entries.length === 0) throw bad('authorities must name a CA')
  return Object.fromEntries(entries)
}

function apiServerOf(value: unknown, where: string, bad: Bad): ApiServerEntry {
  const server = fieldsOf(value, where, ['name', 'address'], bad)
  const address = textOf(server.address, `${where}.address`, bad)
  const url = URL.canParse(`https://${address}`) ? new URL(`https://${address}`) : undefined
  if (!url || `${url.pathname}${url.search}${url.hash}` !== '/' || url.username !== '')
    throw bad(`${where}.address must be HOST:PORT`)
  const name = textOf(server.name, `${where}.name`, bad)
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(name)) throw bad(`${where}.name must be of letters, digits, . _ and -`)
  return { name, host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) }
}

function hooksOf(value: unknown, bad: Bad): RolloverFile['hooks'] {
  const hooks = fieldsOf(value, 'hooks', [...serverHookNames, 'signWith'], bad)
  const hook = (name: keyof typeof hooks) => hookOf(hooks[name] ?? 'wait', `hooks.${name}`, bad)
  return {
    present: hook('present'),
    clientTrust: hook('clientTrust'),
    ...(hooks.probe !== undefined && { probe: hook('probe') }),
    ...(hooks.signWith !== undefined && { signWith: hook('signWith') }),
  }
}

function unique(named: readonly { name: string }[], what: string, bad: Bad): void {
  const names = named.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw bad(`two ${what} are named ${JSON.stringify(twice)}`)
}

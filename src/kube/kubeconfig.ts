import { dirname, isAbsolute, join } from 'node:path'
import { parse } from 'yaml'
import { RollcallError } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import { isRecord } from './json.ts'

/** Bytes given in the kubeconfig itself, or the file that holds them (absolute, or relative to the process). */
export type Source = { data: Secret } | { file: string }

export interface KubeconfigCluster {
  server: string
  certificateAuthority?: Source
  insecureSkipTlsVerify: boolean
  tlsServerName?: string
  /** `http(s)://…` */
  proxyUrl?: string
}

/** An exec credential plugin as the kubeconfig describes it (client.authentication.k8s.io/v1). */
export interface ExecConfig {
  apiVersion: string
  command: string
  args: string[]
  env: { name: string; value: string }[]
  provideClusterInfo: boolean
  interactiveMode: 'Never' | 'IfAvailable' | 'Always'
}

export interface KubeconfigUser {
  clientCertificate?: Source
  clientKey?: Source
  token?: Secret
  tokenFile?: string
  exec?: ExecConfig
}

interface Place {
  path: string
  field: string
}

/** An entry as it stands in the file; what it says is judged only when it is used, as client-go does. */
interface Entry {
  fields: Record<string, unknown>
  place: Place
}

export interface Kubeconfig {
  /** Where it was read, for messages. */
  path: string
  currentContext?: string
  clusters: Map<string, Entry>
  users: Map<string, Entry>
  contexts: Map<string, Entry>
}

/**
 * Reads the text of a kubeconfig; `selectContext` then judges the entries of one context.
 * Throws RollcallError KUBECONFIG_INVALID, which names the field and never shows a value.
 */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  const root = record(parseYaml(text, path), { path, field: 'the file' })
  if (root.kind !== undefined && root.kind !== 'Config')
    throw invalid({ path, field: 'kind' }, 'is not Config')
  const currentContext = string(root['current-context'], { path, field: 'current-context' })
  return {
    path,
    ...(currentContext && { currentContext }),
    clusters: named(root.clusters, { path, field: 'clusters' }, 'cluster'),
    users: named(root.users, { path, field: 'users' }, 'user'),
    contexts: named(root.contexts, { path, field: 'contexts' }, 'context'),
  }
}

/** Several files as one: of entries with the same name the first counts, as with KUBECONFIG=a:b. */
export function mergeKubeconfigs(files: readonly [Kubeconfig, ...Kubeconfig[]]): Kubeconfig {
  const firstWins = (maps: Map<string, Entry>[]) => new Map(maps.toReversed().flatMap(map => [...map]))
  const currentContext = files.find(file => file.currentContext)?.currentContext
  return {
    path: files.map(file => file.path).join(':'),
    ...(currentContext && { currentContext }),
    clusters: firstWins(files.map(file => file.clusters)),
    users: firstWins(files.map(file => file.users)),
    contexts: firstWins(files.map(file => file.contexts)),
  }
}

export interface SelectedContext {
  context: string
  namespace: string
  cluster: KubeconfigCluster
  user: KubeconfigUser
  /** Name of the user entry, for messages. */
  userName: string
}

/**
 * The cluster and user of a context; of the current one when no name is given. Relative file names are taken from the
 * folder of the kubeconfig. Throws RollcallError KUBECONFIG_INVALID.
 */
export function selectContext(config: Kubeconfig, name = config.currentContext): SelectedContext {
  const { path } = config
  if (!name) throw invalid({ path, field: 'current-context' }, 'is not set; set it or give --context')
  const { fields, place } = entryOf(config, 'contexts', name)
  const clusterName = string(fields.cluster, at(place, 'cluster')) ?? ''
  const userName = string(fields.user, at(place, 'user')) ?? ''
  return {
    context: name,
    namespace: string(fields.namespace, at(place, 'namespace')) || 'default',
    cluster: readCluster(entryOf(config, 'clusters', clusterName)),
    // A context may name no user: the requests are then anonymous, as in client-go.
    user: userName === '' ? {} : readUser(entryOf(config, 'users', userName)),
    userName,
  }
}

function entryOf(config: Kubeconfig, kind: 'clusters' | 'users' | 'contexts', name: string): Entry {
  const entry = config[kind].get(name)
  if (!entry) throw invalid({ path: config.path, field: kind }, `has no entry named ${JSON.stringify(name)}`)
  return entry
}

/** The error for a field; `why` goes on the sentence and must not hold its value. */
export function invalid({ path, field }: Place, why: string): RollcallError {
  return new RollcallError('KUBECONFIG_INVALID', `${path}: ${field} ${why}`, { path, field })
}

function parseYaml(text: string, path: string): unknown {
  try {
    // Pretty errors quote the line, which may hold a key.
    return parse(text, { prettyErrors: false })
  } catch (error) {
    const offset =
      error instanceof Error && 'pos' in error && Array.isArray(error.pos) ? Number(error.pos[0]) : 0
    const line = text.slice(0, offset).split('\n').length
    throw invalid({ path, field: `line ${line}` }, 'is not valid YAML')
  }
}

function readCluster({ fields: entry, place }: Entry): KubeconfigCluster {
  const server = string(entry.server, at(place, 'server'))
  if (!server) throw invalid(at(place, 'server'), 'is missing')
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? '')) {
    throw invalid(at(place, 'server'), 'is not a URL that starts with https:// or http://')
  }
  const proxyUrl = string(entry['proxy-url'], at(place, 'proxy-url'))
  if (proxyUrl && !/^https?:$/.test(URL.parse(proxyUrl)?.protocol ?? ''))
    throw invalid(at(place, 'proxy-url'), 'is no URL of an http: or https: proxy; others are not supported')
  const certificateAuthority = source(entry, 'certificate-authority', place)
  const insecureSkipTlsVerify = boolean(
    entry['insecure-skip-tls-verify'],
    at(place, 'insecure-skip-tls-verify'),
  )
  if (insecureSkipTlsVerify && certificateAuthority) {
    throw invalid(
      at(place, 'insecure-skip-tls-verify'),
      'contradicts certificate-authority; remove one of them',
    )
  }
  const tlsServerName = string(entry['tls-server-name'], at(place, 'tls-server-name'))
  return {
    server,
    ...(certificateAuthority && { certificateAuthority }),
    insecureSkipTlsVerify,
    ...(tlsServerName && { tlsServerName }),
    ...(proxyUrl && { proxyUrl }),
  }
}

function readUser({ fields: entry, place }: Entry): KubeconfigUser {
  for (const field of ['username', 'password', 'auth-provider', 'as']) {
    if (entry[field])
      throw invalid(at(place, field), 'is not supported; use a client certificate, a token or exec')
  }
  const clientCertificate = source(entry, 'client-certificate', place)
  const clientKey = source(entry, 'client-key', place)
  if (clientCertificate && !clientKey)
    throw invalid(at(place, 'client-key'), 'is missing beside client-certificate')
  if (clientKey && !clientCertificate)
    throw invalid(at(place, 'client-certificate'), 'is missing beside client-key')
  const token = string(entry.token, at(place, 'token'))
  const tokenFile = string(entry.tokenFile, at(place, 'tokenFile'))
  return {
    ...(clientCertificate && { clientCertificate }),
    ...(clientKey && { clientKey }),
    ...(token && { token: new Secret(token) }),
    ...(tokenFile && { tokenFile: relativeTo(place.path, tokenFile) }),
    ...(entry.exec !== undefined && {
      exec: readExec(record(entry.exec, at(place, 'exec')), at(place, 'exec')),
    }),
  }
}

function readExec(entry: Record<string, unknown>, place: Place): ExecConfig {
  const apiVersion = string(entry.apiVersion, at(place, 'apiVersion'))
  const command = string(entry.command, at(place, 'command'))
  if (!command) throw invalid(at(place, 'command'), 'is missing')
  if (
    apiVersion !== 'client.authentication.k8s.io/v1' &&
    apiVersion !== 'client.authentication.k8s.io/v1beta1'
  ) {
    throw invalid(at(place, 'apiVersion'), 'is not client.authentication.k8s.io/v1 or v1beta1')
  }
  // Required for v1; older versions default to IfAvailable.
  const interactiveMode = entry.interactiveMode ?? (apiVersion.endsWith('/v1') ? undefined : 'IfAvailable')
  if (interactiveMode !== 'Never' && interactiveMode !== 'IfAvailable' && interactiveMode !== 'Always') {
    throw invalid(at(place, 'interactiveMode'), 'is not Never, IfAvailable or Always')
  }
  return {
    apiVersion,
    command,
    args: list(entry.args, at(place, 'args')).map(argument => string(argument, at(place, 'args')) ?? ''),
    env: list(entry.env, at(place, 'env')).map(item => {
      const { name, value } = record(item, at(place, 'env'))
      return {
        name: string(name, at(place, 'env.name')) ?? '',
        value: string(value, at(place, 'env.value')) ?? '',
      }
    }),
    provideClusterInfo: boolean(entry.provideClusterInfo, at(place, 'provideClusterInfo')),
    interactiveMode,
  }
}

/** `NAME-data` (base64) comes before `NAME` (a file), as in client-go. */
function source(entry: Record<string, unknown>, name: string, place: Place): Source | undefined {
  const data = string(entry[`${name}-data`], at(place, `${name}-data`))
  if (data) {
    const compact = data.replace(/\s/g, '')
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact) || compact.length % 4 !== 0) {
      throw invalid(at(place, `${name}-data`), 'is not base64')
    }
    return { data: new Secret(Buffer.from(compact, 'base64').toString('utf8')) }
  }
  const file = string(entry[name], at(place, name))
  return file ? { file: relativeTo(place.path, file) } : undefined
}

function relativeTo(path: string, file: string): string {
  return isAbsolute(file) ? file : join(dirname(path), file)
}

/** A list of `{name, KIND: {…}}`; of entries with the same name the first counts. */
function named(value: unknown, { path, field }: Place, kind: string): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const [index, item] of list(value, { path, field }).entries()) {
    const entry = record(item, { path, field: `${field}[${index}]` })
    const name = string(entry.name, { path, field: `${field}[${index}].name` })
    if (!name) throw invalid({ path, field: `${field}[${index}].name` }, 'is missing')
    const place = { path, field: `${field}[name=${name}].${kind}` }
    if (!entries.has(name)) entries.set(name, { fields: record(entry[kind] ?? {}, place), place })
  }
  return entries
}

function at({ path, field }: Place, name: string): Place {
  return { path, field: `${field}.${name}` }
}

function record(value: unknown, place: Place): Record<string, unknown> {
  if (isRecord(value)) return value
  throw invalid(place, 'is not a mapping')
}

function list(value: unknown, place: Place): unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw invalid(place, 'is not a list')
}

function string(value: unknown, place: Place): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw invalid(place, 'is not a string')
}

function boolean(value: unknown, place: Place): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw invalid(place, 'is not true or false')
}

/** Places that consumers take trust from, as the controller's own file names them. */
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type Bad, booleanOf, fieldsOf, pathOf, textOf } from './file-fields.ts'
import { type Hook, type HookCommand, hookCommandOf, hookOf } from './hook.ts'

interface SinkCommon {
  name: string
  role: Extract<TrustRole, 'apiserver-serving' | 'client'>
  /** Whether machines take their first trust from it: written after all others. */
  seed: boolean
}

export type SinkPlace =
  | { kind: 'configMap' | 'secret'; namespace: string; object: string; key: string }
  /** In a kubeconfig under that key of a ConfigMap or Secret: join data of machines. */
  | { kind: 'kubeconfigIn'; of: 'configMap' | 'secret'; namespace: string; object: string; key: string }
  | { kind: 'clusterTrustBundle'; object: string; signerName?: string }
  /** A PEM file of this machine. With `restart`, it counts when who reads it once was restarted after it was written. */
  | { kind: 'file'; path: string; restart?: Hook }
  /** A kubeconfig of this machine: its CAs, and its client certificate where a CA of ours has issued it. `restart` as above. */
  | { kind: 'kubeconfig'; path: string; restart?: Hook }
  /** What only the operator's own commands reach: one writes the bundle, the other prints what is there. */
  | { kind: 'commands'; write: HookCommand; read: HookCommand }

export type SinkEntry = SinkCommon & SinkPlace

const known = [
  'name',
  'role',
  'seed',
  'configMap',
  'secret',
  'kubeconfigInConfigMap',
  'kubeconfigInSecret',
  'key',
  'clusterTrustBundle',
  'signerName',
  'file',
  'restart',
  'kubeconfig',
  'write',
  'read',
] as const
type Fields = Partial<Record<(typeof known)[number], unknown>>

export function sinkEntryOf(value: unknown, where: string, bad: Bad): SinkEntry {
  const fields = fieldsOf(value, where, known, bad)
  const role = fields.role ?? 'apiserver-serving'
  if (role !== 'apiserver-serving' && role !== 'client')
    throw bad(`${where}.role must be apiserver-serving or client`)
  const place = placeOf(fields, where, bad)
  for (const [field, of] of Object.entries(onlyWith))
    if (fields[field as keyof Fields] !== undefined && !of.some(kind => fields[kind] !== undefined))
      throw bad(`${where}.${field} is for ${of.join(', ')} alone`)
  const name = textOf(fields.name, `${where}.name`, bad)
  const seed = booleanOf(fields.seed ?? place.kind === 'kubeconfigIn', `${where}.seed`, bad)
  return { name, role, seed, ...place }
}

const kinds = {
  configMap: objectKey('configMap'),
  secret: objectKey('secret'),
  kubeconfigInConfigMap: kubeconfigKey('configMap'),
  kubeconfigInSecret: kubeconfigKey('secret'),
  clusterTrustBundle(fields, where, bad) {
    const object = textOf(fields.clusterTrustBundle, `${where}.clusterTrustBundle`, bad)
    if (fields.signerName === undefined) return { kind: 'clusterTrustBundle', object }
    const signerName = textOf(fields.signerName, `${where}.signerName`, bad)
    return { kind: 'clusterTrustBundle', object, signerName }
  },
  file: (fields, where, bad) => ofFile('file', fields, where, bad),
  kubeconfig: (fields, where, bad) => ofFile('kubeconfig', fields, where, bad),
  write: (fields, where, bad) => ({
    kind: 'commands',
    write: hookCommandOf(fields.write, `${where}.write`, bad),
    read: hookCommandOf(fields.read, `${where}.read`, bad),
  }),
} satisfies Partial<Record<keyof Fields, (fields: Fields, where: string, bad: Bad) => SinkPlace>>

/** Fields that mean something with some places only: elsewhere nobody would heed them. */
const onlyWith: Readonly<Partial<Record<keyof Fields, readonly (keyof Fields)[]>>> = {
  key: ['configMap', 'secret', 'kubeconfigInConfigMap', 'kubeconfigInSecret'],
  signerName: ['clusterTrustBundle'],
  restart: ['file', 'kubeconfig'],
  read: ['write'],
}

function placeOf(fields: Fields, where: string, bad: Bad): SinkPlace {
  const names = Object.keys(kinds) as (keyof typeof kinds)[]
  const [kind, ...more] = names.filter(name => fields[name] !== undefined)
  if (kind === undefined || more.length > 0) throw bad(`${where} must be exactly one of ${names.join(', ')}`)
  return kinds[kind](fields, where, bad)
}

function ofFile(kind: 'file' | 'kubeconfig', fields: Fields, where: string, bad: Bad): SinkPlace {
  const path = pathOf(fields[kind], `${where}.${kind}`, bad)
  if (fields.restart === undefined) return { kind, path }
  return { kind, path, restart: hookOf(fields.restart, `${where}.restart`, bad) }
}

function objectKey(kind: 'configMap' | 'secret') {
  return (fields: Fields, where: string, bad: Bad): SinkPlace => {
    return { kind, ...objectOf(fields[kind], fields.key ?? 'ca.crt', `${where}.${kind}`, bad) }
  }
}

function kubeconfigKey(of: 'configMap' | 'secret') {
  const field = of === 'configMap' ? 'kubeconfigInConfigMap' : 'kubeconfigInSecret'
  return (fields: Fields, where: string, bad: Bad): SinkPlace => {
    const key = fields.key ?? 'kubeconfig'
    return { kind: 'kubeconfigIn', of, ...objectOf(fields[field], key, `${where}.${field}`, bad) }
  }
}

/** `NAMESPACE/NAME`. */
function objectOf(value: unknown, key: unknown, where: string, bad: Bad) {
  const [, namespace, object] =
    /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/.exec(textOf(value, where, bad)) ?? []
  if (namespace === undefined || object === undefined) throw bad(`${where} must be NAMESPACE/NAME`)
  return { namespace, object, key: textOf(key, `${where}: key`, bad) }
}

/** The places of a cluster that is not ours, each written and read back through the API, on this machine, or by commands. */
import { join } from 'node:path'
import { RollcallError, systemCode } from '../../errors.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type ConfigMap, type KubeObject, type Namespace, resources, type Secret } from '../../kube/types.ts'
import type { Disk } from '../../ports.ts'
import { publishTrustBundle, storedTrustBundle } from '../../trust/cluster-trust-bundle.ts'
import { rootCaName } from '../../trust/root-ca.ts'
import { authoritiesInTokens, publishInTokens } from '../../trust/token-secrets.ts'
import { replaceClientCas } from '../extension-authentication.ts'
import type { TrustSink } from '../rollover/trust-sinks.ts'
import type { HookCommand } from './hook.ts'
import { authoritiesIn, withAuthorities } from './kubeconfig-text.ts'
import type { SinkEntry, SinkPlace } from './sink-entry.ts'
import type { Snapshot } from './snapshot.ts'

export interface SinkDoors {
  client: KubeClient
  disk: Disk
  /** As the API was when the facts were gathered. */
  now(): Snapshot
  /** Whether kube-root-ca.crt is written here, by the publisher that follows this place. */
  publishRootCa: boolean
  /** Runs a command of the operator. */
  run(name: string, hook: HookCommand, variables: Readonly<Record<string, string>>): Promise<string>
  /** A file that holds this PEM, for a command to take. */
  bundleFile(name: string, pem: string): Promise<string>
}

/** Places that every cluster has: nobody has to think of them. */
export function standardSinks({ client, now, publishRootCa }: SinkDoors): TrustSink[] {
  const role = 'apiserver-serving'
  const configMap = (name: string, namespace: string) =>
    now().get<ConfigMap>(resources.configMaps, name, namespace)
  return [
    {
      role,
      id: rootCaName,
      seed: false,
      async read() {
        const namespaces = now().list<Namespace>(resources.namespaces)
        const active = namespaces.filter(({ status }) => (status?.phase ?? 'Active') === 'Active')
        const copies = active.map(({ metadata }) => configMap(rootCaName, metadata.name)?.data?.['ca.crt'])
        // Where nobody publishes it at all, nobody takes anything from it.
        const published = publishRootCa || copies.some(copy => copy !== undefined)
        return published ? copies.map(copy => copy ?? '') : []
      },
      // By the publisher here, or by the one who reads the root CA file of the cluster.
      write: async () => {},
    },
    {
      role,
      id: 'service-account-tokens',
      seed: false,
      read: async () => authoritiesInTokens(now().list<Secret>(resources.secrets)),
      write: pem => publishInTokens(client, now().list<Secret>(resources.secrets), pem),
    },
    {
      role,
      id: 'cluster-info',
      seed: true,
      read: async () => authoritiesIn(configMap('cluster-info', 'kube-public')?.data?.kubeconfig ?? ''),
      async write(pem) {
        const kubeconfig = configMap('cluster-info', 'kube-public')?.data?.kubeconfig
        if (kubeconfig === undefined) return
        const target = { name: 'cluster-info', namespace: 'kube-public' }
        const data = { kubeconfig: withAuthorities(kubeconfig, pem, 'kube-public/cluster-info') }
        await client.patch(resources.configMaps, target, 'merge', { data })
      },
    },
    {
      role: 'client',
      id: 'extension-apiserver-authentication',
      seed: false,
      async read() {
        const pem = configMap('extension-apiserver-authentication', 'kube-system')?.data?.['client-ca-file']
        return pem === undefined ? [] : [pem]
      },
      // API servers add what they judge by, and drop nothing before it ends: what was dropped goes from here.
      async write(pem) {
        if (configMap('extension-apiserver-authentication', 'kube-system'))
          await replaceClientCas(client, pem)
      },
    },
  ]
}

/** A place of the controller's own file. */
export function sinkOf({ name: id, role, seed, ...place }: SinkEntry, doors: SinkDoors): TrustSink {
  return { id, role, seed, ...readAndWrite(id, place, doors) }
}

type Access = Pick<TrustSink, 'read' | 'write'>

function readAndWrite(id: string, place: SinkPlace, doors: SinkDoors): Access {
  switch (place.kind) {
    case 'configMap':
    case 'secret':
      return inObject(place, doors, { read: text => [text], write: (_, pem) => pem })
    case 'kubeconfigIn':
      return inObject({ ...place, kind: place.of }, doors, {
        read: text => authoritiesIn(text),
        write: (text, pem) => withAuthorities(text, pem, `${place.namespace}/${place.object}`),
      })
    case 'clusterTrustBundle':
      return {
        read: async () => [(await storedTrustBundle(doors.client, place.object))?.spec.trustBundle ?? ''],
        write: pem => publishTrustBundle(doors.client, { ...place, name: place.object }, pem),
      }
    case 'file':
      return inFile(place.path, doors.disk, { read: text => [text], write: (_, pem) => pem })
    case 'kubeconfig':
      return inFile(place.path, doors.disk, {
        read: text => authoritiesIn(text),
        write: (text, pem) => withAuthorities(text, pem, place.path),
      })
    case 'commands':
      return {
        async write(pem) {
          const bundle = await doors.bundleFile(id, pem)
          await doors.run(`hook write of ${id}`, place.write, { ROLLCALL_SINK: id, ROLLCALL_BUNDLE: bundle })
        },
        read: async () => [await doors.run(`hook read of ${id}`, place.read, { ROLLCALL_SINK: id })],
      }
  }
}

interface Form {
  read(text: string): string[]
  write(text: string, pem: string): string
}

/** Under one key of a ConfigMap or Secret, which is made where it is missing; its other keys are left alone. */
function inObject(
  { kind, namespace, object: name, key }: Extract<SinkPlace, { kind: 'configMap' | 'secret' }>,
  { client }: SinkDoors,
  form: Form,
): Access {
  const resource = kind === 'configMap' ? resources.configMaps : resources.secrets
  const decode = (text: string) => (kind === 'secret' ? Buffer.from(text, 'base64').toString() : text)
  const encode = (text: string) => (kind === 'secret' ? Buffer.from(text).toString('base64') : text)
  const stored = () => orNothing(client.get<ConfigMap | Secret>(resource, { name, namespace }))
  return {
    async read() {
      const text = (await stored())?.data?.[key]
      return text === undefined ? [''] : form.read(decode(text))
    },
    async write(pem) {
      const current = await stored()
      const data = { [key]: encode(form.write(decode(current?.data?.[key] ?? ''), pem)) }
      if (current) await client.patch(resource, { name, namespace }, 'merge', { data })
      else {
        const made = { apiVersion: 'v1', kind: resource.kind, metadata: { name, namespace }, data }
        await client.create<KubeObject>(resource, made)
      }
    },
  }
}

function inFile(path: string, disk: Disk, form: Form): Access {
  return {
    async read() {
      const text = await textAt(disk, path)
      return text === undefined ? [''] : form.read(text)
    },
    async write(pem) {
      await rewriteFile(disk, path, text => form.write(text, pem))
    },
  }
}

/** Keeps owner and mode; a new file is 0600, since it may come to hold a key. Old content or new, never a part. */
export async function rewriteFile(disk: Disk, path: string, change: (text: string) => string): Promise<void> {
  const text = await textAt(disk, path)
  const before = text === undefined ? undefined : await disk.stat(path)
  const temporary = `${path}.rollcall`
  await disk.remove(temporary)
  const mode = before?.mode ?? 0o600
  await disk.write(temporary, change(text ?? ''), { mode, exclusive: true, sync: true })
  if (before?.group !== undefined) await disk.changeOwner?.(temporary, before.owner, before.group)
  await disk.rename(temporary, path)
  await disk.syncDirectory(join(path, '..'))
}

/** undefined: it is not there. Rejects with DIRECTORY_UNUSABLE. */
export async function textAt(disk: Pick<Disk, 'read'>, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (cause) {
    const why = systemCode(cause)
    if (why === 'ENOENT') return undefined
    throw new RollcallError('DIRECTORY_UNUSABLE', `${path} cannot be read (${why}).`, { path }, { cause })
  }
}

async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

/** The same place, read once until it is written: it may be asked for at each of several gates, and by a command. */
export function readOnce(sink: TrustSink): TrustSink {
  let known: Promise<readonly string[]> | undefined
  return {
    ...sink,
    read() {
      known ??= sink.read()
      return known
    },
    write(pem) {
      known = undefined
      return sink.write(pem)
    },
  }
}

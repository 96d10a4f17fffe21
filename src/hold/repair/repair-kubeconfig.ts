import { type Document, isMap, parseDocument } from 'yaml'
import { Secret } from '../../keys/secret.ts'
import type { KeyPair } from '../key-pair.ts'
import type { Repair } from './operation.ts'

/** A kubelet's kubeconfig, and what it needs to be judged. */
export interface KubeconfigFacts {
  path: string
  /** undefined: the file is not there. */
  text: string | undefined
  /** Path of `kubelet-client-current.pem`, and its pair as it will be after the stores are mended. */
  currentPath: string
  pair: KeyPair | undefined
  /** The pair that it embeds or refers to; a fault says why there is none. undefined: it names none (exec, token). */
  own: KeyPair | { fault: string } | undefined
  /** Path of a bootstrap kubeconfig that is there. */
  bootstrapPath?: string
}

/**
 * What mends a kubeconfig that leads to no usable pair, or to an older one than the store has (kubeadm's first
 * certificate, embedded; a path that is gone; certificate and key of two managers): its user then refers to the store.
 */
export function repairKubeconfig(
  facts: KubeconfigFacts,
  now: number,
  backup: (path: string) => string,
): Repair[] {
  const { path, text, currentPath, pair, own, bootstrapPath } = facts
  if (text === undefined) return []
  const document = parseDocument(text, { prettyErrors: false })
  const isWhole = document.errors.length === 0 && isMap(document.contents)
  const problem = isWhole ? problemOf(facts, now) : `${path} is cut short or no YAML`
  if (problem === undefined) return []
  const kept = backup(path)
  if (isWhole && pair && pair.leaf.notAfter > now) {
    const mended = referringTo(document, currentPath)
    if (mended !== undefined)
      return [
        {
          problem,
          operations: [
            { do: 'copy', path, to: kept },
            { do: 'write', path, text: new Secret(mended) },
          ],
          advice: 'restart the kubelet: it has read the file once',
        },
      ]
  }
  // K-4: without the file a kubelet bootstraps and writes it anew.
  if (bootstrapPath !== undefined && !(own && 'leaf' in own && own.leaf.notAfter > now))
    return [
      {
        problem,
        operations: [{ do: 'move', path, to: kept }],
        advice: `restart the kubelet: it bootstraps with ${bootstrapPath}`,
      },
    ]
  return [
    {
      problem,
      operations: [],
      advice:
        'there is neither a usable pair nor a bootstrap kubeconfig: rollcall node rebootstrap NAME makes one',
    },
  ]
}

function problemOf({ path, currentPath, pair, own }: KubeconfigFacts, now: number): string | undefined {
  if (own === undefined) return undefined
  if ('fault' in own) return `${path}: the client certificate it names ${own.fault}`
  if (
    pair &&
    pair.chain !== own.chain &&
    pair.leaf.notBefore > own.leaf.notBefore &&
    pair.leaf.notAfter > now
  )
    return `${path} names an older certificate than ${currentPath} has`
  return own.leaf.notAfter > now ? undefined : `${path} names a certificate that has ended`
}

/** The same file, whose current user refers to the pair; comments and all else stay. undefined: it has no such user. */
function referringTo(document: Document.Parsed, pairPath: string): string | undefined {
  const config = document.toJS() as {
    'current-context'?: string
    contexts?: { name?: string; context?: { user?: string } }[]
    users?: { name?: string }[]
  }
  const context = config.contexts?.find(({ name }) => name === config['current-context'])
  const index = config.users?.findIndex(({ name }) => name === context?.context?.user) ?? -1
  if (index < 0) return undefined
  const user = ['users', index, 'user']
  for (const field of ['client-certificate-data', 'client-key-data']) document.deleteIn([...user, field])
  for (const field of ['client-certificate', 'client-key']) document.setIn([...user, field], pairPath)
  return document.toString({ lineWidth: 0 })
}

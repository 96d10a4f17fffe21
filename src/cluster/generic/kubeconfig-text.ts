/** A kubeconfig as text in which the CAs, or the client certificate, of its current context are replaced, and nothing else. */
import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { RollcallError } from '../../errors.ts'
import type { KeyPair } from '../issue-pair.ts'

/** PEM of each cluster that counts: the current context's, or all where there is no context, as in cluster-info. */
export function authoritiesIn(text: string): string[] {
  const { clusters } = read(text)
  return clusters.map(cluster => decoded(cluster.get('certificate-authority-data')))
}

/** Throws KUBECONFIG_INVALID where the CAs are in a file: that file is the place then; and where it is not said whose are meant. */
export function withAuthorities(text: string, pem: string, where: string): string {
  const { document, clusters } = read(text)
  if (clusters.length === 0) throw unfit(where, 'names no cluster')
  if (clusters.length > 1) throw unfit(where, noContext)
  if (clusters.some(cluster => cluster.get('insecure-skip-tls-verify') === true))
    throw unfit(where, 'says insecure-skip-tls-verify, beside which no client takes CAs')
  if (clusters.some(cluster => cluster.has('certificate-authority')))
    throw unfit(where, 'refers to a file with its CAs; name that file as a sink')
  for (const cluster of clusters) cluster.set('certificate-authority-data', encoded(pem))
  return printed(document)
}

/** PEM of the client certificate in it; undefined: it has none of its own. */
export function clientCertificateIn(text: string): string | undefined {
  const data = read(text).users[0]?.get('client-certificate-data')
  return data === undefined ? undefined : decoded(data)
}

/** Throws KUBECONFIG_INVALID where it has no user. */
export function withClientCertificate(text: string, pair: KeyPair, where: string): string {
  const { document, users } = read(text)
  const [user] = users
  if (!user) throw unfit(where, 'names no user')
  if (users.length > 1) throw unfit(where, noContext)
  user.set('client-certificate-data', encoded(pair.certificate))
  user.set('client-key-data', encoded(pair.key.reveal()))
  return printed(document)
}

const noContext = 'has no current context, and more than one cluster or user: set current-context'

function read(text: string): { document: Document; clusters: YAMLMap[]; users: YAMLMap[] } {
  const document = parseDocument(text, { prettyErrors: false })
  if (document.errors.length > 0) return { document, clusters: [], users: [] }
  const current = document.get('current-context')
  const context =
    typeof current === 'string' && current !== ''
      ? entries(document, 'contexts', 'context').find(({ name }) => name === current)?.map
      : undefined
  const of = (kind: 'clusters' | 'users', field: 'cluster' | 'user') => {
    const all = entries(document, kind, field)
    return (context ? all.filter(({ name }) => name === context.get(field)) : all).map(({ map }) => map)
  }
  return { document, clusters: of('clusters', 'cluster'), users: of('users', 'user') }
}

function entries(document: Document, list: string, field: string): { name: unknown; map: YAMLMap }[] {
  const value = isMap(document.contents) ? document.get(list) : undefined
  if (!isSeq(value)) return []
  return value.items.flatMap(item => {
    const map = isMap(item) ? item.get(field) : undefined
    return isMap(item) && isMap(map) ? [{ name: item.get('name'), map }] : []
  })
}

const printed = (document: Document) =>
  document.toString({ lineWidth: 0, indentSeq: false, flowCollectionPadding: false })
const encoded = (pem: string) => Buffer.from(pem).toString('base64')
const decoded = (data: unknown) => Buffer.from(typeof data === 'string' ? data : '', 'base64').toString()

function unfit(where: string, why: string): RollcallError {
  return new RollcallError('KUBECONFIG_INVALID', `${where} ${why}`, { where })
}

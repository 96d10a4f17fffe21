/** Requests: method, path, query, headers and body, each drawn from its own grammar. */
import { allResources } from '../../src/apiserver/resources/index.ts'
import type { Resource } from '../../src/apiserver/resources/resource.ts'
import { apiVersionOf } from '../../src/apiserver/stored-object.ts'
import type { ApiRequest } from '../../src/kube/transport.ts'
import { requestField } from './certificate-request.ts'
import type { Chance } from './chance.ts'
import { anyValue, jsonText, mutated, yamlText } from './json.ts'
import { wellFormed } from './objects.ts'
import { patchBody, patchTypes } from './patch.ts'
import { damaged, protobufBody } from './protobuf.ts'
import { selector } from './selector.ts'
import { name, number, numeral, word } from './text.ts'

const storedResources = allResources.filter(resource => resource.stored)
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const accepts = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf,application/json',
  '*/*',
  'text/html;q=x',
]
const otherPaths = [
  '/version',
  '/healthz',
  '/readyz?verbose&exclude=ping',
  '/api',
  '/apis',
  '/openapi/v3',
  '/openapi/v2',
  '/metrics',
  '/.well-known/openid-configuration',
  '/openapi/v3/apis/certificates.k8s.io/v1',
]

export function requestOf(chance: Chance, goodRequests: readonly string[]): ApiRequest {
  // Reviews are a fifth of the kinds, but hold no state to get wrong.
  const resource = chance.pick(chance.maybe(0.9) ? storedResources : allResources)
  if (chance.maybe(0.2)) return goodRequest(chance, resource, goodRequests)
  const method = chance.maybe(0.97) ? chance.pick(methods) : chance.pick(['HEAD', 'OPTIONS', 'TRACE', 'BREW'])
  const named = name(chance)
  const url = chance.maybe(0.93) ? resourceUrl(chance, method, resource, named) : otherUrl(chance)
  const headers: Record<string, string> = {
    accept: chance.maybe(0.7) ? 'application/json' : chance.pick(accepts),
    ...identityHeaders(chance),
  }
  const request: ApiRequest = { method, url, headers }
  if (method === 'GET' || chance.maybe(0.05)) return request
  const request64 = requestField(chance, goodRequests)
  const object = wellFormed(chance, resource, named, request64)
  Object.assign(request, body(chance, method, resource, object, headers))
  return request
}

/** One that is in order, so that the others find something. */
function goodRequest(chance: Chance, resource: Resource, goodRequests: readonly string[]): ApiRequest {
  const { group, version, plural, namespaced } = resource
  const named = chance.pick(['a', 'b', 'worker-1', 'default'])
  const request = Buffer.from(chance.pick(goodRequests)).toString('base64')
  const object = wellFormed(chance, resource, named, request)
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`
  return {
    method: 'POST',
    url: `${root}/${namespaced ? 'namespaces/default/' : ''}${plural}`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(object)),
  }
}

function body(
  chance: Chance,
  method: string,
  resource: Resource,
  object: object,
  headers: Record<string, string>,
): Pick<ApiRequest, 'body'> {
  const set = (type: string, content: string | Uint8Array) => {
    headers['content-type'] = chance.maybe(0.97) ? type : word(chance)
    return { body: typeof content === 'string' ? new TextEncoder().encode(content) : content }
  }
  if (method === 'PATCH') {
    const type = chance.maybe(0.97) ? chance.pick(patchTypes) : 'application/apply-patch+yaml'
    return set(type, jsonText(chance, patchBody(chance, type, object)))
  }
  const value = method === 'DELETE' ? deleteOptions(chance) : chance.maybe(0.9) ? object : anyValue(chance)
  const format = chance.below(10)
  if (format === 0) return set('application/yaml', yamlText(chance, value))
  if (format <= 2)
    return set(
      'application/vnd.kubernetes.protobuf',
      protobufBody(chance, resource.kind, apiVersionOf(resource)),
    )
  const text = jsonText(chance, chance.maybe(0.7) ? mutated(chance, value) : value)
  return set('application/json', damaged(chance, new TextEncoder().encode(text), 0.02))
}

const deleteOptions = (chance: Chance) => ({
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  ...(chance.maybe(0.3) && { preconditions: { uid: word(chance), resourceVersion: numeral(chance) } }),
  ...(chance.maybe(0.3) && { propagationPolicy: chance.pick(['Foreground', 'Background', 'Orphan', 'X']) }),
  ...(chance.maybe(0.3) && { gracePeriodSeconds: number(chance) }),
  ...(chance.maybe(0.2) && { dryRun: ['All'] }),
})

function resourceUrl(chance: Chance, method: string, resource: Resource, named: string): string {
  const { group, version, plural, namespaced } = resource
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`
  const namespace = chance.maybe(0.8) ? 'default' : encoded(chance, name(chance))
  const inNamespace = namespaced ? chance.maybe(0.9) : chance.maybe(0.03)
  const parts = [root, ...(inNamespace ? [`namespaces/${namespace}`] : []), plural]
  const ofObject = method === 'POST' ? 0.1 : method === 'GET' ? 0.5 : 0.9
  if (!chance.maybe(ofObject)) return parts.join('/') + query(chance)
  parts.push(encoded(chance, named))
  const subresources = resource.stored ? Object.keys(resource.subresources) : []
  if (subresources.length > 0 && chance.maybe(0.3)) parts.push(chance.pick(subresources))
  else if (chance.maybe(0.03)) parts.push(word(chance))
  return parts.join('/') + query(chance)
}

const otherUrl = (chance: Chance) =>
  chance.maybe(0.6)
    ? chance.pick(otherPaths)
    : `/${chance.some(6, () => word(chance)).join('/')}${query(chance)}`

/** Sometimes left raw: what HTTP lets through is not always valid percent-encoding. */
function encoded(chance: Chance, raw: string): string {
  const text = raw.toWellFormed()
  return chance.maybe(0.9) ? encodeURIComponent(text) : text.replaceAll(/[\s\0]/g, '')
}

function query(chance: Chance): string {
  if (chance.maybe(0.5)) return ''
  const parts = chance.some(5, () => {
    const [key, value] = parameter(chance)
    return `${key}=${chance.maybe(0.95) ? encodeURIComponent(value.toWellFormed()) : value}`
  })
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}

function parameter(chance: Chance): [key: string, value: string] {
  const parameters: [string, () => string][] = [
    ['watch', () => chance.pick(['1', 'true', '0', 'x'])],
    ['resourceVersion', () => numeral(chance)],
    ['resourceVersionMatch', () => chance.pick(['Exact', 'NotOlderThan', 'x'])],
    ['limit', () => numeral(chance)],
    ['continue', () => continueToken(chance)],
    ['labelSelector', () => selector(chance)],
    ['fieldSelector', () => selector(chance)],
    ['timeoutSeconds', () => numeral(chance)],
    ['allowWatchBookmarks', () => 'true'],
    ['sendInitialEvents', () => 'true'],
    ['dryRun', () => chance.pick(['All', 'x', ''])],
    ['fieldValidation', () => chance.pick(['Strict', 'Warn', 'Ignore', 'x'])],
    ['fieldManager', () => word(chance)],
    ['includeObject', () => chance.pick(['None', 'Object', 'x'])],
    ['gracePeriodSeconds', () => numeral(chance)],
    ['propagationPolicy', () => word(chance)],
    [encodeURIComponent(word(chance).toWellFormed()), () => word(chance)],
  ]
  const [key, value] = chance.pick(parameters)
  return [key, value()]
}

function continueToken(chance: Chance): string {
  const token = JSON.stringify({ v: 'meta.k8s.io/v1', rv: chance.below(300) - 1, start: word(chance) })
  return Buffer.from(damaged(chance, Buffer.from(token), 0.5)).toString('base64url')
}

/** Which client the runner lets it come from is not said here; these headers come on top. */
function identityHeaders(chance: Chance): Record<string, string> {
  if (chance.maybe(0.9)) return {}
  const header = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '')
  return chance.pick<Record<string, string>>([
    { authorization: `Bearer ${header(word(chance))}` },
    { authorization: header(word(chance)) },
    { 'impersonate-user': header(name(chance)) },
    { 'impersonate-user': 'u', 'impersonate-group': `${header(word(chance))}, x` },
    { 'impersonate-extra-%': 'x', 'impersonate-user': 'u' },
    { 'if-none-match': header(word(chance)) },
  ])
}

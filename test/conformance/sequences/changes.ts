/** Requests that write: POST, PUT, PATCH, DELETE, and to subresources. */
import type { Draft } from './generate.ts'
import type { SequenceStep } from './sequence.ts'

const json = { 'content-type': 'application/json' }
const names = ['a', 'a', 'b']

/** Cluster-wide names must be the sequence's own. */
const nameIn = ({ chance, id, kind }: Draft) =>
  kind.namespaced ? chance.pick(names) : `${id}-${chance.pick(names)}`

/** The version that the last write left, an older one, one of nobody, or none. */
function versionOf({ chance, writes, collection }: Draft, url: string): Record<string, string> {
  const known = [...(writes.get(url) ?? []), ...(writes.get(collection) ?? [])].sort((a, b) => a - b)
  const choice = chance.below(10)
  if (choice < 4) return {}
  if (choice === 4) return { resourceVersion: chance.pick(['0', '1', '999999999', 'nonsense', '-1']) }
  const at = choice < 8 ? known.at(-1) : known[chance.below(known.length)]
  return at === undefined ? {} : { resourceVersion: `$(rv${at})` }
}

function metadata(draft: Draft, name: string, more: object = {}) {
  const { chance } = draft
  return {
    name,
    ...(chance.maybe(0.4) && {
      labels: { app: chance.pick(['x', 'y']), ...(chance.maybe(0.2) && { tier: 'z' }) },
    }),
    ...(chance.maybe(0.1) && { annotations: { note: chance.pick(['1', '2']) } }),
    ...(chance.maybe(0.12) && {
      finalizers: chance.pick([['example.com/f'], ['example.com/f', 'example.com/g'], ['bad']]),
    }),
    ...(chance.maybe(0.05) &&
      chance.pick<object>([
        { labels: { 'bad key': 'v' } },
        { labels: { a: 'bad value!' } },
        { labels: {} },
        { generation: 7 },
        { deletionTimestamp: '2026-01-01T00:00:00Z' },
      ])),
    ...more,
  }
}

function objectOf(draft: Draft, name: string, more: object = {}): Record<string, unknown> {
  const { chance, kind } = draft
  return {
    ...(chance.maybe(0.95) && { apiVersion: kind.apiVersion, kind: kind.kind }),
    metadata: metadata(draft, name, more),
    ...(chance.maybe(0.75) ? kind.content(chance, `seq-${draft.id}`) : kind.odd(chance)),
    ...(chance.maybe(0.05) && { surprise: 1 }),
  }
}

function query({ chance }: Draft, ...more: string[]): string {
  const parts = [
    ...more,
    ...(chance.maybe(0.1) ? [`dryRun=${chance.pick(['All', 'All', 'Some'])}`] : []),
    ...(chance.maybe(0.2)
      ? [`fieldValidation=${chance.pick(['Strict', 'Strict', 'Warn', 'Ignore', 'Odd'])}`]
      : []),
    ...(chance.maybe(0.1) ? ['fieldManager=test'] : []),
  ]
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}

export function changes(draft: Draft): SequenceStep {
  const what = draft.chance.below(12)
  if (what < 4) return post(draft)
  if (what < 6) return put(draft)
  if (what < 9) return patch(draft)
  if (what < 10 && draft.kind.subresources.length > 0) return subresource(draft)
  return remove(draft)
}

function post(draft: Draft): SequenceStep {
  const { chance, collection } = draft
  const name = nameIn(draft)
  const object = objectOf(draft, name, {
    ...(chance.maybe(0.03) && { resourceVersion: '1' }),
    ...(chance.maybe(0.03) && { namespace: 'default' }),
  })
  if (chance.maybe(0.1)) object.metadata = { generateName: `${name}-${draft.at}-` }
  return { method: 'POST', url: collection + query(draft), headers: json, body: JSON.stringify(object) }
}

function put(draft: Draft): SequenceStep {
  const url = `${draft.collection}/${nameIn(draft)}`
  const name = draft.chance.maybe(0.95) ? (url.split('/').at(-1) ?? '') : 'other'
  const body = objectOf(draft, name, versionOf(draft, url))
  return { method: 'PUT', url: url + query(draft), headers: json, body: JSON.stringify(body) }
}

const finalizers = ['example.com/f', 'example.com/h']

function patch(draft: Draft): SequenceStep {
  const { chance, kind } = draft
  const url = `${draft.collection}/${nameIn(draft)}`
  const value = chance.pick(['x', 'y', null])
  const label = { metadata: { labels: { app: value }, ...versionOf(draft, url) } }
  const [type, body] = chance.pick<[string, unknown]>([
    ['merge-patch+json', label],
    ['merge-patch+json', chance.maybe(0.5) ? kind.content(chance, `seq-${draft.id}`) : kind.odd(chance)],
    ['merge-patch+json', { metadata: { finalizers: chance.pick([null, finalizers]) } }],
    ['merge-patch+json', { metadata: { name: 'other' } }],
    ['strategic-merge-patch+json', label],
    ['strategic-merge-patch+json', { metadata: { finalizers } }],
    [
      'strategic-merge-patch+json',
      { metadata: { labels: { $patch: chance.pick(['replace', 'delete']), tier: 'w' } } },
    ],
    [
      'strategic-merge-patch+json',
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/f'] } },
    ],
    ['strategic-merge-patch+json', {}],
    [
      'strategic-merge-patch+json',
      chance.maybe(0.7) ? kind.content(chance, `seq-${draft.id}`) : kind.odd(chance),
    ],
    ['json-patch+json', [{ op: 'add', path: '/metadata/labels', value: { app: 'x' } }]],
    [
      'json-patch+json',
      [
        { op: 'test', path: '/metadata/labels/app', value: 'x' },
        { op: 'remove', path: '/metadata/labels/app' },
      ],
    ],
    ['json-patch+json', [{ op: 'remove', path: '/metadata/finalizers' }]],
    ['json-patch+json', [{ op: 'replace', path: '/metadata/uid', value: 'mine' }]],
    ['apply-patch+yaml', label],
    ['unknown', label],
  ])
  const headers = { 'content-type': `application/${type}` }
  return { method: 'PATCH', url: url + query(draft), headers, body: JSON.stringify(body) }
}

function subresource(draft: Draft): SequenceStep {
  const { chance, kind } = draft
  const name = nameIn(draft)
  const url = `${draft.collection}/${name}/${chance.pick(kind.subresources)}`
  if (url.endsWith('/token')) {
    const spec = chance.pick<object>([
      {},
      { expirationSeconds: 600 },
      { expirationSeconds: 1 },
      { audiences: ['other'] },
    ])
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    return { method: 'POST', url, headers: json, body: JSON.stringify(body) }
  }
  const type = chance.pick(['Approved', 'Denied', 'Failed', 'Ready', 'Mine'])
  const condition = {
    type,
    status: chance.pick(['True', 'True', 'False', 'Maybe']),
    reason: 'R',
    message: 'm',
  }
  const status = { conditions: chance.pick<object[]>([[condition], [condition, condition], []]) }
  const whole = { ...objectOf(draft, name), status }
  // Whoever made a request may be kept from approving it (deploy/admission/four-eyes.yaml).
  const as = { user: 'approver', groups: ['system:masters'] }
  if (chance.maybe(0.6)) return { as, method: 'PUT', url, headers: json, body: JSON.stringify(whole) }
  const headers = { 'content-type': 'application/merge-patch+json' }
  return { as, method: 'PATCH', url, headers, body: JSON.stringify({ status }) }
}

function remove(draft: Draft): SequenceStep {
  const { chance, writes, collection } = draft
  const url = `${collection}/${nameIn(draft)}`
  if (chance.maybe(0.1)) {
    const selector = draft.kind.namespaced
      ? 'labelSelector=app%3Dx'
      : `fieldSelector=metadata.name%3D${url.split('/').at(-1)}`
    return { method: 'DELETE', url: `${collection}?${selector}` }
  }
  if (chance.maybe(0.5)) return { method: 'DELETE', url: url + query(draft) }
  const last = [...(writes.get(url) ?? []), ...(writes.get(collection) ?? [])].at(-1) ?? 0
  const options = chance.pick<object>([
    { preconditions: { uid: `$(uid${last})` } },
    { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } },
    { preconditions: { resourceVersion: `$(rv${last})` } },
    { preconditions: { resourceVersion: '1' } },
    { propagationPolicy: chance.pick(['Background', 'Odd']) },
    { gracePeriodSeconds: 0 },
    { dryRun: ['All'] },
    { orphanDependents: false, propagationPolicy: 'Background' },
  ])
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options }
  return { method: 'DELETE', url, headers: json, body: JSON.stringify(body) }
}

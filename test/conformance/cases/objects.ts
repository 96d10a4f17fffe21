/** What holds for every stored object: creating, reading, changing and deleting (W-3, W-6 and the API conventions). */
import { absent, type Case, type Step } from '../case.ts'
import { configMap, maps, metadataOnly, node, nodes, table } from './objects-of.ts'

const created = (name = 'a', data: object = { a: '1' }, metadata: object = {}): Step => ({
  method: 'POST',
  url: maps,
  body: configMap(name, data, metadata),
  expect: { status: 201 },
  keep: { [`rv_${name}`]: 'metadata.resourceVersion', [`uid_${name}`]: 'metadata.uid' },
})

const patched = (type: string, body: object, expect: Step['expect'], url = `${maps}/a`): Step => ({
  method: 'PATCH',
  url,
  type: `application/${type}`,
  body,
  expect,
})

export const objects: Case[] = [
  {
    title: 'W-6: creating sets what belongs to the server; a taken name is a conflict',
    steps: [
      {
        method: 'POST',
        url: maps,
        body: configMap('a', { a: '1' }, { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' }),
        expect: {
          status: 201,
          body: {
            metadata: {
              name: 'a',
              namespace: '$(ns)',
              uid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
              resourceVersion: /^\d+$/,
              creationTimestamp: /^20[^0]/,
            },
            data: { a: '1' },
          },
        },
      },
      {
        method: 'POST',
        url: maps,
        body: configMap('a'),
        expect: { status: 409, reason: 'AlreadyExists', message: 'configmaps "a" already exists' },
      },
      {
        method: 'POST',
        url: maps,
        body: configMap('b', {}, { resourceVersion: '1' }),
        expect: { status: 500, message: 'resourceVersion should not be set on objects to be created' },
      },
      {
        method: 'POST',
        url: maps,
        body: configMap('b', {}, { namespace: 'default' }),
        expect: {
          status: 400,
          reason: 'BadRequest',
          message: 'the namespace of the provided object does not match the namespace sent on the request',
        },
      },
      {
        method: 'POST',
        url: maps,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } },
        expect: { status: 201, body: { metadata: { name: /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/ } } },
      },
      {
        method: 'GET',
        url: `${maps}/missing`,
        expect: {
          status: 404,
          reason: 'NotFound',
          message: 'configmaps "missing" not found',
          body: { details: { name: 'missing', kind: 'configmaps' } },
        },
      },
    ],
  },
  {
    title: 'W-6: a stale resourceVersion is a conflict; what changes nothing gets no new version',
    steps: [
      created(),
      {
        method: 'PUT',
        url: `${maps}/a`,
        body: configMap('a', { a: '2' }, { resourceVersion: '$(rv_a)' }),
        expect: { status: 200, body: { data: { a: '2' } } },
        keep: { now: 'metadata.resourceVersion' },
      },
      {
        method: 'PUT',
        url: `${maps}/a`,
        body: configMap('a', { a: '3' }, { resourceVersion: '$(rv_a)' }),
        expect: { status: 409, reason: 'Conflict' },
      },
      {
        method: 'PUT',
        url: `${maps}/a`,
        body: configMap('a', { a: '2' }),
        expect: { status: 200, body: { metadata: { resourceVersion: '$(now)' } } },
      },
      {
        method: 'PUT',
        url: `${maps}/a`,
        body: configMap('b'),
        expect: {
          status: 400,
          reason: 'BadRequest',
          message: 'the name of the object (b) does not match the name on the URL (a)',
        },
      },
      {
        method: 'PUT',
        url: `${maps}/a`,
        body: configMap('a', { a: '3' }, { uid: '00000000-0000-0000-0000-000000000000' }),
        expect: { status: 409, reason: 'Conflict' },
      },
    ],
  },
  {
    title: 'W-3: the three kinds of patches; an empty one succeeds',
    steps: [
      created('a', { a: '1', b: '2' }, { finalizers: ['example.com/one'] }),
      patched(
        'merge-patch+json',
        { data: { a: null, c: '3' } },
        {
          status: 200,
          body: { data: { a: absent, b: '2', c: '3' } },
        },
      ),
      patched(
        'json-patch+json',
        [
          { op: 'test', path: '/data/b', value: '2' },
          { op: 'remove', path: '/data/b' },
        ],
        {
          status: 200,
          body: { data: { b: absent, c: '3' } },
        },
      ),
      patched(
        'strategic-merge-patch+json',
        { metadata: { finalizers: ['example.com/two'] } },
        {
          status: 200,
          body: { metadata: { finalizers: ['example.com/two', 'example.com/one'] } },
        },
      ),
      patched('strategic-merge-patch+json', {}, { status: 200 }),
      patched('json-patch+json', [{ op: 'remove', path: '/data/absent' }], {
        status: 422,
        reason: 'Invalid',
      }),
      patched('merge-patch+json', { metadata: { finalizers: null } }, { status: 200 }),
      patched('merge-patch+json', { data: {} }, { status: 404, reason: 'NotFound' }, `${maps}/missing`),
      patched('unknown', {}, { status: 415, reason: 'UnsupportedMediaType' }),
    ],
  },
  {
    title: 'W-3: a kubelet’s patch of its status merges conditions by type and replaces addresses',
    steps: [
      {
        method: 'POST',
        url: nodes,
        body: node('$(id)', {
          status: {
            conditions: [{ type: 'Ready', status: 'False' }],
            addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
          },
        }),
        expect: { status: 201 },
      },
      {
        ...patched(
          'strategic-merge-patch+json',
          {
            status: {
              '$setElementOrder/conditions': [{ type: 'DiskPressure' }, { type: 'Ready' }],
              conditions: [
                { type: 'Ready', status: 'True' },
                { type: 'DiskPressure', status: 'False' },
              ],
              addresses: [{ type: 'InternalIP', address: '192.0.2.2' }, { $patch: 'replace' }],
            },
          },
          {
            status: 200,
            body: {
              status: {
                conditions: [
                  { type: 'DiskPressure', status: 'False' },
                  { type: 'Ready', status: 'True' },
                ],
                addresses: [{ type: 'InternalIP', address: '192.0.2.2' }],
              },
            },
          },
        ),
        url: `${nodes}/$(id)/status`,
      },
      { method: 'DELETE', url: `${nodes}/$(id)`, expect: { status: 200 } },
    ],
  },
  {
    title: 'W-6: a dry run is judged like the real thing and leaves nothing',
    steps: [
      { ...created(), url: `${maps}?dryRun=All` },
      { method: 'GET', url: `${maps}/a`, expect: { status: 404 } },
      created(),
      {
        method: 'POST',
        url: `${maps}?dryRun=All`,
        body: configMap('a'),
        expect: { status: 409, reason: 'AlreadyExists' },
      },
      {
        method: 'PUT',
        url: `${maps}/a?dryRun=All`,
        body: configMap('a', { a: '2' }),
        expect: { status: 200, body: { data: { a: '2' } } },
      },
      { method: 'DELETE', url: `${maps}/a?dryRun=All`, expect: { status: 200 } },
      {
        method: 'GET',
        url: `${maps}/a`,
        expect: { status: 200, body: { data: { a: '1' }, metadata: { resourceVersion: '$(rv_a)' } } },
      },
      {
        method: 'POST',
        url: `${maps}?dryRun=Some`,
        body: configMap('b'),
        expect: { status: 422, reason: 'Invalid' },
      },
    ],
  },
  {
    title: 'W-6: unknown and repeated fields are refused, warned of or ignored as the client asks',
    steps: [
      {
        method: 'POST',
        url: `${maps}?fieldValidation=Strict`,
        body: { ...configMap('a'), colour: 'red' },
        expect: {
          status: 400,
          reason: 'BadRequest',
          message: /strict decoding error: unknown field "colour"/,
        },
      },
      {
        method: 'POST',
        url: `${maps}?fieldValidation=Strict`,
        body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}',
        expect: {
          status: 400,
          reason: 'BadRequest',
          message: /strict decoding error: duplicate field "data\.x"/,
        },
      },
      {
        method: 'POST',
        url: maps,
        body: { ...configMap('a'), colour: 'red' },
        expect: {
          status: 201,
          body: { colour: absent },
          headers: { warning: '299 - "unknown field \\"colour\\""' },
        },
      },
      {
        method: 'POST',
        url: `${maps}?fieldValidation=Ignore`,
        body: { ...configMap('b'), colour: 'red' },
        expect: { status: 201, body: { colour: absent } },
      },
    ],
  },
  {
    title: 'W-6: deleting keeps to preconditions, and an object with finalizers waits for them',
    steps: [
      created('a', {}, { finalizers: ['example.com/f'] }),
      {
        method: 'DELETE',
        url: `${maps}/a`,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: '00000000-0000-0000-0000-000000000000' },
        },
        expect: { status: 409, reason: 'Conflict' },
      },
      {
        method: 'DELETE',
        url: `${maps}/a`,
        expect: {
          status: 200,
          body: { kind: 'ConfigMap', metadata: { deletionTimestamp: /^20/, uid: '$(uid_a)' } },
        },
      },
      {
        ...patched(
          'merge-patch+json',
          { metadata: { finalizers: ['example.com/f', 'example.com/g'] } },
          {
            status: 422,
            reason: 'Invalid',
            message: /no new finalizers can be added if the object is being deleted/,
          },
        ),
      },
      patched('merge-patch+json', { metadata: { finalizers: null } }, { status: 200 }),
      { method: 'GET', url: `${maps}/a`, expect: { status: 404 } },
      created('b'),
      {
        method: 'DELETE',
        url: `${maps}/b`,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: '$(uid_b)' } },
        expect: {
          status: 200,
          body: {
            kind: 'Status',
            status: 'Success',
            details: { name: 'b', kind: 'configmaps', uid: '$(uid_b)' },
          },
        },
      },
    ],
  },
  {
    title: 'W-6: answers as Table and as metadata alone',
    steps: [
      created('a', { a: '1' }, { labels: { app: 'x' } }),
      {
        method: 'GET',
        url: maps,
        headers: table,
        expect: {
          status: 200,
          body: {
            kind: 'Table',
            apiVersion: 'meta.k8s.io/v1',
            columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
            rows: [
              {
                cells: ['a', 1, /^\d+s$/],
                object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } },
              },
            ],
          },
        },
      },
      {
        method: 'GET',
        url: `${maps}/a`,
        headers: metadataOnly,
        expect: {
          status: 200,
          body: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { labels: { app: 'x' } },
            data: absent,
          },
        },
      },
      {
        method: 'GET',
        url: `${maps}/a`,
        headers: { accept: 'text/html' },
        expect: { status: 406, reason: 'NotAcceptable' },
      },
    ],
  },
  {
    title: 'W-6: what is not served is 404, and a method that makes no sense 405',
    steps: [
      { method: 'GET', url: '/apis/example.com/v1/things', expect: { status: 404 } },
      {
        method: 'GET',
        url: '/api/v1/unknowns',
        expect: {
          status: 404,
          reason: 'NotFound',
          message: 'the server could not find the requested resource',
        },
      },
      {
        method: 'POST',
        url: `${maps}/a`,
        body: configMap('a'),
        expect: { status: 405, reason: 'MethodNotAllowed' },
      },
      { method: 'PUT', url: maps, body: configMap('a'), expect: { status: 405, reason: 'MethodNotAllowed' } },
      { method: 'POST', url: maps, body: '{"kind":', expect: { status: 400, reason: 'BadRequest' } },
      {
        method: 'POST',
        url: maps,
        body: configMap('Not Valid'),
        expect: {
          status: 422,
          reason: 'Invalid',
          message: /metadata\.name: Invalid value: "Not Valid": a lowercase RFC 1123 subdomain/,
        },
      },
      { method: 'POST', url: maps, body: node('a'), expect: { status: 400, reason: 'BadRequest' } },
    ],
  },
]

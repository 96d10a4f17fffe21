/** What holds when a stored object is changed or deleted (W-3, W-6 and the API conventions). */
import { absent, type Case } from '../case.ts'
import { configMap, created, maps, node, nodes, patched } from './objects-of.ts'

export const changes: Case[] = [
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
]

/** What holds for every stored object: creating and reading, dry runs and validation (W-6 and the API conventions). */
import { absent, type Case } from '../case.ts'
import { configMap, created, maps, metadataOnly, node, table } from './objects-of.ts'

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

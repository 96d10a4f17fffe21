/** W-4 to W-7: lists with pages and selectors, watches, WatchList. */
import { absent, type Case, type Step } from '../case.ts'
import { configMap, maps, table } from './objects-of.ts'

const created = (name: string, labels: object = {}): Step => ({
  method: 'POST',
  url: maps,
  body: configMap(name, { a: '1' }, { labels }),
  expect: { status: 201 },
})

const items = (...names: string[]) => names.map(name => ({ metadata: { name } }))

const list = (query: string, expect: Step['expect'], keep?: Step['keep']): Step => ({
  method: 'GET',
  url: `${maps}?${query}`,
  expect,
  ...(keep && { keep }),
})

/** kube-root-ca.crt is there where a controller manager runs, and is no part of the case. */
const mine = 'labelSelector=case'

export const listsAndWatches: Case[] = [
  {
    title: 'W-6: pages join to the list as it was at the first of them',
    steps: [
      created('a', { case: 'x' }),
      created('b', { case: 'x' }),
      created('c', { case: 'x' }),
      list(
        `${mine}&limit=2`,
        {
          status: 200,
          body: {
            kind: 'ConfigMapList',
            items: items('a', 'b'),
            metadata: { continue: /./, resourceVersion: /^\d+$/ },
          },
        },
        { next: 'metadata.continue', rv: 'metadata.resourceVersion' },
      ),
      { method: 'DELETE', url: `${maps}/c`, expect: { status: 200 } },
      list(`${mine}&limit=2&continue=$(next)`, {
        status: 200,
        body: { items: items('c'), metadata: { continue: absent, resourceVersion: '$(rv)' } },
      }),
      list(`${mine}&resourceVersion=$(rv)&resourceVersionMatch=Exact`, {
        status: 200,
        body: { items: items('a', 'b', 'c') },
      }),
      list(`${mine}&resourceVersion=$(rv)&resourceVersionMatch=NotOlderThan`, {
        status: 200,
        body: { items: items('a', 'b') },
      }),
      list(`${mine}&resourceVersion=0`, { status: 200 }),
      list('limit=1&continue=nonsense', {
        status: 400,
        reason: 'BadRequest',
        message: /^invalid continue token: continue key is not valid: /,
      }),
      list(`${mine}&limit=-1`, { status: 200, body: { items: items('a', 'b') } }),
      list('limit=x', {
        status: 400,
        reason: 'BadRequest',
        message: 'strconv.ParseInt: parsing "x": invalid syntax',
      }),
      list('resourceVersionMatch=Exact', {
        status: 422,
        reason: 'Invalid',
        message: /resourceVersionMatch is forbidden unless resourceVersion is provided/,
      }),
      list('resourceVersion=nonsense', { status: 400, reason: 'BadRequest' }),
    ],
  },
  {
    title: 'W-6: label and field selectors',
    steps: [
      created('a', { app: 'x', case: '1' }),
      created('b', { app: 'y', case: '1' }),
      created('c', { case: '1' }),
      list('labelSelector=case,app%3Dx', { status: 200, body: { items: items('a') } }),
      list('labelSelector=case,app!%3Dx', { status: 200, body: { items: items('b', 'c') } }),
      list('labelSelector=case,app%20in%20(x,y)', { status: 200, body: { items: items('a', 'b') } }),
      list('labelSelector=case,!app', { status: 200, body: { items: items('c') } }),
      list('labelSelector=case&fieldSelector=metadata.name!%3Da', {
        status: 200,
        body: { items: items('b', 'c') },
      }),
      list('labelSelector=a%3D%3D%3Db', { status: 400, reason: 'BadRequest' }),
      list('fieldSelector=data.a%3D1', {
        status: 400,
        reason: 'BadRequest',
        message: /"data\.a" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
      }),
    ],
  },
  {
    title: 'W-6: a watch goes on from a version with exactly what came after it',
    steps: [
      created('a', { case: 'x' }),
      list(mine, { status: 200 }, { rv: 'metadata.resourceVersion' }),
      created('b', { case: 'x' }),
      {
        method: 'PUT',
        url: `${maps}/a`,
        body: configMap('a', { a: '2' }, { labels: { case: 'x' } }),
        expect: { status: 200 },
      },
      { method: 'PUT', url: `${maps}/b`, body: configMap('b', { a: '2' }), expect: { status: 200 } },
      { method: 'DELETE', url: `${maps}/a`, expect: { status: 200 } },
      {
        method: 'GET',
        url: `${maps}?${mine}&watch=true&resourceVersion=$(rv)`,
        events: 4,
        expect: {
          status: 200,
          headers: { 'content-type': 'application/json' },
          events: [
            { type: 'ADDED', object: { metadata: { name: 'b' } } },
            { type: 'MODIFIED', object: { metadata: { name: 'a' }, data: { a: '2' } } },
            // It left the selection: what it was is deleted, with the version at which it left.
            { type: 'DELETED', object: { metadata: { name: 'b' } } },
            { type: 'DELETED', object: { metadata: { name: 'a' } } },
          ],
        },
      },
    ],
  },
  {
    title: 'W-4: the headers of a watch come before anything happens',
    steps: [
      list(mine, { status: 200 }, { rv: 'metadata.resourceVersion' }),
      {
        method: 'GET',
        url: `${maps}?${mine}&watch=true&resourceVersion=$(rv)`,
        events: 0,
        expect: { status: 200, events: [] },
      },
    ],
  },
  {
    title: 'W-5: WatchList gives what is there, then the bookmark that says so',
    steps: [
      created('a', { case: 'x' }),
      {
        method: 'GET',
        url: `${maps}?${mine}&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        events: 2,
        expect: {
          status: 200,
          events: [
            { type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'a' } } },
            {
              type: 'BOOKMARK',
              object: {
                kind: 'ConfigMap',
                metadata: { resourceVersion: /^\d+$/, annotations: { 'k8s.io/initial-events-end': 'true' } },
              },
            },
          ],
        },
      },
      {
        method: 'GET',
        url: `${maps}?watch=true&sendInitialEvents=true`,
        expect: { status: 422, reason: 'Invalid', message: /resourceVersionMatch/ },
      },
    ],
  },
  {
    title: 'W-6: a watch of tables gives one row an event, and columns with the first',
    steps: [
      list(mine, { status: 200 }, { rv: 'metadata.resourceVersion' }),
      created('a', { case: 'x' }),
      created('b', { case: 'x' }),
      {
        method: 'GET',
        url: `${maps}?${mine}&watch=true&resourceVersion=$(rv)`,
        headers: table,
        events: 2,
        expect: {
          status: 200,
          events: [
            {
              type: 'ADDED',
              object: { kind: 'Table', columnDefinitions: [{}, {}, {}], rows: [{ cells: ['a', 1, /./] }] },
            },
            {
              type: 'ADDED',
              object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['b', 1, /./] }] },
            },
          ],
        },
      },
    ],
  },
  {
    title: 'W-7: a client that falls back to v1beta1 gets 404 there too',
    steps: [
      {
        method: 'POST',
        url: '/apis/certificates.k8s.io/v1beta1/certificatesigningrequests',
        body: {},
        expect: { status: 404 },
      },
    ],
  },
]

/** Questions that are answered and not stored, and paths that are nothing. */
import type { Draft } from './generate.ts'
import type { SequenceStep } from './sequence.ts'

const json = { 'content-type': 'application/json' }

export function reviews({ chance, collection }: Draft): SequenceStep {
  const attributes = {
    resourceAttributes: {
      verb: chance.pick(['get', 'create', '*', 'approve']),
      group: chance.pick(['', 'certificates.k8s.io', '*']),
      resource: chance.pick(['nodes', 'certificatesigningrequests', 'signers']),
      ...(chance.maybe(0.3) && { subresource: 'nodeclient' }),
    },
  }
  const authorization = (kind: string, spec: object) =>
    posted(`/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`, {
      apiVersion: 'authorization.k8s.io/v1',
      kind,
      spec,
    })
  return chance.pick<SequenceStep>([
    authorization('SubjectAccessReview', {
      user: chance.pick(['jane', 'system:kube-controller-manager']),
      ...attributes,
    }),
    authorization('SubjectAccessReview', { groups: ['system:nodes'], ...attributes }),
    authorization('SubjectAccessReview', {
      ...attributes,
      user: 'x',
      nonResourceAttributes: { path: '/x', verb: 'get' },
    }),
    authorization('SelfSubjectAccessReview', attributes),
    { ...authorization('SelfSubjectAccessReview', attributes), as: { user: 'jane' } },
    posted('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: chance.pick<object>([{ token: 'nonsense' }, {}]),
    }),
    {
      method: chance.pick(['POST', 'PUT', 'PATCH']),
      url: `${collection}/a/unknown`,
      headers: json,
      body: '{}',
    },
    { method: 'POST', url: `${collection}/a`, headers: json, body: '{}' },
    { method: 'PUT', url: collection, headers: json, body: '{}' },
    {
      method: 'GET',
      url: chance.pick([
        '/apis/example.com/v1',
        '/api/v2/nodes',
        '/nowhere',
        '/healthz',
        '/apis/apps/v1/deployments',
      ]),
    },
  ])
}

const posted = (url: string, body: object): SequenceStep => ({
  method: 'POST',
  url,
  headers: json,
  body: JSON.stringify(body),
})

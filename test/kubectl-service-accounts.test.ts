import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cells, clusterOfFile, noKubectl } from './support/kubectl.ts'

const skip = noKubectl
const { kubectl } = clusterOfFile(['server'])

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe('kubectl and service accounts', () => {
  test('create token gives a token that stands for the account', { skip }, async () => {
    await kubectl.ok('create sa robot')
    const token = (await kubectl.ok('create token robot --duration 20m')).trim()
    const { sub, exp, iat, aud } = claimsOf(token)
    assert.deepEqual(
      [sub, exp - iat, aud],
      ['system:serviceaccount:default:robot', 1200, ['https://kubernetes.default.svc.cluster.local']],
    )
    // With the administrator's client certificate no --token would count, so a review tells.
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    const reviewed = JSON.parse(await kubectl.ok('create -o json -f -', review))
    assert.equal(reviewed.status.user.username, 'system:serviceaccount:default:robot')
  })

  test('a token is bound to a pod, for an audience, and no shorter than ten minutes', { skip }, async () => {
    await kubectl.ok('create sa bound')
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bound' },
      spec: { serviceAccountName: 'bound', containers: [{ name: 'c', image: 'i' }] },
    }
    await kubectl.ok('create -f -', pod)
    const to = '--bound-object-kind Pod --bound-object-name bound --audience vault'
    const claims = claimsOf(await kubectl.ok(`create token bound ${to}`))
    assert.deepEqual([claims.aud, claims['kubernetes.io'].pod.name], [['vault'], 'bound'])
    assert.equal(
      await kubectl.fails('create token bound --duration 1m'),
      'error: failed to create token: TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes\n',
    )
  })

  test('every namespace has its account default', { skip }, async () => {
    await kubectl.ok('create ns own')
    await kubectl.ok('wait --for=create sa/default -n own --timeout=10s')
    assert.equal(await kubectl.ok('get sa default -n own -o name'), 'serviceaccount/default\n')
  })
})

describe('kubectl and services', () => {
  test('get svc shows the service of the API, and a new one with an address of its own', {
    skip,
  }, async () => {
    assert.equal(await kubectl.ok('create service clusterip web --tcp=80:8080'), 'service/web created\n')
    const [head, api, web] = cells(await kubectl.ok('get svc -o wide'))
    assert.deepEqual(head, ['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE', 'SELECTOR'])
    assert.deepEqual(api, ['kubernetes', 'ClusterIP', '10.96.0.1', '<none>', '443/TCP', 'AGE', '<none>'])
    assert.match(web?.[2] ?? '', /^10\.\d+\.\d+\.\d+$/)
    const described = await kubectl.ok('describe svc kubernetes')
    assert.match(described, /^Endpoints: +127\.0\.0\.1:\d+$/m)
  })

  test('apply changes the ports of a service by their number', { skip }, async () => {
    const service = (...ports: number[]) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'applied', namespace: 'default' },
      spec: { selector: { app: 'a' }, ports: ports.map(port => ({ name: `p${port}`, port })) },
    })
    await kubectl.ok('apply -f -', service(80, 81))
    assert.equal(await kubectl.ok('apply -f -', service(80, 82)), 'service/applied configured\n')
    assert.equal(await kubectl.ok('apply -f -', service(80, 82)), 'service/applied unchanged\n')
    assert.equal(await kubectl.ok(['get', 'svc', 'applied', '-o', 'jsonpath={.spec.ports[*].port}']), '80 82')
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources, type Secret } from '../kube/types.ts'
import { onCluster } from '../testing/controlled-cluster.ts'
import { authoritiesInTokens, publishInTokens, serviceAccountTokenType } from './token-secrets.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

const secret = (name: string, type: string, data: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default', annotations: { 'kubernetes.io/service-account.name': 'default' } },
  type,
  data,
})

test(
  'the CA in token Secrets is written anew and read back; other Secrets and what else is in them stay',
  onCluster(async ({ admin, reader }) => {
    const old = { 'ca.crt': base64('old'), token: base64('a token') }
    for (const one of [
      secret('legacy', serviceAccountTokenType, old),
      secret('empty', serviceAccountTokenType, {}),
      secret('somebodys', 'Opaque', old),
    ])
      await admin.create(resources.secrets, one)
    const read = () => reader.list<Secret>(resources.secrets)
    assert.deepEqual(authoritiesInTokens(read()), ['old'])
    await publishInTokens(admin, read(), 'new')
    assert.deepEqual(authoritiesInTokens(read()), ['new'])
    const dataOf = (name: string) => reader.get<Secret>(resources.secrets, name, 'default')?.data
    assert.deepEqual(dataOf('legacy'), { ...old, 'ca.crt': base64('new') })
    assert.deepEqual([dataOf('empty') ?? {}, dataOf('somebodys')], [{}, old])
    const version = () => reader.get<Secret>(resources.secrets, 'legacy', 'default')?.metadata.resourceVersion
    const before = version()
    await publishInTokens(admin, read(), 'new')
    assert.equal(version(), before, 'what is right is not written again')
    await admin.delete(resources.secrets, { name: 'legacy', namespace: 'default' })
    await publishInTokens(admin, [secret('legacy', serviceAccountTokenType, old)], 'new')
  }),
)

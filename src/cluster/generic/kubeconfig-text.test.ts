import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import {
  authoritiesIn,
  clientCertificateIn,
  withAuthorities,
  withClientCertificate,
} from './kubeconfig-text.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const mine = `# my clusters
apiVersion: v1
kind: Config
current-context: here
contexts:
- context: {cluster: one, user: anna}
  name: here
- context: {cluster: other, user: ben}
  name: elsewhere
clusters:
- cluster:
    certificate-authority-data: ${base64('old')}
    server: https://one
  name: one
- cluster:
    certificate-authority-data: ${base64('somebody else')}
    server: https://other
  name: other
users:
- name: ben
  user: {token: secret}
- name: anna
  user:
    client-certificate-data: ${base64('old leaf')}
    client-key-data: ${base64('old key')}
`

test('only the cluster and the user of the current context change; all else stays to the letter', () => {
  const next = withAuthorities(mine, 'old and new', 'mine')
  assert.equal(next, mine.replace(base64('old'), base64('old and new')))
  assert.deepEqual(authoritiesIn(next), ['old and new'])
  const pair = { certificate: 'new leaf', key: new Secret('new key') }
  const renewed = withClientCertificate(next, pair, 'mine')
  assert.equal(clientCertificateIn(renewed), 'new leaf')
  assert.match(renewed, new RegExp(`client-key-data: ${base64('new key')}\n`))
  assert.match(renewed, /^# my clusters\n/)
})

test('cluster-info has no context: its cluster is the one; a CA in a file is refused, text that is none holds nothing', () => {
  const info = mine
    .replace('current-context: here', 'current-context: ""')
    .replace(/- cluster:\n[^:]*: \S+\n[^:]*: https:..other\n[^:]*: other\n/, '')
  assert.deepEqual(authoritiesIn(withAuthorities(info, 'new', 'info')), ['new'])
  const inFile = mine.replace('certificate-authority-data', 'certificate-authority')
  assert.throws(
    () => withAuthorities(inFile, 'new', '/root/.kube/config'),
    error =>
      hasCode(error, 'KUBECONFIG_INVALID') && /name that file as a sink/.test((error as Error).message),
  )
  assert.deepEqual(authoritiesIn('{'), [])
  assert.equal(clientCertificateIn('{'), undefined)
})

test('where no context says whose CAs are meant, and there are several, nobody’s are changed; nor are they beside a word that nothing is verified', () => {
  const pair = { certificate: 'new leaf', key: new Secret('new key') }
  const refused = (error: unknown) => hasCode(error, 'KUBECONFIG_INVALID')
  for (const context of ['gone', '""']) {
    const text = mine.replace('current-context: here', `current-context: ${context}`)
    assert.throws(() => withAuthorities(text, 'new', 'mine'), refused)
    assert.throws(() => withClientCertificate(text, pair, 'mine'), refused)
  }
  const blind = mine.replace('server: https://one', 'server: https://one\n    insecure-skip-tls-verify: true')
  assert.throws(() => withAuthorities(blind, 'new', 'mine'), refused)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SigningFlags, signingPairs } from './signing-option.ts'

const names = (flags: SigningFlags) =>
  Object.entries(signingPairs(flags)).map(([name, pair]) => `${name} ${pair?.certificate}`)

test('C-20: one pair is for all four signers; a pair of one signer is for that one, and the others sign nothing', () => {
  const all = signingPairs({ signingCert: 'ca.crt', signingKey: 'ca.key' })
  assert.equal(Object.keys(all).length, 4)
  assert.equal(new Set(Object.values(all)).size, 1, 'opened once')
  assert.deepEqual(
    names({
      signingKubeletServingCert: 's.crt',
      signingKubeletServingKey: 'unix:/run/s.sock',
      signingLegacyUnknownCert: 'l.crt',
      signingLegacyUnknownKey: 'l.key',
    }),
    ['kubernetes.io/kubelet-serving s.crt', 'kubernetes.io/legacy-unknown l.crt'],
  )
  assert.deepEqual(names({}), [])
})

test('C-20: half a pair, and both kinds of flags together, are refused as kube-controller-manager refuses them', () => {
  const cases: [SigningFlags, RegExp][] = [
    [{ signingKey: 'k' }, /^cannot specify key without cert: give --signing-cert too\.$/],
    [{ signingCert: 'c' }, /^cannot specify cert without key: give --signing-key too\.$/],
    [{ signingKubeletClientCert: 'c' }, /cert without key: give --signing-kubelet-client-key too/],
    [
      { signingCert: 'c', signingKey: 'k', signingKubeletClientCert: 'c', signingKubeletClientKey: 'k' },
      /^cannot specify --signing-\{cert,key\} and other --signing-\*-\{cert,key\} flags at the same time\.$/,
    ],
    [{ signingCert: 'c', signingKey: 'pkcs11:token=a?pin-value=1' }, /pin-source/],
    [{ signingCert: 'c', signingKey: 'unix:relative.sock' }, /unix:\/path/],
  ]
  for (const [flags, message] of cases) assert.throws(() => signingPairs(flags), { message })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { readManifest, withFlags } from './static-pod-manifest.ts'

const manifest = (container: string) => `# kubeadm's
apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver}
spec:
  containers:
  - name: kube-apiserver
${container}
`
const usual = '    command:\n    - kube-apiserver\n    - --client-ca-file=/pki/ca.crt # of kubeadm'

test('a flag is changed where it stands, and comments stay', () => {
  const change = { flags: { 'client-ca-file': '/new.crt' }, words: [], loads: undefined }
  const text = withFlags(manifest(usual), 'm', change)
  assert.equal(text, manifest(usual).replace('/pki/ca.crt', '/new.crt'))
  assert.equal(withFlags(text, 'm', change), text)
})

test('a manifest whose flags cannot all be read from its command is left alone: one that is not seen would win', () => {
  const unfit = (error: unknown) => hasCode(error, 'CONTROL_PLANE_UNFIT')
  const cases = [
    `${usual}\n    args:\n    - --client-ca-file=/pki/ca.crt`,
    `    env: [{name: x, value: &ca --client-ca-file=/pki/ca.crt}]\n    command:\n    - kube-apiserver\n    - *ca`,
    '    command:\n    - kube-apiserver\n    - [--client-ca-file=/pki/ca.crt]',
    `${usual}\n---\nkind: Pod`,
    `${usual}\n    command: [kube-apiserver]`,
  ]
  for (const one of cases) assert.throws(() => readManifest(manifest(one), 'm'), unfit, one)
})

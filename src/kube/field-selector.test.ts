import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { matchesFields, parseFieldSelector, requiredValue, requireSupportedFields } from './field-selector.ts'
import type { CertificateSigningRequest } from './types.ts'

const request: CertificateSigningRequest = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'csr-1' },
  spec: { request: '', signerName: 'kubernetes.io/kubelet-serving', usages: [] },
}
const selectableFields = [
  { path: 'spec.signerName', value: (csr: CertificateSigningRequest) => csr.spec.signerName },
]

test('a field selector compares the fields that a resource offers', () => {
  const cases: [string, boolean][] = [
    ['', true],
    ['metadata.name=csr-1', true],
    ['metadata.name==csr-2', false],
    ['metadata.name!=csr-2', true],
    ['spec.signerName=kubernetes.io/kubelet-serving,metadata.name=csr-1', true],
    ['metadata.namespace=', true],
  ]
  for (const [text, expected] of cases) {
    assert.equal(matchesFields(parseFieldSelector(text), request, selectableFields), expected, text)
  }
})

test('a field that the resource does not offer is refused as in A-10', () => {
  const unsupported = (text: string, resource: Parameters<typeof requireSupportedFields>[1]) => () =>
    requireSupportedFields(parseFieldSelector(text), resource)
  assert.throws(unsupported('spec.username=a', { namespaced: false, selectableFields }), {
    message: 'field label not supported: spec.username',
  })
  assert.throws(unsupported('data=a', { namespaced: true }), {
    message: '"data" is not a known field selector: only "metadata.name", "metadata.namespace"',
  })
  requireSupportedFields(parseFieldSelector('metadata.name=a,metadata.namespace=b'), { namespaced: true })
})

test('what cannot be read as a field selector is refused with the text of Kubernetes', () => {
  const cases: [string, string][] = [
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ]
  for (const [text, message] of cases) {
    assert.throws(
      () => parseFieldSelector(text),
      error => hasCode(error, 'SELECTOR_INVALID') && error.message === message,
    )
  }
})

test('any value survives being escaped', () => {
  fc.assert(
    fc.property(fc.string(), value => {
      const escaped = value.replace(/[\\,=]/g, '\\$&')
      const selector = parseFieldSelector(`metadata.name=${escaped},a!=b`)
      assert.equal(requiredValue(selector, 'metadata.name'), value)
      assert.equal(selector.length, 2)
    }),
  )
})

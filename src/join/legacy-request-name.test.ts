import assert from 'node:assert/strict'
import { test } from 'node:test'
import { legacyRequestName } from './legacy-request-name.ts'

const spki = Buffer.from(
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVGf5wOYz7bd8gi45EzTqJB+VWnOK+MHroHxZt3rCnfCkYM0YJ0Bk1Li3OHXz0aMu+BhH6qDstrrP9t4wLdL7sA==',
  'base64',
)
const nameFor = (nodeName: string) =>
  legacyRequestName({
    spki,
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
    usages: ['digital signature', 'client auth'],
  })

test('K-22: the legacy name of a request equals the one that the real function gives', () => {
  assert.equal(nameFor('node-a'), 'node-csr-MsypHAquysaBBdp-YAXY6hEAnh81f3lMVXqV7aFRRpw')
  assert.equal(nameFor('worker-1.example.com'), 'node-csr-LEhwWTdvkVReO_iAXFoCQQhsOe9s-dHJP6nH9kdxCk8')
})

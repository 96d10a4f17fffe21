import assert from 'node:assert/strict'
import { test } from 'node:test'
import { originRefusal } from './same-origin.ts'

const hostnames = new Set(['localhost'])
const asked = (headers: Record<string, string>, path = '/dashboard/api/fleet', method = 'GET') =>
  originRefusal({ method, path, headers: { host: 'localhost:8443', ...headers } }, hostnames)?.status

test('only its names and addresses are answered, on any port: DNS rebinding brings other names', () => {
  for (const host of ['localhost:8443', '127.0.0.1', '[::1]:9000', '10.1.2.3:6443', 'LOCALHOST:1'])
    assert.equal(asked({ host }), undefined, host)
  for (const host of [
    'evil.example:8443',
    '127.0.0.1.evil.example',
    'localhost.',
    '',
    '[::1',
    'localhost:x',
    '127.1',
    '0x7f000001',
  ])
    assert.equal(asked({ host }), 421, host)
})

test('a page of another origin is refused, whatever it asks for', () => {
  assert.equal(asked({ origin: 'http://localhost:8443' }), undefined)
  for (const origin of [
    'http://localhost:9999',
    'http://127.0.0.1:8443',
    'null',
    'http://localhost:8443@evil.example',
    'http://evil.example',
  ])
    assert.equal(asked({ origin }), 403, origin)
})

test('what a browser marks as of another site is refused, but for a link to the page itself', () => {
  assert.equal(asked({ 'sec-fetch-site': 'same-origin' }), undefined)
  assert.equal(asked({ 'sec-fetch-site': 'none' }), undefined)
  for (const site of ['cross-site', 'same-site']) assert.equal(asked({ 'sec-fetch-site': site }), 403)
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }
  assert.equal(asked(link, '/dashboard/'), undefined)
  assert.equal(asked(link, '/dashboard/', 'POST'), 403)
  assert.equal(asked({ ...link, 'sec-fetch-dest': 'iframe' }, '/dashboard/'), 403)
  assert.equal(asked(link), 403)
})

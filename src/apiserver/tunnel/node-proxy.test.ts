import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../wire/api-error.ts'
import { proxiedNode, proxiedPath, proxiedRedirect } from './node-proxy.ts'

const refuses = (run: () => unknown) =>
  assert.throws(run, error => error instanceof ApiError && error.status.code === 400)

test('a node is named with scheme and port or without', () => {
  assert.deepEqual(proxiedNode('a'), { name: 'a' })
  assert.deepEqual(proxiedNode('a:10250'), { name: 'a', port: 10_250 })
  assert.deepEqual(proxiedNode('https:a:'), { name: 'a' })
  for (const text of ['http:a:80', 'a:b', ':80', 'a:b:c:d', 'a:999999']) refuses(() => proxiedNode(text))
})

test('what is behind the proxy is passed on as it came', () => {
  assert.equal(proxiedPath('/api/v1/nodes/a/proxy/stats/summary?a=%2F&b'), '/stats/summary?a=%2F&b')
  assert.equal(proxiedPath('/api/v1/nodes/a/proxy'), '/')
})

test('attack: a path that leaves its folder, or could end the request line, is refused', () => {
  for (const rest of [
    '/..',
    '/a/../b',
    '/a/%2e%2E/b',
    '/%2e/x',
    '/..%2fexec',
    '/a%0d%0aHost:%20b',
    '/a%00',
    '/a%5c..',
    '/%zz',
  ])
    refuses(() => proxiedPath(`/api/v1/nodes/a/proxy${rest}`))
})

test('a redirect of the kubelet to itself leads through the proxy, one to elsewhere nowhere', () => {
  assert.equal(proxiedRedirect('/logs/', 'a', '/logs'), '/api/v1/nodes/a/proxy/logs/')
  assert.equal(proxiedRedirect('b?c=d', 'a', '/logs/'), '/api/v1/nodes/a/proxy/logs/b?c=d')
  for (const location of [
    'https://evil.example/',
    '//evil.example/x',
    'javascript:alert(1)',
    'http://[',
    '\\\\evil.example',
  ])
    assert.equal(proxiedRedirect(location, 'a', '/logs'), undefined)
})

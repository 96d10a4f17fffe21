import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { parseCertificateLifetime, parseGoDuration } from './go-duration.ts'

test('a Go duration is read in seconds', () => {
  assert.equal(parseGoDuration('24h', '--x'), 86400)
  assert.equal(parseGoDuration('1h30m', '--x'), 5400)
  assert.equal(parseGoDuration('90s', '--x'), 90)
  assert.equal(parseGoDuration('1.5h', '--x'), 5400)
})

test('what is no Go duration is a usage error that names the option', () => {
  for (const text of ['', '24', 'h', '1d', '-5m', '1h x', ' 1h']) {
    assert.throws(
      () => parseGoDuration(text, '--x'),
      error => hasCode(error, 'USAGE') && error.message.startsWith('--x'),
    )
  }
})

test('a certificate lifetime below ten minutes is refused', () => {
  assert.equal(parseCertificateLifetime('10m'), 600)
  assert.throws(
    () => parseCertificateLifetime('9m59s'),
    error => hasCode(error, 'USAGE'),
  )
})

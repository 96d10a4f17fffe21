import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAge, formatMicroTime, formatTime } from './time-format.ts'

test('times are written as the API wants them', () => {
  const moment = Date.UTC(2026, 6, 1, 12, 30, 15, 42)
  assert.equal(formatTime(moment), '2026-07-01T12:30:15Z')
  assert.equal(formatMicroTime(moment), '2026-07-01T12:30:15.042000Z')
})

test('ages are shortened as kubectl does', () => {
  const second = 1000
  const minute = 60 * second
  const hour = 60 * minute
  const day = 24 * hour
  const ages: [number, string][] = [
    [-5 * second, '<invalid>'],
    [-1 * second, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 59 * second, '9m59s'],
    [10 * minute + 59 * second, '10m'],
    [hour, '60m'],
    [3 * hour - second, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 5 * minute, '7h5m'],
    [8 * hour + 5 * minute, '8h'],
    [47 * hour, '47h'],
    [48 * hour, '2d'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day + 3 * hour, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [800 * day, '2y70d'],
    [9 * 365 * day, '9y'],
  ]
  assert.deepEqual(
    ages.map(([age]) => formatAge(age)),
    ages.map(([, text]) => text),
  )
})

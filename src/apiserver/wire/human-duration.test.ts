import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageOf, humanDuration } from './human-duration.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

test('durations print as kubectl prints them', () => {
  const cases: [number, string][] = [
    [-3 * second, '<invalid>'],
    [-1 * second, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [10 * minute - second, '9m59s'],
    [10 * minute, '10m'],
    [hour, '60m'],
    [3 * hour - minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 30 * minute, '7h30m'],
    [8 * hour + 30 * minute, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day + hour, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [731 * day, '2y1d'],
    [3650 * day, '10y'],
  ]
  for (const [milliseconds, expected] of cases) assert.equal(humanDuration(milliseconds), expected)
})

test('the age of something without a time stamp is unknown', () => {
  assert.equal(ageOf(undefined, 0), '<unknown>')
  assert.equal(ageOf('1970-01-01T00:00:00Z', 5000), '5s')
})

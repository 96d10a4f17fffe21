import { type DerReader, tags } from './der.ts'

/** Reads the next element as UTCTime or GeneralizedTime in DER's form (seconds, Z); milliseconds since the epoch. */
export function readTime(reader: DerReader, structure: string): number {
  const at = reader.position
  const short = reader.peek() === tags.utcTime
  const content = reader.content(short ? tags.utcTime : tags.generalizedTime, structure)
  const yearDigits = short ? 2 : 4
  const pairs = decimalPairs(content, yearDigits)
  if (pairs === undefined) throw reader.fail(`${structure} is not YYMMDDHHMMSSZ in digits`, at)
  const [high = 0, low = 0, ...rest] = short ? [0, ...pairs] : pairs
  // RFC 5280 4.1.2.5.1: two digits from 50 on are of the 20th century.
  const year = short ? (low >= 50 ? 1900 : 2000) + low : high * 100 + low
  const time = utc(year, rest)
  if (time === undefined) throw reader.fail(`${structure} is no date`, at)
  return time
}

/** The numbers of `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`, two digits each, or undefined where it has another form. */
function decimalPairs(content: Uint8Array, yearDigits: number): number[] | undefined {
  const length = yearDigits + 10
  if (content.length !== length + 1 || content[length] !== 0x5a) return undefined
  const pairs: number[] = []
  for (let at = 0; at < length; at += 2) {
    const tens = (content[at] ?? 0) - 0x30
    const ones = (content[at + 1] ?? 0) - 0x30
    if (tens < 0 || tens > 9 || ones < 0 || ones > 9) return undefined
    pairs.push(tens * 10 + ones)
  }
  return pairs
}

/** RFC 5280 4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050 on. Milliseconds are cut off. */
export function encodeTime(milliseconds: number): Uint8Array {
  const date = new Date(milliseconds)
  const year = date.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) throw new RangeError(`${milliseconds} is no time of a certificate`)
  const short = year >= 1950 && year < 2050
  const pairs = [
    year % 100,
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ]
  if (!short) pairs.unshift(Math.floor(year / 100))
  const out = new Uint8Array(2 + 2 * pairs.length + 1)
  out[0] = short ? tags.utcTime : tags.generalizedTime
  out[1] = 2 * pairs.length + 1
  for (const [i, pair] of pairs.entries()) {
    out[2 + 2 * i] = 0x30 + Math.floor(pair / 10)
    out[3 + 2 * i] = 0x30 + (pair % 10)
  }
  out[out.length - 1] = 0x5a
  return out
}

function utc(year: number, [month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[]) {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const real =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60
  return real ? date.getTime() : undefined
}

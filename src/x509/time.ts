import { type DerReader, tags } from './der.ts'
import { encode } from './der-write.ts'

/** Reads the next element as UTCTime or GeneralizedTime in DER's form (seconds, Z); milliseconds since the epoch. */
export function readTime(reader: DerReader, structure: string): number {
  const at = reader.position
  const short = reader.peek() === tags.utcTime
  const text = String.fromCharCode(...reader.content(short ? tags.utcTime : tags.generalizedTime, structure))
  const pattern = short
    ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/
    : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] =
    pattern.exec(text)?.slice(1).map(Number) ?? []
  // RFC 5280 4.1.2.5.1: two digits from 50 on are of the 20th century.
  const century = short ? (year >= 50 ? 1900 : 2000) : 0
  const time = utc(century + year, month, day, hour, minute, second)
  if (time === undefined) throw reader.fail(`invalid ${structure} ${JSON.stringify(text)}`, at)
  return time
}

/** RFC 5280 4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050 on. Milliseconds are cut off. */
export function encodeTime(milliseconds: number): Uint8Array {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\..*$/g, '')
  const year = Number(digits.slice(0, 4))
  if (year >= 1950 && year < 2050) return encode(tags.utcTime, Buffer.from(`${digits.slice(2)}Z`))
  return encode(tags.generalizedTime, Buffer.from(`${digits}Z`))
}

function utc(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const real =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60
  return real ? date.getTime() : undefined
}

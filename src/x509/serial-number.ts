import type { Random } from '../ports.ts'

/** Decimal, as Go and `kubectl` print serial numbers. */
export function serialDecimal(serialNumber: Uint8Array): string {
  return serialNumber.length === 0 ? '0' : BigInt(`0x${Buffer.from(serialNumber).toString('hex')}`).toString()
}

/** A serial number of 127 random bits, never zero (C-36 has 128; a clear top bit keeps it at 16 octets). */
export function randomSerialNumber(random: Random): Uint8Array {
  const bytes = Uint8Array.from(random.bytes(16))
  bytes[0] = (bytes[0] ?? 0) & 0x7f
  if (bytes.every(byte => byte === 0)) bytes[15] = 1
  return bytes
}

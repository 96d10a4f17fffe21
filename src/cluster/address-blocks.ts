/** The fewest CIDRs that hold exactly these IPv4 addresses, in order. Throws RangeError for what is no IPv4 address. */
export function addressBlocks(addresses: readonly string[]): string[] {
  const blocks: string[] = []
  const numbers = [...new Set(addresses.map(numberOf))].sort((a, b) => a - b)
  for (let index = 0; index < numbers.length; ) {
    const first = numbers[index] ?? 0
    let size = 1
    // Twice as large while it is aligned and all of it is there.
    while (first % (size * 2) === 0 && numbers[index + size * 2 - 1] === first + size * 2 - 1) size *= 2
    blocks.push(`${textOf(first)}/${32 - Math.log2(size)}`)
    index += size
  }
  return blocks
}

function numberOf(address: string): number {
  const bytes = address.split('.').map(Number)
  if (bytes.length !== 4 || bytes.some(byte => !(byte >= 0 && byte <= 255)))
    throw new RangeError(`${address} is no IPv4 address`)
  return bytes.reduce((number, byte) => number * 256 + byte, 0)
}

const textOf = (number: number) => [24, 16, 8, 0].map(shift => (number >>> shift) & 255).join('.')

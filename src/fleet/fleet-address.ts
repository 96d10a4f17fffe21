/** Names and addresses of the fleet's nodes: worker-1 at 127.0.1.1, worker-255 at 127.0.2.1, and so on. */
export function fleetNode(index: number): { name: string; address: string } {
  if (!Number.isInteger(index) || index < 1 || index > 60_000) throw new RangeError(`no fleet node ${index}`)
  const zero = index - 1
  return { name: `worker-${index}`, address: `127.0.${1 + Math.floor(zero / 254)}.${1 + (zero % 254)}` }
}

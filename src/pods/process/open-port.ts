import { systemCode } from '../../errors.ts'
import type { Net } from '../../ports.ts'

/** A connection to a port of a pod without a network of its own: the node's. Rejects in the words of Go's dialer. */
export async function openNodePort(net: Pick<Net, 'open'> | undefined, port: number) {
  if (!net?.open) throw new Error('no connection can be kept open here')
  try {
    return await net.open('127.0.0.1', port)
  } catch (error) {
    const why = systemCode(error) === 'ECONNREFUSED' ? 'connection refused' : String(error)
    throw new Error(`dial tcp4 127.0.0.1:${port}: connect: ${why}`, { cause: error })
  }
}

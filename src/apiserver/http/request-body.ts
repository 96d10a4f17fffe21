import type { Readable } from 'node:stream'
import type { Share } from './body-budget.ts'

/** `too-long`: more than `limit` bytes. `no-room`: the server holds too much already. */
export type BodyRefusal = 'too-long' | 'no-room'

/**
 * The whole body, or why it is not read to its end: no more of it is then kept, and the stream goes on to be there for the
 * refusal. Rejects when the client leaves in the middle.
 */
export function readRequestBody(
  body: Readable,
  declared: string | undefined,
  limit: number,
  share: Share,
): Promise<Uint8Array | BodyRefusal> {
  if (Number(declared ?? 0) > limit) return Promise.resolve('too-long')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) refuse('too-long')
      else if (share.take(chunk.length)) chunks.push(chunk)
      else refuse('no-room')
    }
    const refuse = (refusal: BodyRefusal) => {
      body.off('data', take).pause()
      resolve(refusal)
    }
    // Settled before, where all came: then this is nothing new.
    const leave = () => reject(new Error('the client left in the middle of its body'))
    body.on('data', take)
    body.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    body.on('error', leave)
    body.on('close', leave)
  })
}

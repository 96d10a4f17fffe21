/**
 * How a connection is handed to another process of ours over a unix socket: one line of JSON that says whose it is, the
 * other side answers with a byte when it has read that, then the connection's own bytes follow both ways.
 */
import type { Socket } from 'node:net'

/** Bytes: a chain of several certificates fits in. */
const longestLine = 256 * 1024

/** Sends the line; resolves when the other side has read it. Rejects when the connection ends before. */
export function introduce(socket: Socket, facts: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      socket.off('error', gone).off('close', gone).off('data', read)
      socket.pause()
      settle()
    }
    const gone = () => done(() => reject(new Error('the connection was not taken over')))
    const read = () => done(resolve)
    socket.on('error', gone).on('close', gone).on('data', read).resume()
    socket.write(`${JSON.stringify(facts)}\n`)
  })
}

/** What the line says; the other side sends nothing more before the byte that answers it. Rejects when there is none. */
export function introduced(socket: Socket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let text = ''
    const done = (settle: () => void) => {
      socket.off('error', gone).off('close', gone).off('data', read)
      socket.pause()
      settle()
    }
    const gone = () => done(() => reject(new Error('nobody was introduced')))
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (text.length > longestLine) return gone()
      if (!text.endsWith('\n')) return
      done(() => {
        try {
          const facts: unknown = JSON.parse(text)
          socket.write('\n')
          resolve(facts)
        } catch (error) {
          reject(error)
        }
      })
    }
    socket.on('error', gone).on('close', gone).on('data', read).resume()
  })
}

/** Bytes go both ways until either side ends. */
export function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.once('close', () => to.destroy())
    from.pipe(to)
  }
}

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** A port of 127.0.0.1 that is free now, below those that the kernel gives to outgoing connections: it stays free. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const isFree = await new Promise<boolean>(resolve => {
      const server = createServer()
      server.on('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

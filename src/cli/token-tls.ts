import { rmSync } from 'node:fs'
import type { Command } from 'commander'
import { serveTokenTls } from '../cluster/token-tls.ts'
import { RollcallError } from '../errors.ts'
import type { CommandIo } from './command-io.ts'

/** The child of `agent` that makes TLS with a key in a token. Not for people: it ends when its stdin does. */
export function register(program: Command, io: CommandIo): void {
  program
    .command('token-tls', { hidden: true })
    .requiredOption('--directory <dir>', 'where its sockets are')
    .action(async ({ directory }: { directory: string }) => {
      const order = await firstLine()
      // The parent is gone, however it ended.
      process.stdin.once('end', () => process.exit(0)).resume()
      process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group; the parent decides.
      const tell = (message: object) => io.stdout(`${JSON.stringify(message)}\n`)
      try {
        const { socketPath, stop } = await serveTokenTls(JSON.parse(order), directory, problem =>
          tell({ problem }),
        )
        process.once('exit', () => {
          stop()
          // The parent may have been killed, and cannot do it then.
          rmSync(directory, { recursive: true, force: true })
        })
        tell({ socketPath })
      } catch (error) {
        if (!(error instanceof RollcallError)) throw error
        tell({ code: error.code, error: error.message })
        process.exit(1)
      }
    })
}

function firstLine(): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    process.stdin.setEncoding('utf8').on('data', function take(chunk: string) {
      text += chunk
      if (!text.includes('\n')) return
      process.stdin.off('data', take)
      resolve(text)
    })
  })
}

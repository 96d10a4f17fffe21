// Clients as programs on Node are: connections are kept. Told on standard input whom to be, one JSON line each.
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { TokenClient } from '../token-clients.ts'

const pause = 300
const stopped = new Set<string>()

createInterface({ input: process.stdin })
  .on('line', line => {
    const told = JSON.parse(line) as TokenClient | { stop: string }
    if ('stop' in told) stopped.add(told.stop)
    else void run(told)
  })
  .on('close', () => process.exit(0))

async function run({ name, server, address, tokenFile, caFile, follows }: TokenClient): Promise<void> {
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8')}`, 'user-agent': 'node' }
  let ca = readFileSync(caFile, 'utf8')
  let agent = agentWith(ca)
  while (!stopped.has(name)) {
    const now = follows ? readFileSync(caFile, 'utf8') : ca
    if (now !== ca) {
      agent.destroy()
      agent = agentWith(now)
      ca = now
    }
    const why = await ask()
    process.stdout.write(why === undefined ? `${name} ok\n` : `${name} failed ${why}\n`)
    await wait(pause)
  }
  agent.destroy()

  function agentWith(authorities: string): Agent {
    return new Agent({ keepAlive: true, maxSockets: 1, ca: authorities, localAddress: address })
  }

  function ask(): Promise<string | undefined> {
    return new Promise(resolve => {
      const request = get(`${server}/version`, { agent, headers, timeout: 10_000 }, response => {
        response.resume()
        response.on('end', () => resolve(response.statusCode === 200 ? undefined : `${response.statusCode}`))
        response.on('error', error => resolve(error.message))
      })
      request.on('error', error => resolve(error.message))
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
    })
  }
}

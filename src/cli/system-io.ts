import { systemCode } from '../errors.ts'
import { systemClock } from '../host/clock.ts'
import { systemDisk } from '../host/disk.ts'
import { wantsColours } from './colours.ts'
import type { CommandIo } from './command-io.ts'

// Whoever reads our output may have enough of it (`up | head -1`): the rest is dropped, and the work goes on.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if (systemCode(error) !== 'EPIPE') throw error
  })
}

/** The CommandIo of this process. */
export const systemIo: CommandIo = {
  stdout: text => void process.stdout.write(text),
  stderr: text => void process.stderr.write(text),
  clock: systemClock,
  isTerminal: process.stdout.isTTY === true,
  colours: wantsColours(process.stdout.isTTY === true, process.env),
  async connect(flags, lasting) {
    // Not every command asks the API, and the plugin of a kubelet is to be quick.
    const [{ kubeconfigConnection }, connect, { createClient }] = await Promise.all([
      import('./connect-kubeconfig.ts'),
      // Loading undici takes longer than most commands do; a program that stays has more from it.
      lasting
        ? import('../kube/undici-transport.ts').then(({ connectUndici }) => connectUndici)
        : import('../kube/https-transport.ts').then(({ connectHttps }) => connectHttps),
      import('../kube/client.ts'),
    ])
    const ports = { environment: process.env, disk: systemDisk, clock: systemClock }
    const config = await kubeconfigConnection(flags, ports)
    const transport = connect(config)
    return {
      client: createClient(transport),
      transport,
      server: config.server,
      ...(config.clientCertificate && { certificate: config.clientCertificate.certificate }),
      close: () => transport.closeConnections(),
    }
  },
  exitWith(code) {
    process.exitCode = code
  },
}

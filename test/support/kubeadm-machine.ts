/**
 * kubeadm's folder on the real disk, with a kube-apiserver as far as its certificates go: real TLS by the files that its
 * manifest names, which it reads again by itself; another manifest is another process.
 */

import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { ComponentProcesses, RunningComponent } from '../../src/agent/control-plane/processes.ts'
import { readManifest } from '../../src/agent/control-plane/static-pod-manifest.ts'
import type { TestCa } from '../../src/agent/control-plane/testing/control-plane-node.ts'
import { kubeadmFiles } from '../../src/agent/control-plane/testing/kubeadm-files.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { freePort } from './free-port.ts'

const { clock, random } = hostPorts

export interface KubeadmMachine {
  /** In the place of /etc/kubernetes. */
  root: string
  port: number
  processes: ComponentProcesses
  text(path: string): string
  stop(): Promise<void>
}

export async function kubeadmMachine(root: string, ca: TestCa): Promise<KubeadmMachine> {
  const port = await freePort()
  const files = await kubeadmFiles({ name: 'cp-1', address: '127.0.0.1', ca, now: clock.now(), random })
  for (const folder of ['pki', 'manifests']) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    const here = text
      .replaceAll('/etc/kubernetes', root)
      .replace('--secure-port=6443', `--secure-port=${port}`)
    writeFileSync(join(root, path), here, { mode: path.endsWith('.crt') ? 0o644 : 0o600 })
  }
  const text = (path: string) => readFileSync(path, 'utf8')
  const running = new Map<string, RunningComponent & { manifest: string }>()
  let started = 0
  let server: Server | undefined

  const processes: ComponentProcesses = {
    async running(component) {
      const path = join(root, 'manifests', `${component}.yaml`)
      const manifest = text(path)
      const known = running.get(component)
      if (known?.manifest === manifest) return known
      const { command, flag, values } = readManifest(manifest, path)
      if (component === 'kube-apiserver') {
        await closed(server)
        server = await listening(port, { flag, values, text })
      }
      started += 1
      const process = { instance: `${started}/1`, command, manifest }
      running.set(component, process)
      return process
    },
  }
  return { root, port, processes, text, stop: () => closed(server) }
}

type Flags = Pick<ReturnType<typeof readManifest>, 'flag' | 'values'> & { text(path: string): string }

/** Files are read for each connection: a real one does within a minute. */
async function listening(port: number, { flag, values, text }: Flags): Promise<Server> {
  const contextOf = (certificate: string, key: string) =>
    createSecureContext({ cert: text(certificate), key: text(key), ca: text(flag('client-ca-file') ?? '') })
  const usual = () => ({
    cert: text(flag('tls-cert-file') ?? ''),
    key: text(flag('tls-private-key-file') ?? ''),
    ca: text(flag('client-ca-file') ?? ''),
  })
  const server = createServer(
    {
      ...usual(),
      requestCert: true,
      rejectUnauthorized: false,
      SNICallback(name, done) {
        const pairs = values('tls-sni-cert-key').map(pair => pair.split(','))
        const [certificate = '', key = ''] = pairs.find(
          ([file = '']) => new X509Certificate(text(file)).checkHost(name) !== undefined,
        ) ?? [flag('tls-cert-file'), flag('tls-private-key-file')]
        done(null, contextOf(certificate, key))
      },
    },
    (request, response) => {
      const socket = request.socket as import('node:tls').TLSSocket
      const isUnknown = socket.getPeerX509Certificate() !== undefined && !socket.authorized
      response.writeHead(isUnknown ? 401 : 200).end('{}')
    },
  )
  server.on('connection', () => server.setSecureContext(usual()))
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return server
}

async function closed(server: Server | undefined): Promise<void> {
  if (!server) return
  const ended = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeAllConnections()
  await ended
}

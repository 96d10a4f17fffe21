import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'

/** Makes HTTP/2 connections as the admin of the server that keeps its state in `folder`. */
export async function adminSessions(folder: string): Promise<() => ClientHttp2Session> {
  const path = join(folder, 'admin.kubeconfig')
  const context = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
  const { server, certificateAuthority, clientCertificate } = await connectionConfig(context, path, {
    clock: systemClock,
    disk: systemDisk,
  })
  const pair = clientCertificate && {
    cert: clientCertificate.certificate,
    key: clientCertificate.key.reveal(),
  }
  return () => connect(server, { ca: certificateAuthority ?? '', ...pair })
}

/** Bytes of the whole answer. */
export function get(session: ClientHttp2Session, path: string, accept = 'application/json'): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, accept })
    let bytes = 0
    stream.on('response', ({ ':status': status }) => {
      if (status !== 200) reject(new Error(`GET ${path}: ${status}`))
    })
    stream.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length
    })
    stream.on('error', reject)
    stream.on('end', () => resolve(bytes))
  })
}

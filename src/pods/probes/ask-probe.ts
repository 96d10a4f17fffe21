import type { Net } from '../../ports.ts'
import { portNumber } from '../manifest/validate-pod.ts'
import type { Container, Probe } from '../pod.ts'
import { probeTimes } from './probe-history.ts'

export interface ProbeTarget {
  container: Container
  /** Where a probe without `host` goes: the pod's address, on the host network the node's. */
  address: string
  net: Net
  /** Runs a command in the container. */
  exec(command: readonly string[], signal: AbortSignal, seconds: number): Promise<number>
}

/** Bytes of an answer that are read, as the kubelet. */
const mostBody = 10 * 1024

/** One question to a container. Resolves with whether it is well; what cannot be asked counts as not well. */
export async function askProbe(probe: Probe, target: ProbeTarget, signal: AbortSignal): Promise<boolean> {
  const { container, address, net } = target
  try {
    if (probe.exec)
      return (await target.exec(probe.exec.command, signal, probeTimes(probe).timeout / 1000)) === 0
    if (probe.tcpSocket) {
      await net.connect(
        probe.tcpSocket.host || address,
        portNumber(probe.tcpSocket.port, container) ?? 0,
        signal,
      )
      return true
    }
    const { status } = await net.http({ ...httpRequestOf(probe, target), signal, mostBody })
    return status >= 200 && status < 400
  } catch {
    // Refused, reset, timed out: all of them are the answer "no"; the verdict is logged, not each of them.
    return false
  }
}

function httpRequestOf(probe: Probe, { container, address }: ProbeTarget) {
  const { path = '/', port, host, scheme = 'HTTP', httpHeaders = [] } = probe.httpGet ?? { port: 0 }
  const authority = bracketed(host || address)
  const url = `${scheme.toLowerCase()}://${authority}:${portNumber(port, container) ?? 0}`
  const own = Object.fromEntries(httpHeaders.map(({ name, value }) => [name.toLowerCase(), value]))
  return {
    method: 'GET',
    url: url + (path.startsWith('/') ? path : `/${path}`),
    headers: { 'user-agent': 'kube-probe/rollcall', accept: '*/*', ...own },
  }
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

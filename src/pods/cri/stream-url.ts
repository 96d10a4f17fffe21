import { RollcallError } from '../../errors.ts'
import { revisionOf } from '../pod.ts'
import type { RuntimeStream } from '../runtime.ts'
import type { Cri } from './cri.ts'
import { containerId, type RuntimeContents, usableSandbox } from './read-runtime.ts'

/** Where the runtime serves a stream, once. */
export function streamUrl(cri: Cri, contents: RuntimeContents, stream: RuntimeStream): Promise<string> {
  if (stream.kind === 'portForward') {
    const { pod, ports } = stream
    const sandbox = usableSandbox(contents, pod.metadata.uid, revisionOf(pod))
    if (sandbox) return cri.portForward(sandbox.id, ports)
    throw new RollcallError('POD_UNKNOWN', `The pod ${pod.metadata.name} does not run.`)
  }
  const id = containerId(stream.record)
  const { tty, stdin } = stream.order
  // On a terminal stderr comes with stdout.
  const streams = { tty, stdin, stdout: true, stderr: !tty }
  if (stream.kind === 'attach') return cri.attach({ containerId: id, ...streams })
  return cri.exec({ containerId: id, cmd: stream.order.command, ...streams })
}

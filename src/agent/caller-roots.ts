import type { Clock, Disk, Log } from '../ports.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'

/** Milliseconds for which a CA file that was read is used; servers of Kubernetes look again as often. */
const fresh = 60_000

/**
 * The CAs that callers of the node are verified with: those of the file, read again every minute, or of `fallback`
 * where no file is configured. A file that becomes unreadable or broken keeps its last good contents in force.
 */
export function callerRoots(options: {
  disk: Pick<Disk, 'read'>
  clock: Clock
  log: Log
  path: string | undefined
  fallback(): string
}): () => Promise<readonly Certificate[]> {
  const { disk, clock, log, path, fallback } = options
  let pem = ''
  let certificates: readonly Certificate[] = []
  let readAt = Number.NEGATIVE_INFINITY

  const use = (text: string) => {
    if (text === pem) return
    certificates = parseCertificatesPem(text)
    pem = text
  }
  return async () => {
    if (path === undefined) use(fallback())
    else if (clock.monotonic() - readAt >= fresh) {
      try {
        use(new TextDecoder().decode(await disk.read(path)))
      } catch (error) {
        log.warn('the CA file for callers of the node cannot be used', { path, error: String(error) })
      }
      readAt = clock.monotonic()
    }
    return certificates
  }
}

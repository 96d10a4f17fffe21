/** Resolves on Ctrl-C or SIGTERM; a second one ends the process at once. */
export function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    const stop = () => {
      process.once('SIGINT', () => process.exit(130))
      process.once('SIGTERM', () => process.exit(143))
      resolve()
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
  })
}

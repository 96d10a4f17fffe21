import { RollcallError } from '../errors.ts'

/** How soon a start is tried again, milliseconds: the first time, then doubling up to the longest (the kubelet's). */
export const retries = {
  /** Creating a container. */
  container: { first: 500, most: 120_000 },
  /** Fetching an image. */
  image: { first: 10_000, most: 300_000 },
  /** The runtime itself: seen to be there again within seconds. */
  runtime: { first: 500, most: 2000 },
  /** The network of pods: made by a program that somebody installs, perhaps as a pod on the node's own. */
  network: { first: 1000, most: 1000 },
} as const

export type Retry = keyof typeof retries

/** Why a container does not start: `reason` as Kubernetes shows it. */
export function notStarted(reason: string, message: string, retry: Retry = 'container'): RollcallError {
  return new RollcallError('POD_CONTAINER_NOT_STARTED', message, { reason, retry })
}

/** What a failed start means for the pod's status and for the next try. */
export function whyNotStarted(error: unknown): { reason: string; message: string; retry: Retry } {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof RollcallError))
    return { reason: 'CreateContainerError', message, retry: 'container' }
  if (error.code === 'POD_RUNTIME_UNAVAILABLE')
    return { reason: 'RuntimeUnavailable', message, retry: 'runtime' }
  const { reason, retry } = error.details
  return {
    reason: typeof reason === 'string' ? reason : 'CreateContainerError',
    message,
    retry: retry === 'image' || retry === 'network' ? retry : 'container',
  }
}

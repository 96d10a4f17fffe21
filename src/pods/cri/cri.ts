/** The Container Runtime Interface (runtime.v1) as far as static pods need it: messages, and calls with a time limit each. */
import { RollcallError } from '../../errors.ts'
import type { Rpc, RpcFailure } from '../../ports.ts'
import { decode, encode } from './codec.ts'
import type {
  ContainerConfig,
  ContainerStatus,
  CriContainer,
  Image,
  PodSandbox,
  PodSandboxConfig,
  RuntimeCondition,
  RuntimeVersion,
  StreamRequest,
} from './cri-types.ts'

/** gRPC status codes that mean something here. */
const unavailable = 14
const unimplemented = 12
const notFound = 5

/** Milliseconds that a call may take: looks are quick, a sandbox may wait for its network (the kubelet's limits). */
const lookLimit = 10_000
const changeLimit = 120_000
const sandboxLimit = 240_000
/** An image may be large and its registry slow. */
const pullLimit = 900_000

export type Cri = ReturnType<typeof createCri>

/**
 * The calls. All reject with RollcallError CRI_FAILED; `details.status` is the gRPC status. `endpoint` is for messages.
 */
export function createCri(rpc: Rpc, endpoint: string) {
  const call = async <T>(
    method: string,
    request: [message: string, value: object],
    response: string,
    milliseconds: number,
    signal?: AbortSignal,
  ): Promise<T> => {
    const service = imageMethods.has(method) ? 'ImageService' : 'RuntimeService'
    try {
      const bytes = encode(...request)
      const answer = await rpc.call(`/runtime.v1.${service}/${method}`, bytes, {
        milliseconds,
        ...(signal && { signal }),
      })
      return decode<T>(response, answer)
    } catch (error) {
      throw criFailure(method, endpoint, error)
    }
  }
  const sandbox = (id: string): [string, object] => ['PodSandboxRequest', { podSandboxId: id }]
  const container = (id: string): [string, object] => ['ContainerRequest', { containerId: id }]
  const nothing = (method: string, request: [string, object], limit = changeLimit, signal?: AbortSignal) =>
    call<object>(method, request, 'Empty', limit, signal).then(() => {})
  const url = (method: string, request: [string, object]) =>
    call<{ url: string }>(method, request, 'UrlResponse', lookLimit).then(({ url }) => url)
  return {
    version: () => call<RuntimeVersion>('Version', ['VersionRequest', {}], 'VersionResponse', lookLimit),
    status: (verbose: boolean) =>
      call<{ status?: { conditions: RuntimeCondition[] }; info: Record<string, string> }>(
        'Status',
        ['StatusRequest', { verbose }],
        'StatusResponse',
        lookLimit,
      ).then(({ status, info }) => ({
        conditions: (status?.conditions ?? []).map(({ type, status, reason, message }) => ({
          type,
          status,
          message: message || reason,
        })),
        info,
      })),
    /** Not known to containerd 1.6. */
    runtimeConfig: () =>
      call<{ linux?: { cgroupDriver: number } }>(
        'RuntimeConfig',
        ['RuntimeConfigRequest', {}],
        'RuntimeConfigResponse',
        lookLimit,
      ),
    runPodSandbox: (config: PodSandboxConfig) =>
      call<{ podSandboxId: string }>(
        'RunPodSandbox',
        ['RunPodSandboxRequest', { config }],
        'RunPodSandboxResponse',
        sandboxLimit,
      ).then(({ podSandboxId }) => podSandboxId),
    stopPodSandbox: (id: string) => nothing('StopPodSandbox', sandbox(id)),
    removePodSandbox: (id: string) => nothing('RemovePodSandbox', sandbox(id)),
    listPodSandbox: () =>
      call<{ items: PodSandbox[] }>(
        'ListPodSandbox',
        ['ListPodSandboxRequest', {}],
        'ListPodSandboxResponse',
        lookLimit,
      ).then(({ items }) => items),
    podSandboxStatus: (id: string) =>
      call<{ status?: { network?: { ip: string; additionalIps: { ip: string }[] } } }>(
        'PodSandboxStatus',
        sandbox(id),
        'PodSandboxStatusResponse',
        lookLimit,
      ).then(({ status }) => status),
    createContainer: (podSandboxId: string, config: ContainerConfig, sandboxConfig: PodSandboxConfig) =>
      call<{ containerId: string }>(
        'CreateContainer',
        ['CreateContainerRequest', { podSandboxId, config, sandboxConfig }],
        'CreateContainerResponse',
        changeLimit,
      ).then(({ containerId }) => containerId),
    startContainer: (id: string) => nothing('StartContainer', container(id)),
    /** `grace` in seconds between TERM and KILL. */
    stopContainer: (containerId: string, grace: number, signal: AbortSignal) =>
      nothing(
        'StopContainer',
        ['StopContainerRequest', { containerId, timeout: Math.ceil(grace) }],
        changeLimit + grace * 1000,
        signal,
      ),
    removeContainer: (id: string) => nothing('RemoveContainer', container(id)),
    listContainers: (labelSelector: Record<string, string>) =>
      call<{ containers: CriContainer[] }>(
        'ListContainers',
        ['ListContainersRequest', { filter: { labelSelector } }],
        'ListContainersResponse',
        lookLimit,
      ).then(({ containers }) => containers),
    containerStatus: (id: string) =>
      call<{ status?: ContainerStatus }>(
        'ContainerStatus',
        container(id),
        'ContainerStatusResponse',
        lookLimit,
      ).then(({ status }) => status),
    /**
     * Calls `onEvent` whenever a container was created, started, stopped or deleted, until the runtime ends it or `signal`
     * aborts. What happened a look tells, so it is not read here. Not known to containerd before 1.7.
     */
    async containerEvents(onEvent: () => void, signal: AbortSignal): Promise<void> {
      const method = 'GetContainerEvents'
      try {
        for await (const _ of rpc.stream(`/runtime.v1.RuntimeService/${method}`, new Uint8Array(), signal))
          onEvent()
      } catch (error) {
        if (!signal.aborted) throw criFailure(method, endpoint, error)
      }
    },
    reopenContainerLog: (id: string) => nothing('ReopenContainerLog', container(id), lookLimit),
    /** `seconds`: after that the runtime ends it. */
    execSync: (containerId: string, cmd: readonly string[], seconds: number, signal: AbortSignal) =>
      call<{ stdout: Uint8Array; stderr: Uint8Array; exitCode: number }>(
        'ExecSync',
        ['ExecSyncRequest', { containerId, cmd, timeout: Math.ceil(seconds) }],
        'ExecSyncResponse',
        lookLimit + seconds * 1000,
        signal,
      ),
    /** Each resolves with the URL at which the runtime serves the stream, once. */
    exec: (request: StreamRequest & { containerId: string; cmd: readonly string[] }) =>
      url('Exec', ['ExecRequest', request]),
    attach: (request: StreamRequest & { containerId: string }) => url('Attach', ['AttachRequest', request]),
    portForward: (podSandboxId: string, port: readonly number[]) =>
      url('PortForward', ['PortForwardRequest', { podSandboxId, port }]),
    /** undefined: it is not here. */
    imageStatus: (image: string) =>
      call<{ image?: Image }>(
        'ImageStatus',
        ['ImageStatusRequest', { image: { image } }],
        'ImageStatusResponse',
        lookLimit,
      ).then(({ image }) => image),
    pullImage: (image: string, sandboxConfig: PodSandboxConfig, signal: AbortSignal) =>
      nothing('PullImage', ['PullImageRequest', { image: { image }, sandboxConfig }], pullLimit, signal),
    listImages: () =>
      call<{ images: Image[] }>(
        'ListImages',
        ['ListImagesRequest', {}],
        'ListImagesResponse',
        lookLimit,
      ).then(({ images }) => images),
    close: () => rpc.close(),
  }
}

const imageMethods = new Set(['ImageStatus', 'PullImage', 'ListImages'])

function criFailure(method: string, endpoint: string, error: unknown): Error {
  if (!(error instanceof Error) || error instanceof RollcallError) return error as Error
  const { code, details } = error as Partial<RpcFailure> & Error
  const status = typeof code === 'number' ? code : undefined
  return new RollcallError(
    'CRI_FAILED',
    `${method} at ${endpoint}: ${details || error.message}`,
    { status, method },
    { cause: error },
  )
}

function statusOf(error: unknown): unknown {
  return error instanceof RollcallError && error.code === 'CRI_FAILED' ? error.details.status : undefined
}

/** The runtime does not answer: there is no socket, or nobody behind it. */
export function isUnavailable(error: unknown): boolean {
  return statusOf(error) === unavailable
}

/** The runtime knows no such call. */
export function isUnimplemented(error: unknown): boolean {
  return statusOf(error) === unimplemented
}

/** The container or sandbox is gone. */
export function isNotFound(error: unknown): boolean {
  return statusOf(error) === notFound
}

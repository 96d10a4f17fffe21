import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { StaticPodOptions } from '../agent/start-static-pods.ts'
import { RollcallError } from '../errors.ts'
import { wholeNumber } from './number-option.ts'
import { defaultPodState } from './pod-state.ts'

export interface StaticPodFlags {
  staticPods?: string
  staticPodsUrl: string[]
  staticPodsState: string
  runtime?: 'process' | 'cri'
  containerRuntimeEndpoint?: string
  imageArchives: string
  staticPodsAsRoot: boolean
  maxContainerRestartPeriod: number
  stopPodsOnExit: boolean
}

export function staticPodFlags(command: Command): Command {
  return command
    .option('--static-pods <dir>', 'run the pods of the manifests in this folder, before anything else')
    .option(
      '--static-pods-url <url>',
      'fetch manifests from there too, every 20 s; https, or http of this machine; may be repeated',
      (text: string, before: string[]) => [...before, parseManifestUrl(text)],
      [],
    )
    .option('--static-pods-state <dir>', 'where their state and logs are kept', defaultPodState)
    .addOption(
      new Option(
        '--runtime <runtime>',
        'what runs them: containers of a container runtime, or plain processes',
      ).choices(['cri', 'process']),
    )
    .option(
      '--container-runtime-endpoint <endpoint>',
      'with --runtime cri: socket of the container runtime (default: unix:///run/containerd/containerd.sock)',
      parseEndpoint,
    )
    .option(
      '--image-archives <dir>',
      'with --runtime cri: archives of images (*.tar), imported when one is missing',
      '/var/lib/rollcall/images',
    )
    .option('--static-pods-as-root', 'with --runtime process: containers may run as root', false)
    .option(
      '--max-container-restart-period <seconds>',
      'longest wait before a container that keeps ending is started again',
      wholeNumber(1, 300),
      300,
    )
    .option('--stop-pods-on-exit', 'end the static pods with the agent; else they outlive it', false)
}

/** undefined: none are to be run. Throws USAGE. */
export function staticPodOptions(flags: StaticPodFlags): StaticPodOptions | undefined {
  const { staticPods: directory, staticPodsState: stateDirectory, runtime, containerRuntimeEndpoint } = flags
  if (directory === undefined) {
    if (flags.staticPodsUrl.length === 0) return undefined
    throw new RollcallError('USAGE', '--static-pods-url: add --static-pods and a folder, which may be empty.')
  }
  // Never taken silently: without a container runtime the isolation of images is lost.
  if (runtime === undefined)
    throw new RollcallError(
      'USAGE',
      '--static-pods: say how they are to be run: --runtime cri in containers, --runtime process as plain processes.',
    )
  return {
    directory: resolve(directory),
    urls: flags.staticPodsUrl,
    stateDirectory: resolve(stateDirectory),
    runtime,
    ...(containerRuntimeEndpoint !== undefined && { containerRuntimeEndpoint }),
    imageArchives: resolve(flags.imageArchives),
    allowRoot: flags.staticPodsAsRoot,
    longestRestartDelay: flags.maxContainerRestartPeriod * 1000,
    stopOnExit: flags.stopPodsOnExit,
  }
}

/** `unix:///path`, or the path alone as kubelets still take it. */
function parseEndpoint(text: string): string {
  const path = text.replace(/^unix:\/\//, '')
  if (!path.startsWith('/')) throw new InvalidArgumentError('Give unix:///path/of/socket.')
  return `unix://${path}`
}

/** Who answers for another decides what runs here. */
function parseManifestUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOwn = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  if (
    url &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isOwn)) &&
    !url.username &&
    !url.password
  )
    return url.href
  throw new InvalidArgumentError('Give https://HOST/PATH, or http:// of this machine, without a password.')
}

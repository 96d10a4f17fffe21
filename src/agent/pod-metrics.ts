import { Gauge, type Registry } from 'prom-client'
import { annotations } from '../pods/pod.ts'
import type { StaticPods } from '../pods/static-pods.ts'
import { type PodPhase, podStatus } from '../pods/status/pod-status.ts'
import type { PodView } from '../pods/status/pod-view.ts'

/** What the metrics look at. */
export type WatchedPods = Pick<StaticPods, 'views' | 'findings' | 'lastLook'>

const phases: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed']

/** Static pods of this node, as they are when somebody asks. */
export function registerPodMetrics(registry: Registry, pods: WatchedPods): void {
  const gauge = (name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => void) =>
    new Gauge({
      name: `rollcall_static_pod${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        collect(this)
      },
    })
  const each = (set: (view: PodView, pod: string) => void) => {
    for (const view of pods.views()) set(view, `${view.pod.metadata.namespace}/${view.pod.metadata.name}`)
  }
  gauge('s', 'Static pods of this node, by phase.', ['phase'], gauge => {
    const views = pods.views().map(view => podStatus(view, undefined).phase)
    for (const phase of phases) gauge.set({ phase }, views.filter(of => of === phase).length)
  })
  gauge('_restarts', 'Restarts of the containers of a static pod.', ['pod'], gauge =>
    each((view, pod) => {
      const { containerStatuses } = podStatus(view, undefined)
      gauge.set(
        { pod },
        containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
      )
    }),
  )
  gauge('_ready', 'Whether all containers of a static pod run and are ready.', ['pod'], gauge =>
    each((view, pod) => {
      const { conditions } = podStatus(view, undefined)
      const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
      gauge.set({ pod }, isReady ? 1 : 0)
    }),
  )
  gauge(
    '_start_seconds',
    'Seconds from the first look at the manifest of a static pod to the start of its first container.',
    ['pod'],
    gauge =>
      each((view, pod) => {
        const seconds = startSeconds(view)
        if (seconds !== undefined) gauge.set({ pod }, seconds)
      }),
  )
  gauge('_manifest_errors', 'Things that keep manifests of static pods from being used.', [], gauge =>
    gauge.set(pods.findings().filter(({ severity }) => severity === 'error').length),
  )
  gauge(
    's_last_look_timestamp_seconds',
    'When the folder of manifests could be read last; 0: never.',
    [],
    gauge => {
      if (pods.lastLook !== undefined) gauge.set(pods.lastLook / 1000)
    },
  )
}

/** undefined: none has started, or it was started before its manifest was seen by this agent. */
function startSeconds({ pod, records }: PodView): number | undefined {
  const seen = Date.parse(pod.metadata.annotations[annotations.seen] ?? '')
  const first = records.filter(({ attempt }) => attempt === 0).map(({ startedAt }) => startedAt)
  const seconds = (Math.min(...first) - seen) / 1000
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

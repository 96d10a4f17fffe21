import type { Probe, ProbeKind } from '../pod.ts'

/** What a probe has come to, and how often in a row the last answer was given. */
export interface ProbeHistory {
  /** The verdict in force; undefined: none yet (a startup probe that has not decided). */
  verdict: boolean | undefined
  last: boolean | undefined
  inRow: number
}

/** Before the first answer: alive, not ready, not known whether started (the kubelet's initial results). */
export function initialHistory(kind: ProbeKind): ProbeHistory {
  const verdict = { startupProbe: undefined, livenessProbe: true, readinessProbe: false }[kind]
  return { verdict, last: undefined, inRow: 0 }
}

/** The history after one more answer: the verdict changes after enough equal answers in a row. */
export function afterAnswer(history: ProbeHistory, answer: boolean, probe: Probe): ProbeHistory {
  const inRow = history.last === answer ? history.inRow + 1 : 1
  const needed = answer ? probe.successThreshold || 1 : probe.failureThreshold || 3
  return { verdict: inRow >= needed ? answer : history.verdict, last: answer, inRow }
}

/** Milliseconds, with Kubernetes' defaults; 0 counts as absent, as there. */
export function probeTimes({ initialDelaySeconds = 0, periodSeconds, timeoutSeconds }: Probe) {
  return {
    initialDelay: initialDelaySeconds * 1000,
    period: (periodSeconds || 10) * 1000,
    timeout: (timeoutSeconds || 1) * 1000,
  }
}

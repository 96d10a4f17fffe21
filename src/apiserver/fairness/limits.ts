/** Kinds of clients, each with limits of its own. */
export type Level = 'control-plane' | 'node' | 'bootstrap' | 'other'

/** For one client (a user, a node, a bootstrap token) of a level. */
export interface FlowLimits {
  /** Requests that are carried out at a time; watches do not count. */
  running: number
  /** Requests that wait for one of these to end; what comes on top is refused with 429. */
  waiting: number
  /** Open watches. */
  watches: number
  /** Requests in the long run, and how many of them may come at once. Absent: as fast as they are answered. */
  rate?: { perSecond: number; burst: number }
}

export interface FairnessLimits {
  levels: Readonly<Record<Level, FlowLimits>>
  /** Requests carried out at a time over all clients; the control plane's own come on top, so that it is never shut out. */
  running: number
  /** Longest wait for a turn, in seconds. */
  waitSeconds: number
  /** What a refused client is told to wait, in seconds. */
  retryAfterSeconds: number
}

/**
 * 400 at a time is kube-apiserver's --max-requests-inflight. A kubelet makes at most 50 requests a second by itself
 * (kubeAPIQPS, burst 100), so a node that makes four times as many is out of order, and 100 at once are not. One bootstrap token is shared by all
 * nodes that join, hence its room; a kubelet has a watch for each Secret and ConfigMap of its pods.
 */
export const defaultFairness: FairnessLimits = {
  levels: {
    'control-plane': { running: 400, waiting: 2000, watches: 20_000 },
    node: { running: 20, waiting: 200, watches: 500, rate: { perSecond: 200, burst: 400 } },
    bootstrap: { running: 200, waiting: 2000, watches: 20_000 },
    other: { running: 50, waiting: 400, watches: 1000 },
  },
  running: 400,
  waitSeconds: 15,
  retryAfterSeconds: 1,
}

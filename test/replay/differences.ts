/** In what the answers may differ from the recorded ones, and why. Reviewed one by one; one that is not seen any more fails. */

export interface Allowed {
  /** Numbers of exchanges; absent: any. */
  n?: readonly number[]
  /** Of the place in the answer. */
  path: RegExp
  /** Of what is recorded, as JSON; absent: anything. */
  recorded?: RegExp
  because: string
}

export const allowed: readonly Allowed[] = [
  {
    path: /^type$/,
    recorded: /^"application\/vnd\.kubernetes\.protobuf/,
    because: 'answers are JSON, which clients that send protobuf accept too (W-2)',
  },
  {
    path: /spec\.extra$/,
    because: 'the recording proxy says who asks in headers; a client certificate adds its credential-id',
  },
  {
    path: /spec\.taints$/,
    because: 'nothing here takes node.kubernetes.io/not-ready away again: nobody schedules',
  },
  { path: /lastProbeTime$/, recorded: /^null$/, because: 'a field that is null is left out' },
  {
    path: /columnDefinitions\[\d+\]\.description$/,
    because: 'shorter descriptions of columns, which no client prints',
  },
  {
    n: [56],
    path: /^answer\.\/v1\/pods\.subresources\.(binding|ephemeralcontainers|eviction|resize)$/,
    because: 'nothing schedules, evicts or resizes pods',
  },
  {
    n: [57],
    path: /^answer\.(apiextensions|admissionregistration)\.k8s\.io\//,
    because: 'definitions and admission policies are those of Rollcall: read, or taken unchanged',
  },
  {
    n: [73],
    path: /./,
    because:
      'both fail: there no name of the node is found, here no way to a kubelet is given to the API of unit tests',
  },
  {
    n: [76],
    path: /^answer\.status\.nonResourceRules/,
    because: 'the recorded build lets everybody read /.well-known; upstream lets service accounts',
  },
  { n: [79, 108], path: /^type$/, because: 'the root of OpenAPI v3 is JSON, which upstream forgets to say' },
  {
    n: [80, 84],
    path: /^cacheControl$/,
    because: 'without a hash, which the recording cannot know, nothing may be kept',
  },
  {
    n: [82],
    path: /^answer\.(git|go|compiler|platform)/,
    because: 'another program, of which this is the version',
  },
  { n: [98, 99, 101], path: /./, because: 'server-side apply is 415 with a sentence (A-3b)' },
  {
    n: [100],
    path: /./,
    because: 'kubectl moves managedFields of server-side apply, of which there are none',
  },
  {
    n: [102, 103],
    path: /last-applied-configuration$/,
    because: 'what server-side apply wrote into it before is not there',
  },
]

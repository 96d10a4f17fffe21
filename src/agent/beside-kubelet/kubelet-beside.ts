import type { AgentPorts } from '../agent-options.ts'
import type { AgentTrust, KubeletBeside } from '../agent-trust.ts'
import type { BesideKubeletOptions } from './beside-kubelet.ts'
import { KubeletTrust } from './kubelet-trust.ts'
import { KubeletUnit } from './kubelet-unit.ts'

/** What a kubelet beside trusts, and how it is made to trust something else. */
export interface KubeletOfTrust {
  beside: KubeletBeside
  /** Its files hold these CAs of the API from now on. */
  wrote(trust: AgentTrust, pem: string): void
  look(): void
  stop(): Promise<void>
}

/**
 * With `exec` the kubelet verifies the API by itself. Through the proxy the agent does it for it, with what is in the
 * agent's memory. Of other roles the agent knows nothing of that process. undefined: there is no kubelet beside.
 */
export function kubeletOfTrust(
  options: BesideKubeletOptions | undefined,
  ports: AgentPorts,
  parts: { trust(): AgentTrust; onReport(): void },
): KubeletOfTrust | undefined {
  if (!options) return undefined
  const { spawn } = ports
  if (options.mode === 'proxy' || !spawn) {
    const isProxy = options.mode === 'proxy'
    return {
      beside: {
        report: role => (isProxy && role === 'apiserver-serving' ? parts.trust().own(role) : undefined),
        restart() {},
      },
      wrote() {},
      look() {},
      stop: async () => {},
    }
  }
  const { directory, unit } = options
  const kubelet = new KubeletTrust({
    ...ports,
    unit: new KubeletUnit({ ...ports, spawn, unit }),
    directory,
    onChange: parts.onReport,
  })
  return {
    beside: {
      report: role => {
        const seen = role === 'apiserver-serving' ? kubelet.report : undefined
        return seen && { ...seen, evidence: 'newer-process', seenAt: ports.clock.now() }
      },
      restart: notBefore => kubelet.restart(notBefore),
    },
    wrote(trust, pem) {
      const bundle = trust.bundleOf('apiserver-serving', pem)
      if (bundle) kubelet.wrote(bundle)
    },
    look: () => kubelet.look(),
    stop: () => kubelet.stop(),
  }
}

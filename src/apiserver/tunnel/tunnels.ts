/** Requests that lead to a kubelet: pods/log, pods/exec, pods/attach, pods/portforward and nodes/proxy; and those that lead nowhere. */
import type { ApiResponse } from '../../kube/transport.ts'
import { wantedUpgrade } from '../../kube/upgrade/upgrade-headers.ts'
import type { Clock } from '../../ports.ts'
import type { ObjectReader } from '../reader.ts'
import type { ResourcePath } from '../request-info.ts'
import { type Asker, createAsk } from './ask.ts'
import type { KubeletTrust } from './dial-kubelet.ts'
import { nodeProxy, proxiedNode, proxiedPath, requireKubeletPort } from './node-proxy.ts'
import { execLocation, kubeletOf, logLocation, portForwardLocation } from './pod-location.ts'
import { podLogs } from './pod-logs.ts'
import { podProxyRefusal, serviceProxyRefusal } from './pod-proxy.ts'
import type { TunnelMetrics } from './tunnel-metrics.ts'
import { upgradeTunnel } from './upgrade-tunnel.ts'

export interface TunnelOptions extends KubeletTrust {
  clock: Clock
  reader: ObjectReader
  /** --kubelet-preferred-address-types. */
  addressTypes: readonly string[]
  metrics?: TunnelMetrics
}

/** One authorized request for a connected subresource. */
export interface TunnelCall extends Asker {
  path: ResourcePath
  query: URLSearchParams
}

export interface Tunnels {
  /** Throws ApiError. An answer with `takeOver` is an upgrade that the kubelet has agreed to. */
  answer(call: TunnelCall): Promise<ApiResponse>
}

export function createTunnels(options: TunnelOptions): Tunnels {
  const { reader, addressTypes, clock, metrics } = options
  const parts = { ask: createAsk(options, clock), clock, metrics }

  async function proxy(call: TunnelCall): Promise<ApiResponse> {
    const { request, path } = call
    if (path.plural === 'pods') throw podProxyRefusal(reader, call)
    if (path.plural === 'services') throw serviceProxyRefusal(reader, call)
    const node = proxiedNode(path.name)
    const address = kubeletOf(reader, node.name, addressTypes)
    requireKubeletPort(node, address)
    const location = { address, path: proxiedPath(request.url) }
    const upgrades = request.upgradable && wantedUpgrade(request.headers)
    return upgrades ? upgradeTunnel(call, location, parts) : nodeProxy(call, location, parts)
  }

  return {
    async answer(call) {
      const { path, query } = call
      const { namespace, name, subresource } = path
      const target = { namespace, name, query }
      switch (subresource) {
        case 'log':
          return podLogs(call, logLocation(reader, target, addressTypes), parts)
        case 'exec':
        case 'attach':
          return upgradeTunnel(call, execLocation(reader, subresource, target, addressTypes), parts)
        case 'portforward':
          return upgradeTunnel(call, portForwardLocation(reader, target, addressTypes), parts)
        default:
          return proxy(call)
      }
    },
  }
}

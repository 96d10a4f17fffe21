import type { Goal } from './goal.ts'
import { readKubeconfig } from './kubeconfig-text.ts'
import type { Layout } from './layout.ts'
import { leafOf } from './local-pairs.ts'

/** When the first certificate ends that is of the agent's making by this goal; undefined: there is none. */
export async function earliestEnd(
  goal: Goal,
  layout: Layout,
  read: (path: string) => Promise<string | undefined>,
): Promise<number | undefined> {
  const { client, 'apiserver-serving': serving } = goal
  const files = [
    ...(client?.own === undefined ? [] : [layout.kubeletClient.certificate]),
    ...(serving?.present ? [layout.serving.certificate] : []),
    ...(serving?.probes ?? []).map((_, slot) => layout.probe(slot).certificate),
  ]
  const certificates = await Promise.all(files.map(read))
  if (client?.own !== undefined)
    for (const path of layout.kubeconfigs) {
      const text = await read(path)
      if (text !== undefined) certificates.push(readKubeconfig(text, path).certificate)
    }
  const ends = certificates.flatMap(pem => leafOf(pem)?.notAfter ?? [])
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/** The credential plugins that kubeconfigs of a node name, run as a kubelet runs them. What they answer is not kept. */
import { RollcallError } from '../../errors.ts'
import { createExecCredential, type ExecSourceOptions } from '../../join/exec-source.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { ExecPlugin } from '../artifacts/node-artifacts.ts'
import type { ReadKubeconfig } from './kubeconfig-file.ts'

export async function runExecPlugins(
  files: readonly ReadKubeconfig[],
  options: ExecSourceOptions | undefined,
): Promise<Gathered<ExecPlugin[]>> {
  const named = files.flatMap(({ facts: { path }, exec }) => (exec ? [{ path, ...exec }] : []))
  if (named.length === 0) return { status: 'absent', reason: 'no kubeconfig here names a plugin' }
  if (!options) return { status: 'notAsked', reason: 'nothing is run here' }
  const run = createExecCredential(options)
  const value: ExecPlugin[] = []
  for (const { path, config, cluster } of named) {
    const { command } = config
    try {
      await run(config, cluster)
      value.push({ path, command })
    } catch (error) {
      if (!(error instanceof RollcallError)) throw error
      value.push({ path, command, failure: error.message })
    }
  }
  return { status: 'ok', value }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Kubernetes' own programs, as envtest keeps them: plain binaries in one folder. */
export type Program = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubelet'

const folder = process.env.ROLLCALL_TEST_ASSETS ?? ''

export const programPath = (program: Program): string => join(folder, program)

/** Why a test of these programs is not run, for `skip`; false: they are there. */
export function noAssets(...programs: Program[]): string | false {
  if (folder === '') return 'not run: no assets'
  const missing = programs.filter(program => !existsSync(programPath(program)))
  return missing.length > 0 && `not run: no assets (${missing.join(', ')} in ${folder})`
}

export const controlPlane = ['etcd', 'kube-apiserver'] as const
